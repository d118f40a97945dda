import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { call, get, patch, post } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import {
  aUser,
  createUser,
  givenNewsletter,
  importUsers,
  listStoredAnswers,
  listStoredSuppressions,
} from '../support/seeding/imported-users.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { undoToEnd } from '../support/undone-imports.ts'

const at = (text: string): number => Date.parse(text)

async function seedSecondEdition(shop: Shop): Promise<Shop> {
  const edition = await seedEdition({ id: shop.organization_id })
  return { organization_id: shop.organization_id, edition_id: edition.id }
}

const givenManager = async (shop: Shop, editionId?: string) =>
  (await givenMember({ id: shop.organization_id }, 'manager', editionId)).token

const listActions = (reply: { body: { results: { action: string }[] } }) => reply.body.results.map((one) => one.action)

const listPeople = (shop: Shop) =>
  db.all(
    sql<{ email: string; first_name: string; in_editions: number; messages: number }>`select email, first_name,
      (select count(*) from edition_customers where user_seq = users.seq) as in_editions,
      (select count(*) from transactional_emails where user_id = users.id) as messages
      from users where organization_id = ${shop.organization_id} order by email`,
  )

describe('createUser', () => {
  it('adds a customer without an order to an edition, with language, metadata and consents', async () => {
    const shop = await seedShop()
    const token = await givenManager(shop, shop.edition_id)
    await givenNewsletter(shop, 'news')
    const reply = await createUser(
      shop,
      {
        email: 'Signe@Example.DK',
        phone_number: '32 12 34 56',
        first_name: 'Signe',
        last_name: 'Berg',
        locale: 'SE',
        metadata: { city: 'Aarhus' },
        consents: { news: { status: 'given', occurred_at: '2025-03-01T10:00:00Z', place: 'https://example.dk/join' } },
      },
      token,
    )
    expect(reply.status, reply.text).toBe(201)
    expect(reply.body).toMatchObject({
      email: 'signe@example.dk',
      phone_number: '+4532123456',
      first_name: 'Signe',
      locale: 'se',
      metadata: { city: 'Aarhus' },
    })
    expect(reply.headers.get('location')).toMatch(new RegExp(`/v1/user/${reply.body.id}$`))
    expect((await get(`/v1/user/${reply.body.id}`, token)).body).toEqual(reply.body)
    expect(await listPeople(shop)).toEqual([
      { email: 'signe@example.dk', first_name: 'Signe', in_editions: 1, messages: 0 },
    ])
    const [record] = await listStoredAnswers(shop.organization_id, 'signe@example.dk')
    expect(record).toMatchObject({ key: 'news', status: 'given', occurred_at: at('2025-03-01T10:00:00Z') })
    expect(JSON.parse(record?.evidence ?? '')).toEqual({ source: 'api', place: 'https://example.dk/join' })
  })

  it('completes the customer who has the address, and overwrites nothing', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [
      anOrder({ customer: { email: 'bo@example.dk', first_name: 'Bo', metadata: { city: 'Ribe' } } }),
    ])
    const { body } = await get(`/v1/user?edition_id=${shop.edition_id}`)
    const [user] = body.results
    expect((await patch(`/v1/user/${user.id}`, { first_name: 'Bodil' })).status).toBe(200)
    const token = await givenManager(shop, shop.edition_id)
    const change = { email: 'bo@example.dk', phone_number: '+4532123456', first_name: 'B.', last_name: 'Lund' }
    const reply = await createUser(shop, { ...change, metadata: { city: 'Vejle', size: 'L' } }, token)
    expect(reply.status).toBe(201)
    const expected = {
      id: user.id,
      first_name: 'Bodil',
      last_name: 'Lund',
      phone_number: '+4532123456',
      metadata: { city: 'Ribe', size: 'L' },
    }
    expect(reply.body).toMatchObject(expected)
    expect((await get(`/v1/user/${user.id}`)).body).toMatchObject(expected)
    expect((await get(`/v1/user/${user.id}`, token)).body).toEqual(reply.body)
  })

  it('answers the same whether or not another edition knows the address', async () => {
    const shop = await seedShop()
    const other = await seedSecondEdition(shop)
    await createUser(other, { email: 'known@example.dk', phone_number: '+4532123456', locale: 'pl', first_name: 'Ida' })
    const token = await givenManager(shop, shop.edition_id)
    const shape = (reply: Awaited<ReturnType<typeof createUser>>) => {
      const { id: _, email: __, date_joined: ___, ...rest } = reply.body
      return [reply.status, rest]
    }
    const fresh = await createUser(shop, { email: 'fresh@example.dk', first_name: 'Bo' }, token)
    const known = await createUser(shop, { email: 'known@example.dk', first_name: 'Bo' }, token)
    expect(shape(known)).toEqual(shape(fresh))
    expect(known.body.date_joined >= fresh.body.date_joined).toBe(true)
    expect((await get(`/v1/user/${known.body.id}`, token)).body).toEqual(known.body)
    const [stored] = await db.all(
      sql<{ first_name: string; locale: string }>`select first_name, locale from users where email = 'known@example.dk'
        and organization_id = ${shop.organization_id}`,
    )
    expect(stored).toEqual({ first_name: 'Ida', locale: 'pl' })
  })

  it('adds a customer without an edition, whom no edition sees, for roles of the organisation', async () => {
    const shop = await seedShop()
    const body = { organization_id: shop.organization_id, email: 'board@example.dk', first_name: 'Ane' }
    const reply = await post('/v1/user', body, await givenManager(shop))
    expect([reply.status, reply.body.locale]).toEqual([201, 'en'])
    const editionToken = await givenManager(shop, shop.edition_id)
    expect((await get(`/v1/user/${reply.body.id}`, editionToken)).status).toBe(404)
    expect(await listPeople(shop)).toMatchObject([{ email: 'board@example.dk', in_editions: 0 }])
  })

  it('adds no customer without an edition for a role of an edition', async () => {
    const shop = await seedShop()
    const body = { organization_id: shop.organization_id, email: 'board@example.dk' }
    const reply = await post('/v1/user', body, await givenManager(shop, shop.edition_id))
    expect(reply.status).toBe(403)
    expect(await listPeople(shop)).toEqual([])
  })

  it('lets an edition add a customer of the organisation to itself, and not change them', async () => {
    const shop = await seedShop()
    const token = await givenManager(shop)
    const editionToken = await givenManager(shop, shop.edition_id)
    const body = { organization_id: shop.organization_id, email: 'board@example.dk', first_name: 'Ane' }
    const { id } = (await post('/v1/user', body, token)).body
    const joined = await createUser(shop, { email: 'board@example.dk', first_name: 'X', last_name: 'Y' }, editionToken)
    expect(joined.body).toMatchObject({ id, first_name: 'X', last_name: 'Y' })
    expect(describeRefusal(await patch(`/v1/user/${id}`, { last_name: 'Z' }, editionToken))).toBe('403 shared_customer')
    expect((await get(`/v1/user/${id}`, token)).body).toMatchObject({ first_name: 'Ane', last_name: '' })
    const changed = await patch(`/v1/user/${id}`, { last_name: 'Lund' }, token)
    expect([changed.status, changed.body.last_name]).toEqual([200, 'Lund'])
  })

  it('refuses answers of an edition to consents of the organisation, and to unknown ones', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'all', false)
    const consents = { all: { status: 'given' }, none: { status: 'given' } }
    const reply = await createUser(shop, { consents }, await givenManager(shop, shop.edition_id))
    expect(describeRefusal(reply)).toBe(
      '400 validation_error: organization_role_required #/consents/all, does_not_exist #/consents/none',
    )
    expect(await listPeople(shop)).toEqual([])
  })

  it('refuses answers of the future', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'all', false)
    const reply = await createUser(shop, {
      consents: { all: { status: 'given', occurred_at: '2999-01-01T00:00:00Z' } },
    })
    expect(describeRefusal(reply)).toMatch(/^400 validation_error: in_future #\/consents\/all/)
    expect(await listPeople(shop)).toEqual([])
  })

  it('repeats its answer for an Idempotency-Key, and has one audit entry', async () => {
    const shop = await seedShop()
    const init = {
      method: 'POST',
      body: { ...shop, ...aUser({ email: 'once@example.dk' }) },
      headers: { 'idempotency-key': crypto.randomUUID() },
    }
    const first = await call('/v1/user', init)
    const again = await call('/v1/user', init)
    expect([again.status, again.body]).toEqual([201, first.body])
    const entries = await db.all(
      sql<{ action: string }>`select action from audit_log where resource_id = ${first.body.id}`,
    )
    expect(entries).toEqual([{ action: 'createUser' }])
  })

  it('finds no organisation of another tenant', async () => {
    const shop = await seedShop()
    const token = await givenManager(await seedShop())
    expect(describeRefusal(await createUser(shop, {}, token))).toMatch(/^400 .*organization_id/)
    expect(await listPeople(shop)).toEqual([])
  })

  it('finds no edition of another organisation', async () => {
    const shop = await seedShop()
    const { edition_id } = await seedShop()
    expect(describeRefusal(await createUser({ ...shop, edition_id }))).toMatch(/^400 .*edition_id/)
    expect(await listPeople(shop)).toEqual([])
  })
})

