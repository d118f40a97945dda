import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, post } from '../../support/api.ts'
import { listEntries } from '../../support/audit.ts'
import { listCaptured, runUntil } from '../../support/campaigns.ts'
import { give, pageOf } from '../../support/consent-pages.ts'
import { expectWhole, listRecords } from '../../support/consents.ts'
import { ask, deliver, readLink, readStatus, requestConfirmation } from '../../support/double-opt-in.ts'
import { dump } from '../../support/dump.ts'
import { givenReadyImport, start, work } from '../../support/imported-files.ts'
import { finishErasures } from '../../support/personal-data.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedScene } from '../../support/seeding/customers.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { importUsers } from '../../support/seeding/imported-users.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { marketingTo, seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { givenForm } from '../../support/seeding/messaging/signup-forms.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { db, next, write } from '../../support/seeding/rows.ts'
import { anOrder, givenOrders, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { confirm, requestLink } from '../../support/signups.ts'
import { listPaths, visit } from '../../support/visits.ts'

const merge = (id: string, user_id: string, body: object = {}, token?: string) =>
  post(`/v1/user/${id}/merge`, { user_id, ...body }, token)

const findByEmail = async ({ organization_id }: Shop, email: string): Promise<string> => {
  const row = await db.first(
    sql<{ id: string }>`select id from users where organization_id = ${organization_id} and email = ${email}`,
  )
  return row?.id ?? ''
}

interface Pair {
  shop: Shop
  own: string
  other: string
  ownEmail: string
  otherEmail: string
  orders: string[]
}

/** Imports an order of each of two customers of an edition. */
async function givenPair(shop?: Shop, customer: { own?: object; other?: object } = {}): Promise<Pair> {
  const place = shop ?? (await seedShop())
  const [ownEmail, otherEmail] = [`own-${next()}@example.dk`, `other-${next()}@example.dk`]
  const orders = await givenOrders(place, [
    anOrder({ customer: { email: ownEmail, first_name: 'Anna', last_name: 'Holm', ...customer.own } }),
    anOrder({ customer: { email: otherEmail, first_name: 'A.', last_name: 'Holm', ...customer.other } }),
  ])
  const [own, other] = [await findByEmail(place, ownEmail), await findByEmail(place, otherEmail)]
  return { shop: place, own, other, ownEmail, otherEmail, orders }
}

/** Starts an import of an order of the customer with this address. */
async function givenRunningImport(shop: Shop, email: string): Promise<string> {
  const rows = ['E-mail;Product;Unit price', `${email};Day ticket;225,00`]
  const id = await givenReadyImport(shop, rows.join('\r\n'), { group_by: 'email' })
  await start(id)
  return id
}

const suppressAddress = ({ organization_id }: Shop, address: string) =>
  write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
    values (${organization_id}, 'email', ${address}, 'unsubscribed', ${Date.now()})`)

const countOrders = async (userId: string) => (await db.all(sql`select 1 from orders where user_id = ${userId}`)).length

describe('mergeUsers', () => {
  it('moves orders, purchases and values, and answers 404 for the other id', async () => {
    const pair = await givenPair(undefined, { other: { phone_number: '+4520304050', metadata: { size: 'L' } } })
    const { own, other, ownEmail, otherEmail, shop } = pair
    const reply = await merge(own, other)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.body).toMatchObject({
      merged_user_id: other,
      dry_run: false,
      user: { id: own, email: ownEmail, phone_number: '+4520304050', first_name: 'Anna', metadata: { size: 'L' } },
      moved: { orders: 1, purchases: 2, refunds: 0, wallet_passes: 0, consent_records: 0, emails: 0, editions: 1 },
      earlier_addresses: [{ channel: 'email', address: otherEmail }],
      collisions: [
        { type: 'field', name: 'email', kept: ownEmail, dropped: otherEmail },
        { type: 'field', name: 'first_name', kept: 'Anna', dropped: 'A.' },
        { type: 'edition', name: shop.edition_id, kept: null, dropped: null },
      ],
    })
    expect((await get(`/v1/user/${own}`)).body).toEqual(reply.body.user)
    expect(await countOrders(own)).toBe(pair.orders.length)
    for (const path of ['', '/consents', '/export']) {
      const missing = await get(`/v1/user/${other}${path}`)
      expect(describeRefusal(missing)).toBe('404 not_found')
      expect(missing.body.merged_into).toBe(own)
    }
    expect(
      await db.all(sql`select user_seq from edition_customers where edition_id = ${shop.edition_id}`),
    ).toHaveLength(1)
  })

  it('changes nothing in a dry run, which answers what the merge then does', async () => {
    const { own, other } = await givenPair(undefined, { other: { metadata: { size: 'L' } } })
    const before = await dump()
    const plan = await merge(own, other, { dry_run: true })
    expect(plan.status, plan.text).toBe(200)
    expect(await dump()).toEqual(before)
    expect((await merge(own, other)).body).toEqual({ ...plan.body, dry_run: false })
  })

  it('shows where the other customer went only to those who saw them', async () => {
    const { shop, own, other } = await givenPair()
    const organization = { id: shop.organization_id }
    const second = await seedEdition(organization)
    await givenOrders({ ...shop, edition_id: second.id }, [
      anOrder({ customer: { email: (await get(`/v1/user/${own}`)).body.email } }),
    ])
    const stranger = await givenMember(await givenOrganization(), 'admin')
    const sibling = await givenMember(organization, 'admin', second.id)
    const colleague = await givenMember(organization, 'viewer', shop.edition_id)
    await merge(own, other)
    const read = async (token: string) => {
      const { status, body } = await get(`/v1/user/${other}`, token)
      return [status, body.merged_into]
    }
    expect(await read(stranger.token)).toEqual([404, undefined])
    expect(await read(sibling.token)).toEqual([404, undefined])
    expect(await read(colleague.token)).toEqual([404, own])
    expect((await get(`/v1/user/${own}`, colleague.token)).status).toBe(200)
  })

  it.each([
    ['of another organisation', async () => (await givenPair()).own],
    ['itself', ({ own }: Pair) => own],
    ['that does not exist', () => 'usr_00000000000000000000000000'],
  ])('refuses a customer %s', async (_, choose: (pair: Pair) => string | Promise<string>) => {
    const pair = await givenPair()
    const reply = await merge(pair.own, await choose(pair))
    expect(describeRefusal(reply)).toMatch(/^400 validation_error: \w+ #\/user_id$/)
    expect(await countOrders(pair.own)).toBe(1)
  })

  it('refuses a customer who was merged into another', async () => {
    const { shop, own, other } = await givenPair()
    const { own: third } = await givenPair(shop)
    await merge(own, other)
    expect(describeRefusal(await merge(third, other))).toMatch(/^400 validation_error: \w+ #\/user_id$/)
    expect(await countOrders(own)).toBe(2)
  })

  it('answers 404 with the customer to merge instead, under the id of one who was merged', async () => {
    const { shop, own, other } = await givenPair()
    const { own: third } = await givenPair(shop)
    await merge(own, other)
    const reply = await merge(other, third)
    expect([describeRefusal(reply), reply.body.merged_into]).toEqual(['404 not_found', own])
  })

  it('follows a chain of merges', async () => {
    const first = await givenPair()
    const { own: last } = await givenPair(first.shop)
    await merge(first.own, first.other)
    expect((await merge(last, first.own)).status).toBe(200)
    for (const id of [first.own, first.other]) expect((await get(`/v1/user/${id}`)).body.merged_into).toBe(last)
    expect(await countOrders(last)).toBe(3)
    const again = await importOrders(first.shop, [anOrder({ customer: { email: first.otherEmail } })])
    expect(again.body).toMatchObject({ created_orders: 1 })
    expect(await countOrders(last)).toBe(4)
  })

  it('merges one of two requests in opposite directions', async () => {
    const { shop, own, other } = await givenPair()
    const replies = await Promise.all([merge(own, other), merge(other, own)])
    expect(replies.map(({ status }) => status).toSorted()).toSatisfy(
      ([first, second]) => first === 200 && (second === 404 || second === 400),
    )
    const rows = await db.all(sql`select id from users where organization_id = ${shop.organization_id}`)
    expect(rows).toHaveLength(1)
  })

  it('leads orders with an earlier address or number to the customer', async () => {
    const shop = await seedShop()
    const pair = await givenPair(shop, { own: { phone_number: '+4520111111' }, other: { phone_number: '+4520222222' } })
    await merge(pair.own, pair.other)
    await importOrders(shop, [
      anOrder({ customer: { email: pair.otherEmail.toUpperCase() } }),
      anOrder({ customer: { phone_number: '+4520222222' } }),
    ])
    expect(await countOrders(pair.own)).toBe(4)
    expect(await db.all(sql`select id from users where organization_id = ${shop.organization_id}`)).toHaveLength(1)
    expect((await get(`/v1/user/${pair.own}`)).body.email).toBe(pair.ownEmail)
  })

  it('leads customers who are created with an earlier address to the customer', async () => {
    const { shop, own, other, otherEmail } = await givenPair()
    await merge(own, other)
    const reply = await post('/v1/user', { ...shop, email: otherEmail })
    expect([reply.status, reply.body.id]).toEqual([201, own])
    expect(await db.all(sql`select id from users where organization_id = ${shop.organization_id}`)).toHaveLength(1)
  })

  it('leads a sign-up with an earlier address to the customer', async () => {
    const { shop, own, other, otherEmail } = await givenPair()
    await merge(own, other)
    const { consent, path } = await givenForm({ organization: shop.organization_id, edition: shop.edition_id })
    const { link } = await requestLink(path, { email: otherEmail, consent: consent.id })
    expect((await confirm(link)).status).toBe(200)
    const answers = (await get(`/v1/user/${own}/consents`)).body.results
    expect(answers.find(({ id }: { id: string }) => id === consent.id).status).toBe('given')
    expect(await db.all(sql`select id from users where organization_id = ${shop.organization_id}`)).toHaveLength(1)
  })

  it('never gives the place of the other customer to a new one', async () => {
    const { shop, own, other } = await givenPair()
    const [{ seq } = { seq: 0 }] = await db.all(sql<{ seq: number }>`select seq from users where id = ${other}`)
    await merge(own, other)
    await givenOrders(shop, [anOrder()])
    const [newest] = await db.all(sql<{ seq: number }>`select max(seq) as seq from users`)
    expect(newest?.seq).toBeGreaterThan(seq)
  })

  it('writes an audit entry that names both customers, and announces the merge to each edition of the other', async () => {
    const { shop, own, other } = await givenPair()
    const entries = await listEntries(await merge(own, other))
    expect(entries).toMatchObject([{ action: 'mergeUsers', resource_id: own }])
    expect(JSON.parse(entries[0]?.changes ?? '[]')).toContainEqual({
      field: 'merged_user_id',
      before: null,
      after: other,
    })
    const events = await db.all(
      sql<{ edition_id: string | null; payload: string }>`select edition_id, payload from webhook_events
        where organization_id = ${shop.organization_id} and kind = 'user.merged' order by edition_id`,
    )
    expect(events.map(({ edition_id }) => edition_id)).toEqual([null, shop.edition_id])
    for (const { payload } of events)
      expect(JSON.parse(payload).data).toMatchObject({ user: { api_id: other }, merged_into: { api_id: own } })
  })

  it('is refused while one of the two is being imported, and works when the import has ended', async () => {
    const { shop, own, other, otherEmail } = await givenPair()
    const id = await givenRunningImport(shop, otherEmail)
    const refusal = await merge(own, other)
    expect(describeRefusal(refusal)).toBe('409 user_busy')
    expect(refusal.body).toMatchObject({ reason: 'import', user_id: other })
    expect((await work(id)).status).toBe('completed')
    expect((await merge(own, other)).status).toBe(200)
    expect(await countOrders(own)).toBe(3)
  })

  it('is not refused while others are being imported', async () => {
    const { shop, otherEmail } = await givenPair()
    await givenRunningImport(shop, otherEmail)
    const { own, other } = await givenPair(shop)
    expect((await merge(own, other)).status).toBe(200)
  })

  it('is refused while a campaign is being sent to one of the two', async () => {
    const crowd = await seedCrowd(2)
    const { campaign } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const [own, other] = crowd.people
    const refusal = await merge(own?.id ?? '', other?.id ?? '')
    expect(describeRefusal(refusal)).toBe('409 user_busy')
    expect((await get(`/v1/user/${other?.id}`)).status).toBe(200)
  })

  it('is refused when one of the two is being erased', async () => {
    const { own, other } = await givenPair()
    await post(`/v1/user/${other}/erase`, {})
    expect(describeRefusal(await merge(own, other))).toBe('409 user_erased')
    expect(describeRefusal(await merge(other, own))).toBe('409 user_erased')
    expect(await countOrders(own)).toBe(1)
  })
})

describe('consents of merged customers', () => {
  it('keep both chains, and the later answer counts', async () => {
    const { shop, own, other } = await givenPair()
    const consent = await givenConsent(shop.organization_id)
    await give({ id: own }, consent.id)
    await give({ id: other }, consent.id)
    await give({ id: other }, consent.id, {}, 'withdraw')
    const otherRecords = await listRecords(other, consent.id)
    const reply = await merge(own, other)
    expect(reply.body.moved.consent_records).toBe(2)
    expect(reply.body.collisions).toContainEqual({
      type: 'consent',
      name: consent.key,
      kept: 'withdrawn',
      dropped: 'given',
    })
    expect((await get(`/v1/user/${own}/consents`)).body.results[0].status).toBe('withdrawn')
    const { body } = await get(`/v1/user/${own}/consents/${consent.id}/proof`)
    expect(body).toMatchObject({ is_intact: true, record: { status: 'withdrawn' } })
    expect(body.merged_chains).toMatchObject([{ user_id: other, is_intact: true }])
    expect(body.merged_chains[0].chain.map(({ record_id }: { record_id: string }) => record_id)).toEqual(
      otherRecords.map(({ id }) => id).toReversed(),
    )
    expect(await listRecords(other, consent.id)).toEqual(otherRecords.map((record) => ({ ...record, is_latest: 0 })))
    const [stats] = await db.all(
      sql`select records, given, withdrawn from consent_stats where consent_id = ${consent.id}`,
    )
    expect(stats).toEqual({ records: 4, given: 0, withdrawn: 1 })
  })

  it('leaves the customer’s own later answer as it is', async () => {
    const { shop, own, other } = await givenPair()
    const consent = await givenConsent(shop.organization_id)
    await give({ id: other }, consent.id)
    await give({ id: other }, consent.id, {}, 'withdraw')
    await give({ id: own }, consent.id)
    const before = await listRecords(own, consent.id)
    await merge(own, other)
    expect(await listRecords(own, consent.id)).toEqual(before)
    await expectWhole(shop.organization_id)
  })
})

describe('addresses of merged customers', () => {
  it('stay suppressed, and an unsubscription holds at the new address too', async () => {
    const { shop, own, other, ownEmail, otherEmail } = await givenPair()
    await suppressAddress(shop, otherEmail)
    await merge(own, other)
    const rows = await db.all(sql`select address, reason from suppressions
      where organization_id = ${shop.organization_id} order by address`)
    expect(rows).toEqual(
      [
        { address: otherEmail, reason: 'unsubscribed' },
        { address: ownEmail, reason: 'unsubscribed' },
      ].toSorted((one, another) => (one.address < another.address ? -1 : 1)),
    )
  })

  it.each([
    ['imported', true],
    ['given by the person', false],
  ])('stay unsubscribed at the new address after a later consent that was %s: %s', async (_, isImported) => {
    const { shop, own, other, ownEmail, otherEmail } = await givenPair()
    const consent = await givenConsent(shop.organization_id, { type: 'marketing', channels: ['email'] })
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${shop.organization_id}, 'email', ${otherEmail}, 'unsubscribed', ${Date.now() - 60_000})`)
    if (isImported)
      await importUsers(shop, [
        { email: otherEmail, consents: { [consent.key]: { status: 'given', occurred_at: new Date().toISOString() } } },
      ])
    else await give({ id: other }, consent.id, { method: 'checkbox' })
    expect((await get(`/v1/user/${other}/consents`)).body.results[0].status).toBe('given')
    await merge(own, other)
    const rows = await db.all(sql`select reason from suppressions where address = ${ownEmail}`)
    expect(rows).toEqual(isImported ? [{ reason: 'unsubscribed' }] : [])
  })

  it('still work in links that were sent to them', async () => {
    const { shop, own, other, otherEmail } = await givenPair()
    const page = await pageOf({ organization: shop.organization_id }, { id: other, email: otherEmail })
    await merge(own, other)
    const shown = await visit(page)
    expect([shown.status, shown.text.includes(otherEmail)]).toEqual([200, true])
  })

  it('still confirm a consent by a message that was sent before the merge', async () => {
    const { scene, consent, path } = await requestConfirmation()
    await merge(scene.other.id, scene.person.id)
    expect((await visit(path, { method: 'POST' })).status).toBe(200)
    expect((await readStatus({ ...scene, person: scene.other }, consent.id)).status).toBe('given')
    await expectWhole(scene.organization)
  })

  it('still confirm a consent by a message that waited during the merge', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await give(scene.other, consent.id)
    await give(scene.other, consent.id, {}, 'withdraw')
    await ask(scene, consent.id)
    await merge(scene.other.id, scene.person.id)
    const [mail] = await deliver(scene)
    expect((await visit(readLink(mail ?? { text: '' }), { method: 'POST' })).status).toBe(200)
    expect((await readStatus({ ...scene, person: scene.other }, consent.id)).status).toBe('given')
    await expectWhole(scene.organization)
  })

  it('still unsubscribe by links of campaigns', async () => {
    const crowd = await seedCrowd(2)
    const { campaign } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const [own, other] = crowd.people
    expect((await merge(own?.id ?? '', other?.id ?? '')).status).toBe(200)
    const message = (await listCaptured(campaign.id)).find(({ recipient }) => recipient.includes(other?.email ?? '?'))
    const [path = ''] = listPaths(message, 'u')
    expect((await visit(path, { method: 'POST' })).status).toBe(200)
    const [row] = await db.all(sql`select reason from suppressions where address = ${other?.email}`)
    expect(row).toEqual({ reason: 'unsubscribed' })
    const statuses = (await get(`/v1/user/${own?.id}/consents`)).body.results.map(
      ({ status }: { status: string }) => status,
    )
    expect(statuses).toEqual(['withdrawn'])
  })

  it('are exported with the customer', async () => {
    const { own, other, otherEmail } = await givenPair()
    await merge(own, other)
    const { body } = await get(`/v1/user/${own}/export`)
    expect(body.earlier_addresses).toMatchObject([{ channel: 'email', address: otherEmail }])
    expect(body.merges).toMatchObject([{ user_id: other }])
  })

  it('are erased with the customer', async () => {
    const { own, other, otherEmail } = await givenPair()
    await merge(own, other)
    await post(`/v1/user/${own}/erase`, {})
    await finishErasures()
    expect(JSON.stringify(await dump())).not.toContain(otherEmail)
  })
})

