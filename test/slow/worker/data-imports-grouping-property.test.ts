import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { loadOrders, selectOrdersAfter } from '../../../src/modules/data-imports/run/read-orders.ts'
import { get } from '../../support/api.ts'
import { pathOf, process, loadStagedRows } from '../../support/data-imports.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { aBadRow, aRow, type FileRow, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import {
  expectExact,
  createImporter,
  loadImport,
  buildMessage,
  loadImportOrders,
  loadRows,
  runToEnd,
} from '../../support/staged-imports.ts'
import { undoToEnd } from '../../support/undone-imports.ts'

/** Rows of one key that stand together. Rows without a key belong to no order. */
const rowsOfKey = fc.record({
  key: fc.option(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 4, max: 40 })), { freq: 8 }),
  rows: fc.constantFrom(1, 1, 2, 4),
  is_bad: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
})
const table = fc.array(rowsOfKey, { minLength: 1, maxLength: 60, size: 'max' })
const borders = fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 6 })
const death = fc.record({ roundTrip: fc.integer({ min: 1, max: 14 }), when: fc.constantFrom('before', 'after') })

interface ModelOrder {
  number: number
  group_key: string
  rows: number[]
  is_bad: boolean
}

/** Groups orders by a plain walk over all rows, in the order of their first rows. */
function buildModel(keys: readonly (string | null)[], bad: ReadonlySet<number> = new Set()): ModelOrder[] {
  const orders = new Map<string, ModelOrder>()
  for (const [index, group_key] of keys.entries()) {
    if (group_key === null) continue
    const order = orders.get(group_key) ?? { number: index + 1, group_key, rows: [], is_bad: false }
    order.rows.push(index + 1)
    order.is_bad ||= bad.has(index + 1)
    orders.set(group_key, order)
  }
  return [...orders.values()]
}

async function expectGrouped(id: string, model: readonly ModelOrder[]): Promise<void> {
  const orders = await db.all(sql`select number, group_key, rows_count from import_orders
    where import_id = ${id} order by number`)
  expect(orders).toEqual(
    model.map((order) => ({
      number: order.number,
      group_key: order.group_key,
      rows_count: order.rows.length,
    })),
  )
}

const readBy = async (id: string, chosen: ReturnType<typeof selectOrdersAfter>) =>
  (await loadOrders(db, id, chosen)).map((order) => ({
    number: order.number,
    rows_count: order.rows_count,
    rows: order.rows.map(({ row_number }) => row_number),
  }))

const modelled = (orders: readonly ModelOrder[]) =>
  orders.map(({ number, rows }) => ({ number, rows_count: rows.length, rows }))

async function expectRead(id: string, model: readonly ModelOrder[], after: number, limit: number): Promise<void> {
  const behind = model.filter(({ number }) => number > after)
  expect(await readBy(id, selectOrdersAfter(id, after, limit))).toEqual(modelled(behind.slice(0, limit)))
}

/** Runs an import that crashes, gets messages twice, and may be cancelled. */
async function runInterrupted(id: string, at: { roundTrip: number; when: 'before' | 'after' }, isCancelled: boolean) {
  await createImporter({ death: at })
    .take(buildMessage(id))
    .catch(() => {})
  if (isCancelled)
    await write(sql`update data_imports set status = 'cancelling', epoch = 8 where id = ${id} and phase is not null`)
  const { epoch } = await loadImport(id)
  await createImporter().take(buildMessage(id, epoch), buildMessage(id, epoch))
  await runToEnd(id, epoch)
}

async function expectOutcomes(shop: Shop, id: string, model: readonly ModelOrder[], mayBeCancelled: boolean) {
  await expectExact(shop, id)
  const outcomes = new Map((await loadImportOrders(id)).map(({ number, outcome }) => [number, outcome]))
  const rows = new Map((await loadRows(id)).map(({ row_number, outcome }) => [row_number, outcome]))
  for (const { number, is_bad, rows: orderRows } of model) {
    const outcome = outcomes.get(number)
    const wanted = is_bad ? 'error' : 'created'
    expect(mayBeCancelled ? [wanted, 'cancelled'] : [wanted]).toContain(outcome)
    expect(orderRows.map((row) => rows.get(row))).toEqual(orderRows.map(() => outcome))
  }
}

