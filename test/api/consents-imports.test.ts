import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { patch } from '../support/api.ts'
import { expectWhole, answer, listEvents, listRecords } from '../support/consents.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, seedShop, importOrders, type Shop } from '../support/seeding/sales/orders.ts'
import { givenTwo, loadCustomer, stranger } from '../support/shared-customers.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
})

const findUser = async (email: string) =>
  (
    await db.first(sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id}
    and email = ${email}`)
  )?.id ?? ''
const someone = () => `someone-${crypto.randomUUID()}@example.dk`
const old = '2026-01-05T10:00:00.000Z'

/** Seeds a definition that is older than the orders. */
async function seedDefinition(fields: Record<string, unknown> = {}) {
  const definition = await givenConsent(shop.organization_id, fields)
  await write(
    sql`update consents set created_at = 0 where id = ${definition.id}`,
    sql`update consent_versions set created_at = 0 where consent_id = ${definition.id}`,
  )
  return definition as { id: string; key: string }
}

describe('the consents of an imported order', () => {
  it('are given at the time of the order, with the import as evidence', async () => {
    const { id, key } = await seedDefinition()
    const email = someone()
    const order = anOrder({ customer: { email, locale: 'da' }, created: old, consents: { [key]: true } })
    const reply = await importOrders(shop, [order], { emit_webhooks: true })
    const user = await findUser(email)
    const [record, ...more] = await listRecords(user, id)
    expect(more).toEqual([])
    expect(record).toMatchObject({
      status: 'given',
      method: 'import',
      language: 'da',
      occurred_at: Date.parse(old),
      edition_id: shop.edition_id,
      import_id: reply.body.id,
      order_id: reply.body.results[0].order_id,
    })
    expect(JSON.parse(record?.evidence ?? '')).toEqual({ source: 'webshop', external_id: order.external_id })
    const events = await listEvents(shop.organization_id)
    expect(events.filter(({ payload }) => payload.includes(id)).map(({ kind }) => kind)).toEqual(['consent.given'])
    await expectWhole(shop.organization_id)
  })

  it('are skipped only when the import says that the question was asked', async () => {
    const { id, key } = await seedDefinition()
    const [silent, askedCustomer] = [someone(), someone()]
    await importOrders(shop, [anOrder({ customer: { email: silent }, consents: { [key]: false } })])
    await importOrders(shop, [anOrder({ customer: { email: askedCustomer }, consents: { [key]: false } })], {
      skipped: true,
    })
    expect(await listRecords(await findUser(silent), id)).toEqual([])
    expect(await listRecords(await findUser(askedCustomer), id)).toMatchObject([{ status: 'skipped' }])
  })

  it('never undo a later withdrawal, and take effect in the order of their times', async () => {
    const { id, key } = await seedDefinition()
    const email = someone()
    const buildOrderAt = (created: string) => anOrder({ customer: { email }, created, consents: { [key]: true } })
    await importOrders(shop, [buildOrderAt('2026-01-01T00:00:00Z')])
    const user = await findUser(email)
    await answer('withdraw', { user, consent: id }, { occurred_at: '2026-01-03T00:00:00Z' })
    await importOrders(shop, [buildOrderAt('2026-01-02T00:00:00Z'), buildOrderAt('2026-01-03T00:00:00Z')])
    expect((await listRecords(user, id)).map(({ status }) => status)).toEqual(['given', 'withdrawn'])
    await importOrders(shop, [buildOrderAt('2026-01-05T00:00:00Z'), buildOrderAt('2026-01-04T00:00:00Z')])
    expect((await listRecords(user, id)).map(({ status, occurred_at }) => [status, occurred_at])).toEqual([
      ['given', Date.parse('2026-01-01T00:00:00Z')],
      ['withdrawn', Date.parse('2026-01-03T00:00:00Z')],
      ['given', Date.parse('2026-01-04T00:00:00Z')],
    ])
    await expectWhole(shop.organization_id)
  })

  it('answer the edition’s consent when the organisation has one with the same key', async () => {
    const everywhere = await seedDefinition({ key: 'shared-key' })
    const here = await seedDefinition({ key: 'shared-key', edition_id: shop.edition_id })
    const email = someone()
    await importOrders(shop, [anOrder({ customer: { email }, consents: { 'shared-key': true } })])
    const user = await findUser(email)
    expect(await listRecords(user, here.id)).toHaveLength(1)
    expect(await listRecords(user, everywhere.id)).toEqual([])
  })

  it('make only their own order fail when they are unknown or no longer asked for', async () => {
    const { id, key } = await seedDefinition()
    await patch(`/v1/consents/${id}`, { is_active: false })
    const reply = await importOrders(shop, [
      anOrder({ consents: { nothing: true } }),
      anOrder({ consents: { [key]: true } }),
      anOrder(),
    ])
    const answered = reply.body.results.map(({ errors }: { errors: { code: string; pointer: string }[] }) =>
      errors.map(({ code, pointer }) => `${code} ${pointer}`),
    )
    expect(answered).toEqual([
      ['does_not_exist #/orders/0/consents/nothing'],
      [`consent_inactive #/orders/1/consents/${key}`],
      [],
    ])
  })

  it('do not change the organisation’s consents of customers of other editions, for an edition role', async () => {
    const two = await givenTwo()
    const { id, key } = await givenConsent(two.mine.organization_id)
    const editionConsent = await givenConsent(two.mine.organization_id, { edition_id: two.mine.edition_id })
    const order = { customer: stranger, consents: { [key]: true, [editionConsent.key]: true } }
    const { body } = await importOrders(two.mine, [anOrder(order)], {}, two.manager)
    expect([body.created_orders, body.failed_orders]).toEqual([1, 0])
    const { id: user } = await loadCustomer(two.mine, stranger.email)
    expect(await listRecords(user, id)).toEqual([])
    expect(await listRecords(user, editionConsent.id)).toHaveLength(1)
    await importOrders(two.mine, [anOrder(order)])
    expect(await listRecords(user, id)).toHaveLength(1)
  })

  it('stay unchanged by a dry run and by a repeated import', async () => {
    const { id, key } = await seedDefinition()
    const email = someone()
    const order = anOrder({ customer: { email }, created: old, consents: { [key]: true } })
    await importOrders(shop, [order], { dry_run: true })
    expect(await findUser(email)).toBe('')
    for (const on_duplicate of ['skip', 'update']) await importOrders(shop, [order], { on_duplicate })
    expect(await listRecords(await findUser(email), id)).toHaveLength(1)
  })
})
