import { sql } from 'drizzle-orm'
import { requireChanges } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import type { CatalogueOrders } from '../../../domain/data-imports/import-position.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import type { UndoData } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { listEntries } from './catalogue.ts'

/** Undo data as stored. Erasing a person removes everything but the catalogue. */
type StoredUndoData = Pick<UndoData, 'catalogue'> & Partial<UndoData>

const isStoredUndoData = (value: unknown): value is StoredUndoData => isRecord(value) && isRecord(value['catalogue'])

/** The undo data of an order, by its number in the import. */
export interface OrderUndoData {
  number: number
  /** True if the undo has removed the order, and so far reports nothing of it as kept. */
  is_undone: boolean
  undo: StoredUndoData
}

/** Loads the undo data of the next orders before `below`, last first. */
export async function loadUndoData(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  limit: number,
): Promise<OrderUndoData[]> {
  const rows = await db.all(
    sql<{ number: number; undo_data: string; is_undone: number }>`select number, undo_data,
        undo_outcome = 'undone' and undo_reason is null as is_undone from import_orders
      where import_id = ${id} and undo_data is not null and number < ${below ?? Number.MAX_SAFE_INTEGER}
      order by number desc limit ${sql.raw(String(limit))}`,
  )
  return rows.map(({ number, undo_data, is_undone }) => ({
    number,
    is_undone: is_undone === 1,
    undo: readJson(undo_data, isStoredUndoData),
  }))
}

const hasEntries = ({ undo }: OrderUndoData): boolean => listEntries(undo.catalogue).length > 0

/** Extends the range of orders whose catalogue entries an undo has to remove. */
export function extendCatalogueRange(
  range: CatalogueOrders | null,
  orders: readonly OrderUndoData[],
): CatalogueOrders | null {
  const numbers = [...(range ?? []), ...orders.filter(hasEntries).map(({ number }) => number)]
  return numbers.length === 0 ? null : [Math.min(...numbers), Math.max(...numbers)]
}

/** Deletes the undo data of orders, except the catalogue, which a later stage of the undo needs. */
export function deletePeopleUndoData({ id }: Pick<ImportRow, 'id'>, orders: readonly OrderUndoData[]): Statement[] {
  if (orders.length === 0) return []
  const remainders = orders.map((order) => {
    const { number, undo } = order
    return [id, number, hasEntries(order) ? JSON.stringify({ catalogue: undo.catalogue }) : null]
  })
  return [
    sql`update import_orders set undo_data = remainders.value ->> 2
      from json_each(${JSON.stringify(remainders)}) as remainders
      where import_id = remainders.value ->> 0 and number = remainders.value ->> 1`,
    requireChanges(remainders.length),
  ]
}

/** Finds the last order before `below` whose catalogue entries are not removed yet. */
export async function findNextCatalogue(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  from: number,
): Promise<{ number: number; catalogue: StoredUndoData['catalogue'] } | null> {
  const order = await db.first(
    sql<{ number: number; undo_data: string }>`select number, undo_data from import_orders
      where import_id = ${id} and undo_data is not null and number < ${below ?? Number.MAX_SAFE_INTEGER}
        and number >= ${from}
      order by number desc limit 1`,
  )
  return order ? { number: order.number, catalogue: readJson(order.undo_data, isStoredUndoData).catalogue } : null
}

export const deleteCatalogueUndoData = ({ id }: Pick<ImportRow, 'id'>, number: number): Statement =>
  sql`update import_orders set undo_data = null where import_id = ${id} and number = ${number}`
