import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Ctx } from '../../../context.ts'
import { inWords } from '../../../db/conditions.ts'
import { buildConditions, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, joinConditions, maxIndexedOffset, paginate } from '../../../db/paginate.ts'
import { importOrders } from '../../../db/schema/data-imports.ts'
import type { RowOutcome } from '../../../domain/data-imports/data-imports.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { selectRowOutcome } from '../background/staged.ts'
import { buildDeletedError, type LoadedImport } from '../queries.ts'
import type { RowQuery } from '../run/run-contract.ts'
import { listedFields, type ListedRow, loadHeaders } from './rows.ts'

const withErrors = sql`import_rows.errors <> '[]'`

/** Outcomes that the partial index `import_rows_by_outcome` contains. */
const indexedOutcomes: readonly RowOutcome[] = ['updated', 'skipped', 'ignored', 'cancelled']

/** Chooses the index of a filter. Without one, rows are read in the order of the file. */
function chooseIndex({ order_id, outcome, has_errors }: RowQuery): SQL {
  if (order_id !== undefined) return sql`indexed by import_rows_of_order`
  // Every row with the outcome `error` has one.
  if (has_errors || outcome === 'error') return sql`indexed by import_rows_with_errors`
  return outcome && indexedOutcomes.includes(outcome) ? sql`indexed by import_rows_by_outcome` : sql``
}

/** Repeats the conditions of the partial indexes literally, so that SQLite uses them. */
const buildFilters = (importId: string): FilterTable<RowQuery> => ({
  order_id: (orderId) => sql`import_rows.group_key in (select group_key from import_orders
    where order_id = ${orderId} and import_id = ${importId})`,
  outcome: (outcome) => joinConditions(buildOutcomeConditions(outcome)),
  has_errors: (hasErrors) => (hasErrors ? withErrors : sql`import_rows.errors = '[]'`),
})

/** Only rows of created orders take their outcome from the order. */
function buildOutcomeConditions(outcome: RowOutcome): SQL[] {
  if (outcome === 'created') return [sql`${selectRowOutcome(sql`import_rows`)} = 'created'`]
  const hasOutcome = sql`import_rows.outcome = ${outcome}`
  if (outcome === 'error') return [hasOutcome, withErrors]
  return indexedOutcomes.includes(outcome)
    ? [hasOutcome, inWords(sql`import_rows.outcome`, indexedOutcomes)]
    : [hasOutcome]
}

/** Counts rows without reading them all. For rows without errors, it subtracts those with errors. */
function buildCount({ id, row_counts }: LoadedImport, query: RowQuery): SQL<{ n: number }> | undefined {
  const { order_id, outcome, has_errors } = query
  if (row_counts === null || order_id !== undefined || has_errors || (outcome === undefined && has_errors !== false))
    return undefined
  const all =
    outcome === undefined
      ? sql`(select count(*) from import_rows indexed by import_rows_of_order where import_id = ${id})`
      : sql`(select coalesce(row_counts ->> ${outcome}, 0) from data_imports where id = ${id})`
  if (has_errors === undefined) return sql`select ${all} as n`
  const withErrorsToo = joinConditions(buildConditions(buildFilters(id), { outcome, has_errors: true }))
  return sql`select ${all} - (select count(*) from import_rows indexed by import_rows_with_errors
    where import_rows.import_id = ${id} and ${withErrorsToo}) as n`
}

const callOrders = alias(importOrders, 'o')

const callFilters: FilterTable<RowQuery> = {
  outcome: equals(importOrders.outcome),
  order_id: equals(importOrders.order_id),
  has_errors: (hasErrors) => (hasErrors ? sql`0` : sql`1`),
}

/** The orders that a call created or updated, as rows. Only these are stored. */
async function listCallRows(
  ctx: Ctx,
  page: PageRequest,
  query: RowQuery,
  { id }: LoadedImport,
): Promise<Page<ListedRow>> {
  const orders = await paginate(ctx.db, page, {
    from: sql`import_orders`,
    where: [sql`import_orders.import_id = ${id}`, ...buildConditions(callFilters, query)],
    orderBy: buildOrderBy(query.ordering, 'row_number', { row_number: sql`import_orders.number` }),
    id: sql`import_orders.number`,
    columns: getTableColumns(callOrders),
    joins: sql`join import_orders o on o.import_id = ${id} and o.number = page.id`,
  })
  const toRow = ({ number, outcome, ...order }: typeof importOrders.$inferSelect) => ({
    import_id: id,
    row_number: number,
    file_line: number,
    byte_offset: 0,
    byte_length: 0,
    group_key: null,
    data: { values: {} },
    errors: [],
    warnings: [],
    outcome,
    order_id: order.order_id,
    user_id: order.user_id,
    undo_outcome: order.undo_outcome,
    undo_reason: order.undo_reason,
    headers: new Map<number, string>(),
    format: null,
  })
  return { ...orders, rows: orders.rows.map(toRow) }
}

export async function listImportRows(
  ctx: Ctx,
  page: PageRequest,
  query: RowQuery,
  loadedImport: LoadedImport,
): Promise<Page<ListedRow>> {
  const { id, source, format, rows_deleted_at } = loadedImport
  if (rows_deleted_at !== null) throw buildDeletedError('The rows of this import were deleted 30 days after its end.')
  if (source === 'api') return listCallRows(ctx, page, query, loadedImport)
  const rows = await paginate(ctx.db, page, {
    from: sql`import_rows ${chooseIndex(query)}`,
    where: [sql`import_rows.import_id = ${id}`, ...buildConditions(buildFilters(id), query)],
    orderBy: buildOrderBy(query.ordering, 'row_number', { row_number: sql`import_rows.row_number` }),
    id: sql`import_rows.row_number`,
    columns: listedFields,
    joins: sql`join import_rows r on r.import_id = ${id} and r.row_number = page.id
      left join import_orders o on o.import_id = r.import_id and o.group_key = r.group_key`,
    maxOffset: maxIndexedOffset,
    count: buildCount(loadedImport, query),
  })
  const headers = await loadHeaders(ctx.db, id)
  return { ...rows, rows: rows.rows.map((row) => ({ ...row, headers, format })) }
}
