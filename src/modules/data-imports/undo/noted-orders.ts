import { sql } from 'drizzle-orm'
import { requireChanges } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import type { CatalogueOrders } from '../../../domain/data-imports/import-position.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import type { OrderBefore } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { listEntries } from './catalogue.ts'

/** Missing people were erased. */
type NotedData = Pick<OrderBefore, 'catalogue'> & Partial<OrderBefore>

const isNotedData = (value: unknown): value is NotedData => isRecord(value) && isRecord(value['catalogue'])

export interface NotedOrder {
  number: number
  before: NotedData
}

export async function findNotedOrders(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  limit: number,
): Promise<NotedOrder[]> {
  const rows = await db.all(
    sql<{ number: number; undo_data: string }>`select number, undo_data from import_orders
      where import_id = ${id} and undo_data is not null and number < ${below ?? Number.MAX_SAFE_INTEGER}
      order by number desc limit ${sql.raw(String(limit))}`,
  )
  return rows.map(({ number, undo_data }) => ({ number, before: readJson(undo_data, isNotedData) }))
}

const hasEntries = ({ before }: NotedOrder): boolean => listEntries(before.catalogue).length > 0

export function extendCatalogue(range: CatalogueOrders | null, noted: readonly NotedOrder[]): CatalogueOrders | null {
  const numbers = [...(range ?? []), ...noted.filter(hasEntries).map(({ number }) => number)]
  return numbers.length === 0 ? null : [Math.min(...numbers), Math.max(...numbers)]
}

/** Keeps the catalogue, which has its own stage. */
export function forgetPeople({ id }: Pick<ImportRow, 'id'>, noted: readonly NotedOrder[]): Statement[] {
  if (noted.length === 0) return []
  const remainders = noted.map((order) => {
    const { number, before } = order
    return [id, number, hasEntries(order) ? JSON.stringify({ catalogue: before.catalogue }) : null]
  })
  return [
    sql`update import_orders set undo_data = remainders.value ->> 2 from json_each(${JSON.stringify(remainders)}) as remainders
      where import_id = remainders.value ->> 0 and number = remainders.value ->> 1`,
    requireChanges(remainders.length),
  ]
}

export async function findCatalogue(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  from: number,
): Promise<{ number: number; catalogue: NotedData['catalogue'] } | null> {
  const order = await db.first(
    sql<{ number: number; undo_data: string }>`select number, undo_data from import_orders
      where import_id = ${id} and undo_data is not null and number < ${below ?? Number.MAX_SAFE_INTEGER}
        and number >= ${from}
      order by number desc limit 1`,
  )
  return order ? { number: order.number, catalogue: readJson(order.undo_data, isNotedData).catalogue } : null
}

export const forgetCatalogue = ({ id }: Pick<ImportRow, 'id'>, number: number): Statement =>
  sql`update import_orders set undo_data = null where import_id = ${id} and number = ${number}`