describe('the undo of an import after a merge', () => {
  it('keeps the customer who is left, although no order and no entry of the audit log names them', async () => {
    const shop = await seedShop()
    const emails = { own: `own-${next()}@example.dk`, other: `other-${next()}@example.dk` }
    const first = await importOrders(shop, [anOrder({ customer: { email: emails.own } })])
    const second = await importOrders(shop, [anOrder({ customer: { email: emails.other } })])
    const [own, other] = [await findByEmail(shop, emails.own), await findByEmail(shop, emails.other)]
    await merge(own, other)
    await write(sql`delete from audit_log where organization_id = ${shop.organization_id}`)
    for (const { body } of [second, first]) {
      expect((await post(`/v1/data-imports/${body.id}/undo`, {})).status).toBe(200)
      await work(body.id)
      expect((await get(`/v1/data-imports/${body.id}`)).body.status).toBe('undone')
    }
    expect(await countOrders(own)).toBe(0)
    expect((await get(`/v1/user/${own}`)).status).toBe(200)
  })

  it.each(['own', 'other'] as const)(
    'takes back the orders of the %s customer and keeps the customer',
    async (which) => {
      const shop = await seedShop()
      const emails = { own: `own-${next()}@example.dk`, other: `other-${next()}@example.dk` }
      const first = await importOrders(shop, [anOrder({ customer: { email: emails.own } })])
      const second = await importOrders(shop, [anOrder({ customer: { email: emails.other } })])
      const [own, other] = [await findByEmail(shop, emails.own), await findByEmail(shop, emails.other)]
      await merge(own, other)
      const undone = which === 'own' ? first : second
      const reply = await post(`/v1/data-imports/${undone.body.id}/undo`, {})
      expect(reply.status, reply.text).toBe(200)
      await work(undone.body.id)
      expect(await countOrders(own)).toBe(1)
      expect((await get(`/v1/user/${own}`)).status).toBe(200)
    },
  )
})
