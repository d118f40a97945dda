import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { dataImports } from '../../src/db/schema/data-imports.ts'
import { post } from './api.ts'
import { dump } from './dump.ts'
import { aRow, type FileRow, seedStarted } from './seeding/imports/staged-imports.ts'
import { db, write } from './seeding/rows.ts'
import type { Shop } from './seeding/sales/orders.ts'
import { createImporter, loadImport, buildMessage, loadImportOrders, runToEnd } from './staged-imports.ts'

type ImportRow = typeof dataImports.$inferSelect

/** Requests the undo of an import that has ended. */
export async function beginUndo(id: string, token?: string): Promise<ImportRow> {
  const reply = await post(`/v1/data-imports/${id}/undo`, undefined, token)
  expect([reply.status, reply.body.status]).toEqual([200, 'undoing'])
  return loadImport(id)
}

/** Undoes an import that has ended, and returns it afterwards. */
export async function undoToEnd(id: string, token?: string): Promise<ImportRow> {
  const { epoch } = await beginUndo(id, token)
  const machine = createImporter()
  await machine.take(buildMessage(id, epoch))
  for (let next = machine.enqueued.shift(); next; next = machine.enqueued.shift()) await machine.take(next)
  return loadImport(id)
}

export const listUndone = (id: string) =>
  db.all(
    sql<{
      number: number
      order_id: string
      undo_outcome: string
      undo_reason: string | null
      undo_data: string | null
    }>`
      select number, order_id, undo_outcome, undo_reason, undo_data from import_orders
      where import_id = ${id} order by number`,
  )

/** Tables that keep the record of an import after its undo. */
const ofImports = new Set([
  'data_imports',
  'import_rows',
  'import_orders',
  'import_products',
  'import_constants',
  // Ranges of orders stay, and count their changes.
  'order_counts',
  // A series stays when nothing of it is left.
  'sales_series',
  'audit_log',
  // The end of an import is announced.
  'webhook_events',
])
/** Columns that advance with every change, even one that restores. */
const moving: Record<string, readonly string[]> = {
  orders: ['version', 'modified_at'],
  purchases: ['version', 'modified_at'],
  users: ['version', 'modified_at'],
  segments: ['version'],
  transactions: ['reference_since'],
}

/** Reads every row of every table except those of imports, without columns that advance. */
export async function dumpBeside(): Promise<Record<string, string[]>> {
  const all = await dump(moving)
  return Object.fromEntries(Object.entries(all).filter(([table]) => !ofImports.has(table)))
}

/** Imports these rows, and returns the import with its orders. */
export async function importFile(
  shop: Shop,
  rows: readonly FileRow[],
  options: Record<string, unknown> = {},
): Promise<{ id: string; orders: string[] }> {
  const id = await seedStarted(shop, rows, { options: { on_duplicate: 'update', ...options } })
  const keys = new Set(rows.flatMap(({ values }) => Object.keys(values)).filter((key) => key.startsWith('consent.')))
  for (const target of keys)
    await write(sql`insert into import_constants (import_id, target_field, value) values (${id}, ${target}, 'no')`)
  await runToEnd(id)
  return { id, orders: (await loadImportOrders(id)).map(({ order_id }) => order_id ?? '') }
}

/** Builds rows of as many orders, each of its own customer. */
export const buildManyRows = (count: number): FileRow[] => Array.from({ length: count }, () => aRow())
