import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { finishErasures } from '../support/personal-data.ts'
import { aRow, type FileRow } from '../support/seeding/imports/staged-imports.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { importFile, undoToEnd } from '../support/undone-imports.ts'

const oldEmail = 'anna@example.dk'
const newEmail = 'anna.holm@example.dk'
const order = (change: Record<string, unknown> = {}) =>
  anOrder({ external_id: 'A-1', customer: { email: oldEmail, first_name: 'Anna' }, ...change })

let shop: Shop
let user: string
beforeEach(async () => {
  shop = await seedShop()
  await importOrders(shop, [order()])
  user = (await findOwner()) ?? ''
  expect((await patch(`/v1/user/${user}`, { email: newEmail })).status).toBe(200)
})

const update = { on_duplicate: 'update' }

const listCustomers = () =>
  db.all(sql<{ id: string; email: string | null; phone_number: string | null }>`select id, email, phone_number
    from users where organization_id = ${shop.organization_id} order by seq`)
const listEditionEmails = async () =>
  (
    await db.all(sql<{ email: string | null }>`select email from edition_customers
      where edition_id = ${shop.edition_id} order by seq`)
  ).map(({ email }) => email)

const findOwner = async (externalId = 'A-1') =>
  (
    await db.first(sql<{ user_id: string }>`select user_id from orders
      where edition_id = ${shop.edition_id} and external_id = ${externalId}`)
  )?.user_id

const loadAddress = async (externalId = 'A-1') =>
  (
    await db.first(sql<{ imported_address: string | null }>`select imported_address from orders
      where edition_id = ${shop.edition_id} and external_id = ${externalId}`)
  )?.imported_address

describe('an order whose customer’s address was corrected by hand', () => {
  it.each(['update', 'skip'])('keeps its customer when it comes again with the old address: %s', async (policy) => {
    const { body } = await importOrders(shop, [order()], { on_duplicate: policy })
    expect(body.results).toMatchObject([{ action: 'skipped', warnings: [] }])
    expect(await listCustomers()).toMatchObject([{ id: user, email: newEmail }])
    expect(await listEditionEmails()).toEqual([newEmail])
  })

  it('is updated for its customer, who keeps the corrected address', async () => {
    const { body } = await importOrders(shop, [order({ order_number: 'N-1' })], update)
    expect(body.results).toMatchObject([{ action: 'updated', warnings: [] }])
    expect(await listCustomers()).toMatchObject([{ id: user, email: newEmail }])
    expect(await listEditionEmails()).toEqual([newEmail])
  })

  it('keeps its customer when its file comes again', async () => {
    const row = (): FileRow =>
      aRow({ 'order.external_id': 'F-1', 'customer.email': 'bo@example.dk', 'item.unit_price': 5 })
    await importFile(shop, [row()])
    const bo = await findOwner('F-1')
    await patch(`/v1/user/${bo}`, { email: 'bo.holm@example.dk' })
    await importFile(shop, [row(), aRow({ 'order.external_id': 'F-2', 'customer.email': 'eva@example.dk' })])
    expect(await findOwner('F-1')).toBe(bo)
    expect((await listCustomers()).map(({ email }) => email)).toEqual([
      newEmail,
      'bo.holm@example.dk',
      'eva@example.dk',
    ])
  })

  it('keeps its customer also when the old address belongs to somebody else by now', async () => {
    await importOrders(shop, [anOrder({ external_id: 'B-1', customer: { email: oldEmail } })])
    const other = await findOwner('B-1')
    expect(other).not.toBe(user)
    await importOrders(shop, [order({ order_number: 'N-2' })], update)
    expect([await findOwner(), await findOwner('B-1')]).toEqual([user, other])
    expect(await listEditionEmails()).toEqual([newEmail, oldEmail])
  })

  it('is matched by the address alone that it was last imported with', async () => {
    await importOrders(shop, [order({ customer: { email: 'bo@example.dk' } })], update)
    const bo = await findOwner()
    expect(bo).not.toBe(user)
    await importOrders(shop, [order()], update)
    const [, , third] = await listCustomers()
    expect(third).toMatchObject({ email: oldEmail })
    expect(await findOwner()).toBe(third?.id)
  })

  it('does not lend its customer to other orders, nor to orders of another source or edition', async () => {
    const other = await seedShop()
    await importOrders(shop, [anOrder({ external_id: 'C-1', customer: { email: oldEmail } }), order()], update)
    const stranger = await findOwner('C-1')
    expect([await findOwner(), stranger === user]).toEqual([user, false])
    const { body } = await importOrders(shop, [order()], { source: 'other-shop' })
    const sibling = await db.first(sql`select user_id from orders where id = ${body.results[0].order_id}`)
    expect(sibling).toEqual({ user_id: stranger })
    await importOrders(other, [order()])
    expect((await listCustomers()).length).toBe(2)
  })

  it('keeps a customer with a number alone whose number was corrected', async () => {
    const byPhone = (change = {}) =>
      anOrder({ external_id: 'P-1', customer: { phone_number: '+4520304050', first_name: 'Bo' }, ...change })
    await importOrders(shop, [byPhone()])
    const bo = await findOwner('P-1')
    await patch(`/v1/user/${bo}`, { phone_number: '+4520304051' })
    await importOrders(shop, [byPhone({ order_number: 'N-3' })], update)
    expect(await findOwner('P-1')).toBe(bo)
    expect(await listCustomers()).toMatchObject([{}, { id: bo, phone_number: '+4520304051' }])
  })
})

describe('the address that an order was last imported with', () => {
  it('is restored by an undo', async () => {
    const row = (email: string) =>
      aRow({ 'order.external_id': 'U-1', 'customer.email': email, 'item.unit_price': 5, 'customer.first_name': 'Eva' })
    await importFile(shop, [row('eva@example.dk')])
    const eva = await findOwner('U-1')
    await patch(`/v1/user/${eva}`, { email: 'eva.holm@example.dk' })
    const { id } = await importFile(shop, [row('bo@example.dk')])
    expect([await findOwner('U-1'), await loadAddress('U-1')]).not.toContain(eva)
    await undoToEnd(id)
    expect([await findOwner('U-1'), await loadAddress('U-1')]).toEqual([eva, 'eva@example.dk'])
    await importFile(shop, [row('eva@example.dk')])
    expect((await listCustomers()).map(({ email }) => email)).toEqual([newEmail, 'eva.holm@example.dk'])
  })

  it('is in the export of the customer’s data', async () => {
    const { body } = await get(`/v1/user/${user}/export`)
    expect(body.orders).toMatchObject([{ imported_address: oldEmail }])
  })

  it('is erased with its customer, also where an undo would restore it', async () => {
    const row = (email: string) => aRow({ 'order.external_id': 'E-1', 'customer.email': email })
    await importFile(shop, [row('eva@example.dk')])
    const eva = await findOwner('E-1')
    await importFile(shop, [row('nis@example.dk')])
    const stored = () =>
      db.all(sql`select undo_data from import_orders where undo_data like '%eva@example.dk%'
        and import_id in (select id from data_imports where edition_id = ${shop.edition_id})`)
    expect(await stored()).toHaveLength(1)
    for (const id of [user, eva]) expect((await post(`/v1/user/${id}/erase`, {})).status).toBe(200)
    await finishErasures()
    expect(await loadAddress()).toBeNull()
    expect(await stored()).toEqual([])
    expect(await loadAddress('E-1')).toBe('nis@example.dk')
  })
})
