import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { listAnnouncedKinds } from '../support/announcements.ts'
import { answer, expectWhole, listRecords } from '../support/consents.ts'
import { readCost } from '../support/cost.ts'
import { countContents } from '../support/orders.ts'
import {
  aBadRow,
  aRow,
  type FileRow,
  freshOrderId,
  buildRows,
  seedStarted,
} from '../support/seeding/imports/staged-imports.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { seedReceiptMessage } from '../support/seeding/messaging/email-messages.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedShop, importOrders, type Shop } from '../support/seeding/sales/orders.ts'
import { expectExact, createImporter, buildMessage, runToEnd } from '../support/staged-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const findUser = async (place: Shop, row: FileRow) =>
  (
    await db.first(sql<{ id: string }>`select id from users where organization_id = ${place.organization_id}
      and email = ${row.values['customer.email']}`)
  )?.id ?? ''

/** Makes an old consent that rows may give, and which the constant of their import does not. */
async function givenConsentTarget(place: Shop) {
  const { id: consent, key } = await givenConsent(place.organization_id)
  const target = `consent.${key}`
  await write(
    sql`update consents set created_at = 0 where id = ${consent}`,
    sql`update consent_versions set created_at = 0 where consent_id = ${consent}`,
  )
  const importRows = async (rows: FileRow[], options = {}) => {
    const id = await seedStarted(place, rows, { options })
    await write(sql`insert into import_constants (import_id, target_field, value) values (${id}, ${target}, 'no')`)
    await runToEnd(id)
    await expectExact(place, id)
    return id
  }
  const listStatuses = async (row: FileRow) =>
    (await listRecords(await findUser(place, row), consent)).map(({ status }) => status)
  return { consent, target, importRows, listStatuses }
}