describe('importUsers', () => {
  describe('of people of every status', () => {
    let shop: Shop
    let reply: Awaited<ReturnType<typeof importUsers>>
    beforeAll(async () => {
      shop = await seedShop()
      await givenNewsletter(shop, 'news', false)
      const given = { news: { status: 'given', occurred_at: '2024-01-01T10:00:00Z' } }
      reply = await importUsers(
        shop,
        [
          aUser({ email: 'a@example.dk', status: 'subscribed', consents: given }),
          aUser({ email: 'b@example.dk', status: 'unsubscribed', status_at: '2024-06-01T10:00:00Z', consents: given }),
          aUser({ email: 'c@example.dk', status: 'cleaned', status_at: '2024-07-01T10:00:00Z', consents: given }),
          aUser({ email: 'd@example.dk', status: 'unsubscribed', consents: { news: { status: 'given' } } }),
          aUser({ email: 'e@example.dk', status: 'unconfirmed', consents: given }),
          { email: 'nobody' },
        ],
        {},
        await givenManager(shop),
      )
    })

    it('answers with the outcome of each, and mails nobody', async () => {
      expect(reply.status, reply.text).toBe(201)
      expect(listActions(reply)).toEqual(['created', 'created', 'created', 'created', 'created', 'error'])
      expect(reply.body).toMatchObject({ status: 'completed_with_errors', created_users: 5, failed_users: 1 })
      expect((await listPeople(shop)).map(({ messages }) => messages)).toEqual([0, 0, 0, 0, 0])
    })

    it.each([
      ['a subscribed person', 'a@example.dk', [['given', '2024-01-01']]],
      [
        'an unsubscribed person',
        'b@example.dk',
        [
          ['given', '2024-01-01'],
          ['withdrawn', '2024-06-01'],
        ],
      ],
      ['a cleaned person', 'c@example.dk', [['given', '2024-01-01']]],
      ['a person who unsubscribed at an unknown time', 'd@example.dk', [['skipped', expect.any(String)]]],
      ['an unconfirmed person', 'e@example.dk', []],
    ])('records the answers of %s with their times', async (_, email, expected) => {
      const answers = await listStoredAnswers(shop.organization_id, email)
      expect(
        answers.map(({ status, occurred_at }) => [status, new Date(occurred_at).toISOString().slice(0, 10)]),
      ).toEqual(expected)
    })

    it('suppresses the addresses of those who may not be written to', async () => {
      expect(await listStoredSuppressions(shop.organization_id)).toMatchObject([
        { address: 'b@example.dk', reason: 'unsubscribed', created_at: at('2024-06-01T10:00:00Z') },
        { address: 'c@example.dk', reason: 'hard_bounce', created_at: at('2024-07-01T10:00:00Z') },
        { address: 'd@example.dk', reason: 'unsubscribed' },
      ])
    })

    it('is an import that can be undone, and lists its people', async () => {
      expect((await get(`/v1/data-imports/${reply.body.id}`)).body).toMatchObject({
        kind: 'customers',
        source: 'api',
        status: 'completed_with_errors',
        created_orders: 5,
        failed_orders: 1,
        allowed_actions: ['undo'],
      })
      const rows = await get(`/v1/data-imports/${reply.body.id}/rows`)
      expect(rows.body.results.map((row: { user_id: string }) => row.user_id)).toEqual(
        reply.body.results.slice(0, 5).map((one: { user_id: string }) => one.user_id),
      )
    })
  })

  it.each([
    ['given', 'withdrawn'],
    ['withdrawn', 'given'],
  ])('ends a consent that was %s and %s at the same time, and changes nothing the next time', async (...statuses) => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const occurred_at = '2024-06-01T10:00:00Z'
    const email = 'same@example.dk'
    const complaint = { status: 'complained', status_at: '2024-01-01T10:00:00Z' }
    const rows = statuses.map((status) => ({
      email,
      consents: { news: { status, occurred_at } },
      ...(status === 'given' ? complaint : {}),
    }))
    expect((await importUsers(shop, rows)).status).toBe(201)
    const answers = await listStoredAnswers(shop.organization_id, email)
    expect(answers.map(({ status }) => status)).toEqual(['skipped', 'given', 'withdrawn'])
    expect(listActions(await importUsers(shop, rows))).toEqual(['skipped', 'skipped'])
    expect(await listStoredAnswers(shop.organization_id, email)).toEqual(answers)
  })

  it('answers nothing of what another edition knows of an address', async () => {
    const shop = await seedShop()
    await createUser(await seedSecondEdition(shop), { email: 'known@example.dk', first_name: 'Ida' })
    const token = await givenManager(shop, shop.edition_id)
    const reply = await importUsers(shop, [{ email: 'known@example.dk' }, aUser()], { dry_run: true }, token)
    expect(listActions(reply)).toEqual(['created', 'created'])
  })

  it('withdraws the consents of its edition alone for a role of the edition, and refuses what concerns others', async () => {
    const shop = await seedShop()
    const other = await seedSecondEdition(shop)
    for (const [place, key, isOfEdition] of [
      [shop, 'news', true],
      [shop, 'offers', true],
      [other, 'other', true],
      [shop, 'all', false],
    ] as const)
      await givenNewsletter(place, key, isOfEdition)
    const consents = (key: string) => ({ [key]: { status: 'given', occurred_at: '2024-01-01T00:00:00Z' } })
    const email = 'kim@example.dk'
    await importUsers(shop, [aUser({ email, consents: { ...consents('news'), ...consents('all') } })])
    await importUsers(other, [aUser({ email, consents: consents('other') })])
    const token = await givenManager(shop, shop.edition_id)
    const reply = await importUsers(
      shop,
      [
        { email, status: 'unsubscribed', status_at: '2024-02-01T00:00:00Z' },
        aUser({ status: 'cleaned' }),
        aUser({ status: 'complained' }),
        aUser({ consents: consents('all') }),
      ],
      {},
      token,
    )
    expect(listActions(reply)).toEqual(['updated', 'error', 'error', 'error'])
    expect(reply.body.results.slice(1)).toMatchObject([
      { errors: [{ code: 'organization_role_required', pointer: '#/users/1/status' }] },
      { errors: [{ code: 'organization_role_required', pointer: '#/users/2/status' }] },
      { errors: [{ code: 'organization_role_required', pointer: '#/users/3/consents/all' }] },
    ])
    expect((await listStoredAnswers(shop.organization_id, email)).map(({ key, status }) => `${key} ${status}`)).toEqual(
      ['all given', 'news given', 'news withdrawn', 'other given'],
    )
    expect(await listStoredSuppressions(shop.organization_id)).toEqual([])
    expect(await listPeople(shop)).toHaveLength(1)
  })

  it('changes nothing when customers come again, and keeps what they answered later', async () => {
    const shop = await seedShop()
    const consent = await givenNewsletter(shop, 'news')
    const rows = [
      aUser({
        email: 'a@example.dk',
        status: 'subscribed',
        consents: { news: { status: 'given', occurred_at: '2024-01-01T00:00:00Z' } },
      }),
      aUser({ email: 'b@example.dk', status: 'unsubscribed', status_at: '2024-01-01T00:00:00Z' }),
      aUser({ email: 'a@example.dk' }),
    ]
    const first = await importUsers(shop, rows)
    expect(listActions(first)).toEqual(['created', 'created', 'skipped'])
    expect(first.body.results[2].warnings).toMatchObject([{ code: 'repeated_customer' }])
    const [a, b] = first.body.results.map((one: { user_id: string }) => one.user_id)
    const answer = { language: 'en', method: 'checkbox', source: 'page' }
    expect((await post(`/v1/user/${a}/consents/${consent.id}/withdraw`, { ...answer, method: 'admin' })).status).toBe(
      200,
    )
    expect((await post(`/v1/user/${b}/consents/${consent.id}/give`, answer)).status).toBe(200)
    const [suppression] = (await get(`/v1/suppressions?organization_id=${shop.organization_id}`)).body.results
    expect((await post(`/v1/suppressions/${suppression.id}/lift`, { lift_reason: 'Asked for' })).status).toBe(200)
    expect(listActions(await importUsers(shop, rows))).toEqual(['skipped', 'skipped', 'skipped'])
    expect((await listStoredAnswers(shop.organization_id, 'a@example.dk')).map(({ status }) => status)).toEqual([
      'given',
      'withdrawn',
    ])
    expect(await listStoredSuppressions(shop.organization_id)).toEqual([])
  })

  it('is undone without lifting a withdrawal or a suppression', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news', false)
    await givenOrders(shop, [anOrder({ customer: { email: 'old@example.dk', first_name: 'Bo' } })])
    const given = { news: { status: 'given', occurred_at: '2024-01-01T00:00:00Z' } }
    const reply = await importUsers(shop, [
      { email: 'old@example.dk', last_name: 'Lund', metadata: { a: 1 }, consents: given },
      aUser({ email: 'new@example.dk', consents: given }),
      aUser({ email: 'gone@example.dk', status: 'unsubscribed', status_at: '2024-02-01T00:00:00Z', consents: given }),
      aUser({ email: 'dead@example.dk', status: 'cleaned' }),
      aUser({ email: 'buyer@example.dk' }),
    ])
    expect(listActions(reply)).toEqual(['updated', 'created', 'created', 'created', 'created'])
    await givenOrders(shop, [anOrder({ customer: { email: 'buyer@example.dk' } })])
    expect(await undoToEnd(reply.body.id)).toMatchObject({ status: 'undone', undone_orders: 3, kept_orders: 2 })
    expect((await listPeople(shop)).map(({ email }) => email)).toEqual([
      'buyer@example.dk',
      'gone@example.dk',
      'old@example.dk',
    ])
    const [old] = await db.all(
      sql<{ last_name: string; metadata: string }>`select last_name, metadata from users
        where email = 'old@example.dk' and organization_id = ${shop.organization_id}`,
    )
    expect(old).toEqual({ last_name: '', metadata: '{}' })
    expect(await listStoredAnswers(shop.organization_id, 'old@example.dk')).toEqual([])
    expect((await listStoredAnswers(shop.organization_id, 'gone@example.dk')).map(({ status }) => status)).toEqual([
      'given',
      'withdrawn',
    ])
    expect((await listStoredSuppressions(shop.organization_id)).map(({ address }) => address)).toEqual([
      'dead@example.dk',
      'gone@example.dk',
    ])
  })

  it('answers 422 when every customer is refused', async () => {
    const shop = await seedShop()
    const refusal = await importUsers(shop, [{ email: 'x' }, { first_name: 'Bo' }])
    expect(describeRefusal(refusal)).toMatch(/^422 users_refused: \w+ #\/users\/0\/email, \w+ #\/users\/1$/)
    expect(await listPeople(shop)).toEqual([])
  })

  it('writes nothing in a dry run', async () => {
    const shop = await seedShop()
    const { body } = await importUsers(shop, [aUser()], { dry_run: true })
    expect(body).toMatchObject({ id: null, created_users: 1, results: [{ action: 'created', user_id: null }] })
    expect(await listPeople(shop)).toEqual([])
  })

  it('repeats its answer for an Idempotency-Key', async () => {
    const shop = await seedShop()
    const init = {
      method: 'POST',
      body: { ...shop, source: 'x', users: [aUser()] },
      headers: { 'idempotency-key': crypto.randomUUID() },
    }
    const first = await call('/v1/data-imports/users', init)
    const again = await call('/v1/data-imports/users', init)
    expect([again.status, again.body]).toEqual([201, first.body])
    expect((await get(`/v1/data-imports?edition_id=${shop.edition_id}`)).body.count).toBe(1)
  })
})