/** Reads the rows of each order from the API. */
async function expectListed(id: string, model: readonly ModelOrder[]): Promise<void> {
  for (const { number, order_id } of (await loadImportOrders(id)).slice(0, 8)) {
    if (order_id === null) continue
    const { body } = await get(pathOf(id, `/rows?order_id=${order_id}&page_size=100`))
    const listed = body.results.map(({ row_number }: { row_number: number }) => row_number)
    expect([number, listed]).toEqual([number, model.find((order) => order.number === number)?.rows])
  }
}

it('rows of a key make one order wherever they stand, in any steps, and after interruptions', async () => {
  const cut = fc.record({ after: fc.integer({ min: 0, max: 120 }), limit: fc.integer({ min: 1, max: 30 }) })
  await fc.assert(
    fc.asyncProperty(
      table,
      borders,
      cut,
      fc.record({ at: death, isCancelled: fc.boolean() }),
      async (parts, steps, { after, limit }, { at, isCancelled }) => {
        const shop = await seedShop()
        const bad = new Set<number>()
        const keys = parts.flatMap(({ key, rows }) =>
          Array.from({ length: rows }, () => (key === null ? null : `K-${key}`)),
        )
        let row = 0
        const file = parts.flatMap(({ key, rows, is_bad }) =>
          Array.from({ length: rows }, (): FileRow => {
            row++
            if (key === null) return { values: {}, is_ignored: true }
            const ids = { 'order.external_id': `K-${key}`, 'customer.email': `k${key}@example.dk` }
            if (is_bad) bad.add(row)
            return is_bad ? aBadRow(ids) : aRow(ids)
          }),
        )
        const model = buildModel(keys, bad)
        const id = await seedStarted(shop, file, { borders: steps })
        await expectGrouped(id, model)
        await expectRead(id, model, 0, 100)
        await expectRead(id, model, after, limit)
        await runInterrupted(id, at, isCancelled)
        await expectOutcomes(shop, id, model, isCancelled)
        await expectListed(id, model)
        const { undo_until, created_orders } = await loadImport(id)
        if (undo_until !== null) expect(await undoToEnd(id)).toMatchObject({ undone_orders: created_orders })
      },
    ),
    { numRuns: 8, endOnFailure: true },
  )
})

it('an order has all of its rows when a row of another order stands between them', async () => {
  const keys = ['A', 'B', 'A', 'A', 'C', 'B']
  const file = keys.map((key) => aRow({ 'order.external_id': key, 'customer.email': `${key}@example.dk` }))
  const id = await seedStarted(await seedShop(), file, { borders: [3] })
  await expectGrouped(id, buildModel(keys))
  await expectRead(id, buildModel(keys), 0, 100)
})

it('a long file is grouped like a short one', async () => {
  const shop = await seedShop()
  // Each three rows make two orders, and one row in a hundred repeats a key from the beginning.
  const chooseKey = (row: number) => (row % 100 === 99 ? `A-${row % 7}` : `A-${Math.floor((2 * row) / 3)}`)
  const keys = Array.from({ length: 3000 }, (_, row) => chooseKey(row))
  const lines = keys.map((key) => `${key};${key.toLowerCase()}@example.dk;Day ticket;225;${'x'.repeat(300)}`)
  const text = ['Order ID;E-mail;Product;Price;Note', ...lines, ''].join('\r\n')
  const { id } = await givenImport(shop, text)
  const model = buildModel(keys)
  expect(await process(id)).toMatchObject({ total_rows: 3000, total_orders: model.length })
  expect((await loadStagedRows(id)).map(({ group_key }) => group_key)).toEqual(keys)
  await expectGrouped(id, model)
  await expectRead(id, model, 0, 100)
})
