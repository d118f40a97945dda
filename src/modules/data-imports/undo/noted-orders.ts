import { sql } from 'drizzle-orm'
import { requireChanges } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import type { CatalogueOrders } from '../../../domain/data-imports/import-position.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import type { OrderBefore } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { entriesOf } from './catalogue.ts'

/** Has no people when one of them was erased. */
type NotedData = Pick<OrderBefore, 'catalogue'> & Partial<OrderBefore>

const isNotedData = (value: unknown): value is NotedData => isRecord(value) && isRecord(value['catalogue'])

/** An order that the import wrote, with what it did to people and to the catalogue. */
export interface NotedOrder {
  number: number
  before: NotedData
}

/** The next orders whose people are undone, the last first. */
export async function findNoted(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  limit: number,
): Promise<NotedOrder[]> {
  const rows = await db.all(
    sql<{ number: number; before: string }>`select number, before from import_orders
      where import_id = ${id} and before is not null and number < ${below ?? Number.MAX_SAFE_INTEGER}
      order by number desc limit ${sql.raw(String(limit))}`,
  )
  return rows.map(({ number, before }) => ({ number, before: readJson(before, isNotedData) }))
}

const hasEntries = ({ before }: NotedOrder): boolean => entriesOf(before.catalogue).length > 0

/** The orders with entries of the catalogue, with these. */
export function catalogueWith(known: CatalogueOrders | null, noted: readonly NotedOrder[]): CatalogueOrders | null {
  const numbers = [...(known ?? []), ...noted.filter(hasEntries).map(({ number }) => number)]
  return numbers.length === 0 ? null : [Math.min(...numbers), Math.max(...numbers)]
}

/** Deletes the undo data of these orders, but for the catalogue, which its own stage reads. */
export function forgetPeople({ id }: Pick<ImportRow, 'id'>, noted: readonly NotedOrder[]): Statement[] {
  if (noted.length === 0) return []
  const left = noted.map((order) => {
    const { number, before } = order
    return [id, number, hasEntries(order) ? JSON.stringify({ catalogue: before.catalogue }) : null]
  })
  return [
    sql`update import_orders set before = left.value ->> 2 from json_each(${JSON.stringify(left)}) as left
      where import_id = left.value ->> 0 and number = left.value ->> 1`,
    requireChanges(left.length),
  ]
}

/** The last order with entries of the catalogue below `below`, and not before `from`. */
export async function findCatalogue(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  from: number,
): Promise<{ number: number; catalogue: NotedData['catalogue'] } | null> {
  const found = await db.first(
    sql<{ number: number; before: string }>`select number, before from import_orders
      where import_id = ${id} and before is not null and number < ${below ?? Number.MAX_SAFE_INTEGER}
        and number >= ${from}
      order by number desc limit 1`,
  )
  return found ? { number: found.number, catalogue: readJson(found.before, isNotedData).catalogue } : null
}

export const forgetCatalogue = ({ id }: Pick<ImportRow, 'id'>, number: number): Statement =>
  sql`update import_orders set before = null where import_id = ${id} and number = ${number}`
