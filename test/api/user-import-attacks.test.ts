import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { finishErasures } from '../support/personal-data.ts'
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
import { importOrders, anOrder, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { undoToEnd } from '../support/undone-imports.ts'

const givenToken = async (shop: Shop, editionId: string) =>
  (await givenMember({ id: shop.organization_id }, 'admin', editionId)).token

const findStored = (shop: Shop, email: string) =>
  db.all(
    sql<{ id: string; first_name: string; phone_number: string | null; metadata: string; editions: number }>`select id,
      first_name, phone_number, metadata,
      (select count(*) from edition_customers where user_seq = users.seq) as editions
      from users where organization_id = ${shop.organization_id} and email = ${email}`,
  )

describe('importing customers', () => {
  it('makes one customer of two calls at the same time', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const user = aUser({ email: 'both@example.dk', consents: { news: { status: 'given' } } })
    const replies = await Promise.all([
      importUsers(shop, [user]),
      importUsers(shop, [user]),
      createUser(shop, { email: 'both@example.dk' }),
      importOrders(shop, [anOrder({ customer: { email: 'both@example.dk' } })]),
    ])
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(await findStored(shop, 'both@example.dk')).toMatchObject([{ editions: 1 }])
    expect(await listStoredAnswers(shop.organization_id, 'both@example.dk')).toHaveLength(1)
  })

  it('lets an edition change nothing of a customer of the organisation or of other editions', async () => {
    const shop = await seedShop()
    const edition = await seedEdition({ id: shop.organization_id })
    const other = { organization_id: shop.organization_id, edition_id: edition.id }
    await createUser(other, { email: 'shared@example.dk', first_name: 'Ida', last_name: '', metadata: { a: 1 } })
    await post('/v1/user', { organization_id: shop.organization_id, email: 'own@example.dk', first_name: 'Ane' })
    const token = await givenToken(shop, shop.edition_id)
    const change = { first_name: 'X', last_name: 'Y', phone_number: '+4532123456', metadata: { b: 2 } }
    const rows = ['shared@example.dk', 'own@example.dk'].map((email) => ({ email, ...change }))
    const reply = await importUsers(shop, rows, {}, token)
    expect(reply.body.results.map((one: { action: string }) => one.action)).toEqual(['created', 'created'])
    expect(await findStored(shop, 'shared@example.dk')).toMatchObject([
      { first_name: 'Ida', phone_number: null, metadata: '{"a":1}', editions: 2 },
    ])
    expect(await findStored(shop, 'own@example.dk')).toMatchObject([
      { first_name: 'Ane', phone_number: null, metadata: '{}', editions: 1 },
    ])
    for (const { user_id } of reply.body.results)
      expect((await patch(`/v1/user/${user_id}`, { last_name: 'Z' }, token)).status).toBe(403)
    // The order of an edition changes no more than its import of customers does.
    await importOrders(shop, [anOrder({ customer: { email: 'own@example.dk', last_name: 'Q' } })], {}, token)
    expect(await findStored(shop, 'own@example.dk')).toMatchObject([{ first_name: 'Ane', phone_number: null }])
    expect(await undoToEnd(reply.body.id, token)).toMatchObject({ undone_orders: 1, kept_orders: 1 })
    expect(await findStored(shop, 'shared@example.dk')).toMatchObject([{ first_name: 'Ida', editions: 1 }])
  })

  it('lets an edition change nothing of its customer whom the organisation has added, too', async () => {
    const shop = await seedShop()
    const token = await givenToken(shop, shop.edition_id)
    const { body } = await createUser(shop, { email: 'own@example.dk', first_name: 'Ida' }, token)
    expect((await patch(`/v1/user/${body.id}`, { first_name: 'Ane' }, token)).status).toBe(200)
    const added = await post('/v1/user', { organization_id: shop.organization_id, email: 'own@example.dk' })
    expect([added.status, added.body.id]).toEqual([201, body.id])
    expect((await patch(`/v1/user/${body.id}`, { email: 'mine@example.dk' }, token)).status).toBe(403)
    await importUsers(shop, [{ email: 'own@example.dk', phone_number: '+4532123456' }], {}, token)
    expect(await findStored(shop, 'own@example.dk')).toMatchObject([{ first_name: 'Ane', phone_number: null }])
  })

  it('gives no consent again that the person withdrew, unless the import says when', async () => {
    const shop = await seedShop()
    const consent = await givenNewsletter(shop, 'news')
    const user = aUser({ consents: { news: { status: 'given' } } })
    const list = async () => (await listStoredAnswers(shop.organization_id, user.email)).map(({ status }) => status)
    const [{ user_id }] = (await importUsers(shop, [user])).body.results
    const answer = { language: 'en', method: 'preference_center', source: 'page' }
    expect((await post(`/v1/user/${user_id}/consents/${consent.id}/withdraw`, answer)).status).toBe(200)
    const again = await importUsers(shop, [{ ...user, status: 'subscribed' }])
    expect(again.body.results).toMatchObject([
      { action: 'skipped', warnings: [{ attr: 'users.0.consents.news', code: 'consent_withdrawn' }] },
    ])
    const created = await createUser(shop, user)
    expect(describeRefusal(created)).toBe('400 validation_error: consent_withdrawn #/consents/news')
    expect(await list()).toEqual(['given', 'withdrawn'])
    const occurred_at = new Date().toISOString()
    const dated = await importUsers(shop, [{ ...user, consents: { news: { status: 'given', occurred_at } } }])
    expect(dated.body.results).toMatchObject([{ action: 'updated', warnings: [] }])
    expect(await list()).toEqual(['given', 'withdrawn', 'given'])
  })

  it('lets an edition withdraw nothing of another edition, and lift no suppression', async () => {
    const shop = await seedShop()
    const edition = await seedEdition({ id: shop.organization_id })
    const other = { organization_id: shop.organization_id, edition_id: edition.id }
    await givenNewsletter(shop, 'news')
    await givenNewsletter(other, 'other')
    const email = 'kim@example.dk'
    await importUsers(other, [aUser({ email, consents: { other: { status: 'given' } } })])
    await importUsers(other, [{ email, status: 'complained' }])
    const token = await givenToken(shop, shop.edition_id)
    await importUsers(shop, [{ email, status: 'unsubscribed' }], {}, token)
    const foreign = await importUsers(shop, [{ email, consents: { other: { status: 'withdrawn' } } }], {}, token)
    expect(foreign.body.errors).toMatchObject([{ code: 'does_not_exist', pointer: '#/users/0/consents/other' }])
    await importUsers(shop, [{ email, status: 'subscribed', consents: { news: { status: 'given' } } }], {}, token)
    expect((await listStoredAnswers(shop.organization_id, email)).map(({ key, status }) => `${key} ${status}`)).toEqual(
      // The complaint of the organisation's import ended this one.
      ['news given', 'other given', 'other withdrawn'],
    )
    expect(await listStoredSuppressions(shop.organization_id)).toMatchObject([{ reason: 'complaint' }])
  })

  it('takes hostile texts as texts', async () => {
    const shop = await seedShop()
    await givenNewsletter(shop, 'news')
    const text = '__proto__'
    const reply = await importUsers(shop, [
      aUser({ email: 'a@example.dk', first_name: `<script>'"; drop table users; --`, metadata: { [text]: { x: 1 } } }),
      aUser({ consents: JSON.parse('{"__proto__": {"status": "given"}, "constructor": {"status": "given"}}') }),
      aUser({ consents: { news: { status: 'given', place: 'x'.repeat(501) } } }),
      aUser({ metadata: { big: 'x'.repeat(20_000) } }),
      null,
      'text',
      { email: 'b@example.dk', admin: true },
    ])
    expect(reply.body.results.map((one: { action: string }) => one.action)).toEqual([
      'created',
      ...Array.from({ length: 6 }, () => 'error'),
    ])
    expect(await findStored(shop, 'a@example.dk')).toMatchObject([
      { first_name: `<script>'"; drop table users; --`, metadata: '{}' },
    ])
  })

  it('keeps metadata bounded, whatever many imports add', async () => {
    const shop = await seedShop()
    const row = (key: string) => ({ email: 'a@example.dk', metadata: { [key]: 'x'.repeat(9000) } })
    await importUsers(shop, [row('one')])
    const reply = await importUsers(shop, [row('two')])
    expect(reply.body.results).toMatchObject([
      { action: 'skipped', warnings: [{ code: 'max_length', pointer: '#/users/0/metadata' }] },
    ])
    const refused = await createUser(shop, row('two'))
    expect(refused.body.errors).toMatchObject([{ code: 'max_length', pointer: '#/metadata' }])
    const [stored] = await findStored(shop, 'a@example.dk')
    expect(Object.keys(JSON.parse(stored?.metadata ?? ''))).toEqual(['one'])
  })

  it('refuses a customer with a number that is none', async () => {
    const shop = await seedShop()
    const refusal = await createUser(shop, { phone_number: '12' })
    expect(describeRefusal(refusal)).toBe('400 validation_error: invalid_phone #/phone_number')
  })

  it('takes a number that is none as a warning beside an address, and as an error alone', async () => {
    const reply = await importUsers(await seedShop(), [aUser({ phone_number: '12' }), { phone_number: '12' }])
    expect(reply.body.results).toMatchObject([
      { action: 'created', warnings: [{ code: 'phone_not_taken' }] },
      { action: 'error', errors: [{ code: 'invalid_phone' }] },
    ])
  })

  async function givenErased() {
    const shop = await seedShop()
    const email = 'gone@example.dk'
    const { body } = await importUsers(shop, [aUser({ email, first_name: 'Unforgettable', status: 'unsubscribed' })])
    expect((await post(`/v1/user/${body.results[0].user_id}/erase`, {})).status).toBe(200)
    await finishErasures()
    return { shop, email, importId: body.id as string }
  }

  it('forgets an erased customer in the data of an undo', async () => {
    const { email, importId } = await givenErased()
    const [stored] = await db.all(
      sql<{ undo_data: string }>`select undo_data from import_orders where import_id = ${importId}`,
    )
    expect(stored?.undo_data).not.toContain('Unforgettable')
    expect(stored?.undo_data).not.toContain(email)
    expect(await undoToEnd(importId)).toMatchObject({ undone_orders: 0, kept_orders: 1 })
  })

  it('suppresses the address of an erased customer again when it returns', async () => {
    const { shop, email } = await givenErased()
    await importUsers(shop, [aUser({ email })])
    expect(await listStoredSuppressions(shop.organization_id)).toMatchObject([
      { address: email, reason: 'unsubscribed' },
    ])
  })

  it('keeps a customer whom a later import of customers names when the earlier one is undone', async () => {
    const shop = await seedShop()
    const first = await importUsers(shop, [aUser({ email: 'a@example.dk', first_name: 'Ane' })])
    const second = await importUsers(shop, [{ email: 'a@example.dk', phone_number: '+4532123456' }])
    expect(second.body.results).toMatchObject([{ action: 'updated' }])
    expect(await undoToEnd(first.body.id)).toMatchObject({ undone_orders: 0, kept_orders: 1 })
    expect(await undoToEnd(second.body.id)).toMatchObject({ undone_orders: 1 })
    expect(await findStored(shop, 'a@example.dk')).toMatchObject([
      { first_name: 'Ane', phone_number: null, editions: 1 },
    ])
    expect((await get(`/v1/user?edition_id=${shop.edition_id}`)).body.count).toBe(1)
  })
})
