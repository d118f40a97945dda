import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { dataImports } from '../../../db/schema/data-imports.ts'
import { countRows } from '../../../domain/data-imports/data-imports.ts'
import type { ImportPosition } from '../../../domain/data-imports/import-position.ts'
import { ordersByNumber } from './staged-orders.ts'

type StoredImport = typeof dataImports.$inferSelect
type DecidedCounters = Pick<
  StoredImport,
  'created_orders' | 'updated_orders' | 'skipped_orders' | 'failed_orders' | 'row_counts' | 'processed_rows'
>

/** The last order that is decided, by its number; undefined outside of a run. */
export const decidedUpTo = (position: ImportPosition): number | undefined =>
  'after' in position ? position.after : undefined

/** The counters of what is decided. */
export const progressOf = (row: DecidedCounters): DecidedCounters => {
  const { created_orders, updated_orders, skipped_orders, failed_orders, row_counts, processed_rows } = row
  return { created_orders, updated_orders, skipped_orders, failed_orders, row_counts, processed_rows }
}

/** From 0 to 1. */
export const shareOf = ({ total_rows }: Pick<StoredImport, 'total_rows'>, processed: number): number =>
  total_rows === 0 ? 1 : Math.floor((100 * processed) / total_rows) / 100

/**
 * The import with the progress of transactions that noted the orders which they created and did not write the import
 * itself. Its columns `position` and `processed_rows`, and those of what was created, may differ from what is stored.
 */
export async function upToDate<Row extends StoredImport>(db: Database, row: Row): Promise<Row> {
  const after = decidedUpTo(row.position)
  if (after === undefined) return row
  const created = await db.first(
    sql<{ last: number | null; orders: number; rows: number }>`select max(its.number) as last, count(*) as orders,
        coalesce(sum(its.rows_count), 0) as rows
      from import_created_orders as made cross join json_each(made.orders) as entry
        cross join ${ordersByNumber(row.id)}
      where made.import_id = ${row.id} and made.first_number > ${after} and head.row_number = cast(entry.key as integer)`,
  )
  if (!created?.last) return row
  const processed_rows = row.processed_rows + created.rows
  return {
    ...row,
    position: { ...row.position, after: created.last, progress: shareOf(row, processed_rows) },
    processed_rows,
    created_orders: row.created_orders + created.orders,
    row_counts: countRows(row.row_counts, { created: created.rows }),
  }
}
