import { sql } from 'drizzle-orm'
import { changedExactly } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import type { CatalogueOrders } from '../../../domain/data-imports/import-position.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import type { OrderBefore } from '../../order-import/index.ts'
import { createdBetween } from '../background/created-orders.ts'
import { keysOfRows, ordersByNumber } from '../background/staged-orders.ts'
import type { ImportRow } from '../background/steps.ts'
import { entriesOf } from './catalogue.ts'

/** Has no people when one of them was erased. */
type NotedData = Pick<OrderBefore, 'catalogue'> & Partial<OrderBefore>

const isNotedData = (value: unknown): value is NotedData => isRecord(value) && isRecord(value['catalogue'])

const readNoted = (before: string | null): NotedData | null => (before === null ? null : readJson(before, isNotedData))

/** An order that the import wrote, with what it did to people and to the catalogue. */
export interface NotedOrder {
  number: number
  group_key: string
  /** The undo data are in the order's own row. */
  has_own: boolean
  before: NotedData | null
}

/** The next orders whose people are undone, the last first. */
export async function findNoted(
  db: Database,
  { id }: Pick<ImportRow, 'id'>,
  below: number | null,
  limit: number,
): Promise<NotedOrder[]> {
  const rows = await db.all(
    sql<{ number: number; group_key: string; own: string | null; made: string | null }>`with its as materialized (
        select its.number, its.group_key, its.before from ${ordersByNumber(id)}
        where (its.undo_outcome is not null or its.before is not null)
          and head.row_number < ${below ?? Number.MAX_SAFE_INTEGER}
        order by head.row_number desc limit ${sql.raw(String(limit))})
      select its.number, its.group_key, its.before as own, made.before as made
      from its left join ${createdBetween(id, sql`(select min(number) from its)`, sql`(select max(number) from its)`)}
        as made on made.number = its.number
      order by its.number desc`,
  )
  return rows.map(({ number, group_key, own, made }) => ({
    number,
    group_key,
    has_own: own !== null,
    before: readNoted(own ?? made),
  }))
}

const hasEntries = ({ before }: NotedOrder): boolean => before !== null && entriesOf(before.catalogue).length > 0

/** The orders with entries of the catalogue, with these. */
export function catalogueWith(known: CatalogueOrders | null, noted: readonly NotedOrder[]): CatalogueOrders | null {
  const numbers = [...(known ?? []), ...noted.filter(hasEntries).map(({ number }) => number)]
  return numbers.length === 0 ? null : [Math.min(...numbers), Math.max(...numbers)]
}

/** Deletes the undo data of these orders, but for the catalogue: its stage reads it from the orders' own rows. */
export function forgetPeople({ id }: Pick<ImportRow, 'id'>, noted: readonly NotedOrder[]): Statement[] {
  const left = noted.flatMap((order) => {
    const { group_key, has_own, before } = order
    if (hasEntries(order)) return [[id, group_key, JSON.stringify({ catalogue: before?.catalogue })]]
    return has_own ? [[id, group_key, null]] : []
  })
  const change = sql`update import_orders set before = left.value ->> 2 from json_each(${JSON.stringify(left)}) as left
    where import_id = left.value ->> 0 and group_key = left.value ->> 1`
  return [
    ...(left.length > 0 ? [change, changedExactly(left.length)] : []),
    sql`delete from import_created_orders where import_id = ${id} and first_number >= ${noted.at(-1)?.number ?? 0}`,
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
    sql<{ number: number; before: string }>`select its.number, its.before from ${ordersByNumber(id)}
      where its.before is not null and head.row_number < ${below ?? Number.MAX_SAFE_INTEGER}
        and head.row_number >= ${from}
      order by head.row_number desc limit 1`,
  )
  return found ? { number: found.number, catalogue: readJson(found.before, isNotedData).catalogue } : null
}

export const forgetCatalogue = ({ id }: Pick<ImportRow, 'id'>, number: number): Statement =>
  sql`update import_orders set before = null where import_id = ${id}
    and group_key in ${keysOfRows(id, sql`row_number = ${number}`)}`
