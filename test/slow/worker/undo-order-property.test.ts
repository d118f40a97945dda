import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { dearRuns } from '../../support/property-runs.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { aRow } from '../../support/seeding/imports/staged-imports.ts'
import { db } from '../../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { importFile, listUndone, undoToEnd } from '../../support/undone-imports.ts'

checkSalesCounts()

const orderIds: readonly string[] = ['1', '2', '3']
const customers = ['ida@example.dk', 'bo@example.dk', 'eva@example.dk']

const importedOrder = fc.record({
  id: fc.constantFrom(...orderIds),
  customer: fc.constantFrom(...customers),
  number: fc.constantFrom(undefined, 'N-1', 'N-2'),
  status: fc.constantFrom('pending', 'confirmed', 'completed', 'cancelled'),
  product: fc.constantFrom('Day ticket', 'Camping'),
  quantity: fc.integer({ min: 1, max: 3 }),
  price: fc.constantFrom(0, 100, 225),
  holder: fc.constantFrom(undefined, ...customers),
})
type ImportedOrder = typeof importedOrder extends fc.Arbitrary<infer Value> ? Value : never

const importAction = fc.record({
  act: fc.constantFrom('call' as const, 'file' as const),
  orders: fc.uniqueArray(importedOrder, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
})
/** The import that is undone, counted from the last one. */
const undoAction = fc.record({ act: fc.constant('undo' as const), back: fc.integer({ min: 0, max: 3 }) })
const actions = fc.array(fc.oneof({ weight: 3, arbitrary: importAction }, { weight: 2, arbitrary: undoAction }), {
  minLength: 3,
  maxLength: 10,
})

const buildFileRow = ({ id, customer, number, status, product, quantity, price, holder }: ImportedOrder) =>
  aRow({
    'order.external_id': id,
    'order.order_number': number,
    'order.status': status,
    'customer.email': customer,
    'item.product': product,
    'item.quantity': quantity,
    'item.unit_price': 100 * price,
    'item.user.email': holder,
  })

const buildExternalOrder = ({ id, customer, number, status, product, quantity, price, holder }: ImportedOrder) =>
  anOrder({
    external_id: id,
    order_number: number,
    status,
    created: '2026-01-05T00:00:00Z',
    customer: { email: customer, first_name: 'Ægir' },
    items: [{ product, quantity, unit_price: price, ...(holder ? { user: { email: holder } } : {}) }],
  })

/** Returns null for a call that stored no import because all of its orders were refused. */
async function runImport(shop: Shop, { act, orders }: { act: 'call' | 'file'; orders: ImportedOrder[] }) {
  if (act === 'file') return (await importFile(shop, orders.map(buildFileRow))).id
  const options = { source: 'shop', on_duplicate: 'update' }
  const { body } = await importOrders(shop, orders.map(buildExternalOrder), options)
  return (body.id ?? null) as string | null
}

/** Reads an order with everything that belongs to it, without versions. Ids tell nothing, as a new one may replace it. */
async function loadContent(shop: Shop, id: string): Promise<string | null> {
  const order = await db.first(
    sql<Record<string, unknown>>`select * from orders where edition_id = ${shop.edition_id} and external_id = ${id}`,
  )
  if (!order) return null
  const [purchases, payments] = await db.batch([
    sql<Record<string, unknown>>`select * from purchases where order_id = ${order['id']} order by id`,
    sql<Record<string, unknown>>`select * from transactions where order_id = ${order['id']} order by id`,
  ])
  const drop = ({ version: _, modified_at: __, reference_since: ___, ...row }: Record<string, unknown>) => row
  return JSON.stringify([drop(order), purchases.map(drop), payments.map(drop)])
}

const loadContents = async (shop: Shop) =>
  new Map(await Promise.all(orderIds.map(async (id) => [id, await loadContent(shop, id)] as const)))

const listWritten = (importId: string) =>
  db.all(
    sql<{ external_id: string }>`select orders.external_id from import_orders
      join orders on orders.id = import_orders.order_id
      where import_id = ${importId} and outcome in ('created', 'updated')`,
  )

interface Layer {
  importId: string
  before: string | null
}

it('after undos in any order an order is as before its import, or reported as kept', async () => {
  await fc.assert(
    fc.asyncProperty(actions, async (sequence) => {
      const shop = await seedShop()
      const imports: string[] = []
      /** The imports of each order that stand, the first one first. */
      const layers = new Map<string, Layer[]>(orderIds.map((id) => [id, []]))
      const undo = async (importId: string) => {
        const { undo_until } = (await db.first(
          sql<{ undo_until: number | null }>`select undo_until from data_imports where id = ${importId}`,
        )) ?? { undo_until: null }
        if (undo_until === null) return
        const before = await loadContents(shop)
        const externalIds = new Map(
          (
            await db.all(sql<{ number: number; external_id: string }>`select number, orders.external_id
              from import_orders join orders on orders.id = order_id where import_id = ${importId}`)
          ).map(({ number, external_id }) => [number, external_id]),
        )
        await undoToEnd(importId)
        const after = await loadContents(shop)
        for (const { number, undo_outcome, undo_reason } of await listUndone(importId)) {
          const id = externalIds.get(number)
          if (id === undefined || undo_outcome === null) continue
          const standing = layers.get(id) ?? []
          const top = standing.at(-1)
          const isTop = top?.importId === importId
          // An undo in between may have deleted a ticket holder whom this one would give back.
          const isBlocked = isTop && undo_reason === 'still_referenced'
          const isUndone = isTop && !isBlocked
          const expected = isUndone ? ['undone', null] : ['kept', isBlocked ? undo_reason : 'order_changed']
          expect([id, undo_outcome, undo_reason]).toEqual([id, ...expected])
          expect([id, after.get(id)]).toEqual([id, isUndone ? top.before : before.get(id)])
          if (isUndone) standing.pop()
        }
        const touched = new Set(externalIds.values())
        for (const id of orderIds.filter((one) => !touched.has(one))) expect(after.get(id)).toBe(before.get(id))
      }
      for (const action of sequence) {
        if (action.act === 'undo') {
          const [importId] = imports.splice(-1 - action.back, 1)
          if (importId) await undo(importId)
          continue
        }
        const before = await loadContents(shop)
        const importId = await runImport(shop, action)
        if (importId === null) continue
        imports.push(importId)
        for (const { external_id } of await listWritten(importId))
          layers.get(external_id)?.push({ importId, before: before.get(external_id) ?? null })
      }
      for (const importId of imports.toReversed()) await undo(importId)
    }),
    { numRuns: dearRuns(60, 8), endOnFailure: true },
  )
})