describe('the import of a file', () => {
  it('creates one order from the rows with one key, adjacent or not, and stores the outcome of every row', async () => {
    const [one, other] = [freshOrderId(), freshOrderId()]
    const buildRow = (id: string, change: Record<string, unknown> = {}) =>
      aRow({ 'order.external_id': id, 'customer.email': `${id}@example.dk`.toLowerCase(), ...change })
    const rows = [
      buildRow(one),
      buildRow(other),
      buildRow(one, { 'item.product': 'Camping' }),
      { values: {}, is_ignored: true },
    ]
    const id = await seedStarted(shop, rows)
    await runToEnd(id)
    const { row, rows: after, orders } = await expectExact(shop, id)
    expect(row).toMatchObject({
      status: 'completed',
      phase: null,
      heartbeat_at: null,
      created_orders: 2,
      processed_rows: 4,
    })
    expect(row.undo_until).toBeGreaterThan(Date.now() + 29 * 86_400_000)
    expect(after.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created', 'ignored'])
    expect(orders).toMatchObject([
      { number: 1, rows_count: 2, outcome: 'created', order_version: 1 },
      { number: 2, rows_count: 1, outcome: 'created', order_version: 1 },
    ])
    const storedOrders = await db.all(sql`select external_id, items_count, amount_minor from orders
      where edition_id = ${shop.edition_id} order by seq`)
    expect(storedOrders).toEqual([
      { external_id: one, items_count: 2, amount_minor: 45_000 },
      { external_id: other, items_count: 1, amount_minor: 22_500 },
    ])
    expect(await countContents(shop)).toMatchObject({ orders: 2, purchases: 3, users: 2, products: 2 })
  })

  it('imports an order completely or not at all: a row with an error makes its order fail', async () => {
    const id = freshOrderId()
    const rows = [aRow({ 'order.external_id': id }), aBadRow({ 'order.external_id': id }), aRow()]
    // Both rows belong to the same customer.
    rows[1]!.values['customer.email'] = rows[0]!.values['customer.email']
    const imported = await seedStarted(shop, rows)
    await runToEnd(imported)
    const { row, rows: after } = await expectExact(shop, imported)
    expect(row).toMatchObject({ status: 'completed_with_errors', created_orders: 1, failed_orders: 1 })
    expect(after.map(({ outcome }) => outcome)).toEqual(['error', 'error', 'created'])
    expect(after[0]!.errors).toEqual([
      expect.objectContaining({ row: 2, code: 'order_refused', message: expect.stringContaining('Line 3') }),
    ])
    expect(after[1]!.errors).toEqual([
      expect.objectContaining({ row: 3, column: 5, target_field: 'item.unit_price', code: 'invalid_number' }),
    ])
  })

  it('fails with a reason when no order can be imported', async () => {
    const id = await seedStarted(shop, [aBadRow(), aBadRow()])
    await runToEnd(id)
    const { row } = await expectExact(shop, id)
    expect(row).toMatchObject({ status: 'failed', error_code: 'all_orders_failed', failed_orders: 2, undo_until: null })
  })

  it('skips, updates or refuses existing orders, as the option says', async () => {
    const row = aRow()
    await runToEnd(await seedStarted(shop, [row]))
    const updatedRow = { values: { ...row.values, 'item.unit_price': 30_000 } }
    for (const [on_duplicate, outcome, amount] of [
      ['skip', 'skipped', 22_500],
      ['error', 'error', 22_500],
      ['update', 'updated', 30_000],
    ] as const) {
      const id = await seedStarted(shop, [updatedRow], { options: { on_duplicate } })
      await runToEnd(id)
      const { orders } = await expectExact(shop, id)
      expect(orders).toMatchObject([{ outcome, order_version: outcome === 'updated' ? 2 : null }])
      const [stored] = await db.all(sql<{ n: number }>`select amount_minor as n from orders
        where edition_id = ${shop.edition_id}`)
      expect(stored?.n).toBe(amount)
    }
  })

  it('uses the product mapping, and skips rows of ignored products', async () => {
    await runToEnd(await seedStarted(shop, [aRow({ 'item.product': 'Weekend' })]))
    const [weekend] = await db.all(sql<{ id: string }>`select id from products where edition_id = ${shop.edition_id}`)
    const [one, ignoredOrder] = [freshOrderId(), freshOrderId()]
    const buildProductRow = (id: string, product: string) =>
      aRow({ 'order.external_id': id, 'customer.email': `${id}@example.dk`.toLowerCase(), 'item.product': product })
    const rows = [
      buildProductRow(one, 'Wochenende'),
      buildProductRow(one, 'Shipping'),
      buildProductRow(ignoredOrder, 'Shipping'),
    ]
    const products = {
      Wochenende: { action: 'map' as const, product_id: weekend!.id },
      Shipping: { action: 'ignore' as const },
    }
    const id = await seedStarted(shop, rows, { products })
    await runToEnd(id)
    const { rows: after, orders, row } = await expectExact(shop, id)
    expect(row.status).toBe('completed')
    expect(after.map(({ outcome }) => outcome)).toEqual(['created', 'ignored', 'ignored'])
    expect(orders.map(({ outcome }) => outcome)).toEqual(['created', 'ignored'])
    const sold = await db.all(sql`select product_id from purchases where order_id = ${orders[0]!.order_id}`)
    expect(sold).toEqual([{ product_id: weekend!.id }])
    expect(await countContents(shop)).toMatchObject({ products: 1 })
  })

  it('creates no products and no customers when its options forbid it', async () => {
    const options = { create_users: false, create_missing_products: false }
    await runToEnd(await seedStarted(shop, [aRow({ 'customer.email': 'known@example.dk' })]))
    const [product] = await db.all(sql<{ id: string }>`select id from products where edition_id = ${shop.edition_id}`)
    const map = { action: 'map' as const, product_id: product!.id }
    const rows = [
      aRow({ 'customer.email': 'known@example.dk' }),
      aRow(),
      aRow({ 'customer.email': 'known@example.dk', 'item.product': 'New' }),
    ]
    const id = await seedStarted(shop, rows, { options, products: { 'Day ticket': map } })
    await runToEnd(id)
    const { rows: after } = await expectExact(shop, id)
    expect(after.map(({ outcome }) => outcome)).toEqual(['created', 'error', 'error'])
    expect(after.slice(1).map(({ errors }) => errors[0]?.code)).toEqual(['does_not_exist', 'unknown_product'])
    expect(await countContents(shop)).toMatchObject({ orders: 2, users: 1, products: 1 })
  })

  it('refuses an id that another order of the same file has, when rows are not grouped by id', async () => {
    const same = { 'order.external_id': '3' }
    // Line 3 has no id, so its number is its key, which another row has as its id.
    const id = await seedStarted(shop, [aRow(same), aRow(same), aRow(), aRow(same)], {
      options: { group_by: 'row', on_duplicate: 'update' },
    })
    await write(
      sql`insert into import_constants (import_id, target_field, value) values (${id}, 'order.external_id', '')`,
    )
    await runToEnd(id)
    const { rows } = await expectExact(shop, id)
    expect(rows.map(({ outcome }) => outcome)).toEqual(['created', 'error', 'created', 'error'])
    expect(rows[3]!.errors).toMatchObject([
      { row: 5, code: 'duplicate_in_file', message: expect.stringContaining('line 2') },
    ])
  })

  it('writes at most two rows more for each order than a call does', async () => {
    await runToEnd(await seedStarted(shop, buildRows(1)))
    const file = buildRows(25)
    const call = buildRows(25).map(({ values }) => ({
      external_id: values['order.external_id'],
      created: '2026-01-05T00:00:00Z',
      currency: 'dkk',
      customer: { email: values['customer.email'], first_name: 'Ægir' },
      items: [{ product: 'Day ticket', quantity: 1, unit_price: 225 }],
    }))
    const id = await seedStarted(shop, file)
    const machine = createImporter()
    await machine.take(buildMessage(id))
    await expectExact(shop, id)
    const direct = readCost(await importOrders(shop, call, { source: 'shop' }))
    expect(machine.meter.rows_written).toBeLessThanOrEqual(direct.rows_written + 2 * file.length)
  })

  it('gives the consents that the file says', async () => {
    const { consent, target, importRows, listStatuses } = await givenConsentTarget(shop)
    const [yes, no] = [aRow({ [target]: true }), aRow({ [target]: false })]
    const id = await importRows([yes, no])
    expect([await listStatuses(yes), await listStatuses(no)]).toEqual([['given'], []])
    const [record] = await listRecords(await findUser(shop, yes), consent)
    expect(record).toMatchObject({ import_id: id, method: 'import' })
    await expectWhole(shop.organization_id)
  })

  it('never undoes a later withdrawal', async () => {
    const { consent, target, importRows, listStatuses } = await givenConsentTarget(shop)
    const row = aRow({ [target]: true })
    await importRows([row])
    const user = await findUser(shop, row)
    await answer('withdraw', { user, consent }, { occurred_at: '2026-01-20T00:00:00Z' })
    const later = { 'order.external_id': freshOrderId(), 'order.created': Date.UTC(2026, 0, 10) }
    await importRows([{ values: { ...row.values, ...later } }])
    expect(await listStatuses(row)).toEqual(['given', 'withdrawn'])
    await expectWhole(shop.organization_id)
  })

  it('records skipped consents where you ask for that', async () => {
    const { target, importRows, listStatuses } = await givenConsentTarget(shop)
    const row = aRow({ [target]: false })
    await importRows([row], { skipped: true })
    expect(await listStatuses(row)).toEqual(['skipped'])
    await expectWhole(shop.organization_id)
  })

  it('asks people who unsubscribed to confirm consents of the file once, and only if it sends receipts', async () => {
    const { id: consent, key } = await givenConsent(shop.organization_id)
    const target = `consent.${key}`
    const email = `gone-${freshOrderId()}@example.dk`.toLowerCase()
    const message = await seedReceiptMessage({ id: shop.organization_id })
    await write(
      sql`update consents set created_at = 0 where id = ${consent}`,
      sql`update consent_versions set created_at = 0 where consent_id = ${consent}`,
      sql`update editions set transaction_receipt_email_id = ${message} where id = ${shop.edition_id}`,
      sql`insert into suppressions (organization_id, channel, address, reason, created_at)
        values (${shop.organization_id}, 'email', ${email}, 'unsubscribed', 1)`,
    )
    const importIt = async (options: Record<string, unknown>) => {
      const rows = [0, 1].map((day) =>
        aRow({ [target]: true, 'customer.email': email, 'order.created': Date.now() - 60_000 + day }),
      )
      const id = await seedStarted(shop, rows, { options })
      await write(sql`insert into import_constants (import_id, target_field, value) values (${id}, ${target}, 'no')`)
      await runToEnd(id)
    }
    const requests = () =>
      db.all(sql`select recipient from transactional_emails where organization_id = ${shop.organization_id}
        and kind = 'consent_confirmation'`)
    await importIt({})
    expect(await requests()).toEqual([])
    await importIt({ send_receipts: true })
    await importIt({ send_receipts: true })
    expect(await requests()).toEqual([{ recipient: email }])
  })

  it('sends no events and no receipts unless the options ask for them', async () => {
    const listSent = async () => {
      const emails = await db.all(
        sql`select id from transactional_emails where organization_id = ${shop.organization_id}`,
      )
      return { kinds: (await listAnnouncedKinds(shop.organization_id)).toSorted(), emails: emails.length }
    }
    await runToEnd(await seedStarted(shop, buildRows(2)))
    // This event is about the import, and comes in any case.
    expect(await listSent()).toEqual({ kinds: ['import.completed'], emails: 0 })
    const message = await seedReceiptMessage({ id: shop.organization_id })
    await write(sql`update editions set transaction_receipt_email_id = ${message} where id = ${shop.edition_id}`)
    await runToEnd(await seedStarted(shop, buildRows(2), { options: { emit_webhooks: true, send_receipts: true } }))
    expect(await listSent()).toEqual({
      kinds: ['import.completed', 'order.created', 'purchase.action'].flatMap((kind) => [kind, kind]),
      emails: 2,
    })
  })
})
