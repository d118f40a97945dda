import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import type { Database } from '../../../db/database.ts'
import { buildOrderBy, joinConditions, maxIndexedOffset, paginate } from '../../../db/paginate.ts'
import { importOrders, importRows } from '../../../db/schema/data-imports.ts'
import { makeNullable, type RowOf } from '../../../db/select.ts'
import { inWords } from '../../../db/conditions.ts'
import type { RowOutcome } from '../../../domain/data-imports/data-imports.ts'
import type { StoredWarning } from '../../../domain/data-imports/mapping/index.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { type LoadedImport, buildDeletedError } from '../queries.ts'
import { selectRowOutcome } from '../background/staged.ts'
import type { ImportProblem } from '../run/problems.ts'
import type { RowFilters, RowOrdering, RowProblem } from '../run/run-contract.ts'

export type Headers = ReadonlyMap<number, string>

const r = alias(importRows, 'r')
const o = alias(importOrders, 'o')

/** Columns of a row, with the outcome that it takes from its order. */
const listedFields = {
  ...getTableColumns(r),
  outcome: sql<RowOutcome | null>`coalesce(r.outcome, o.outcome)`,
  order_id: makeNullable(o.order_id),
  undo_outcome: makeNullable(o.undo_outcome),
  undo_reason: makeNullable(o.undo_reason),
}

export type ListedRow = RowOf<typeof listedFields> & { headers: Headers }

export async function loadHeaders(db: Database, importId: string): Promise<Headers> {
  const columns = await db.all(
    sql<{ source_index: number; source_column: string }>`select source_index, source_column from import_columns
      where import_id = ${importId}`,
  )
  return new Map(columns.map(({ source_index, source_column }) => [source_index, source_column]))
}

export const addColumnNames = (problems: readonly ImportProblem[], headers: Headers): z.input<typeof RowProblem>[] =>
  problems.map(({ row, column, target_field, code, message, value }) => ({
    row,
    column: column === null ? null : (headers.get(column) ?? null),
    target_field,
    code,
    message,
    value,
  }))

/** Fills in stored problems. Those from staging have no line, so they get the line of their row. */
export const toProblems = (stored: readonly StoredWarning[], line: number): ImportProblem[] =>
  stored.map(({ row = line, column = null, target_field = null, code, message, value = null }) => ({
    row,
    column,
    target_field,
    code,
    message,
    value,
  }))

const withErrors = sql`import_rows.errors <> '[]'`

/** Outcomes that the partial index `import_rows_by_outcome` contains. */
const indexedOutcomes: readonly RowOutcome[] = ['updated', 'skipped', 'ignored', 'cancelled']

/** Chooses the index of a filter. Without one, rows are read in the order of the file. */
function chooseIndex({ order_id, outcome, has_errors }: RowFilters): SQL {
  if (order_id !== undefined) return sql`indexed by import_rows_of_order`
  // Every row with the outcome `error` has one.
  if (has_errors || outcome === 'error') return sql`indexed by import_rows_with_errors`
  return outcome && indexedOutcomes.includes(outcome) ? sql`indexed by import_rows_by_outcome` : sql``
}

/** Repeats the conditions of the partial indexes literally, so that SQLite uses them. */
function buildConditions(importId: string, { order_id, outcome, has_errors }: RowFilters): SQL[] {
  const conditions = [
    order_id === undefined
      ? null
      : sql`import_rows.group_key in (select group_key from import_orders
          where order_id = ${order_id} and import_id = ${importId})`,
    ...(outcome === undefined ? [] : buildOutcomeConditions(outcome)),
    has_errors || outcome === 'error' ? withErrors : null,
    has_errors === false ? sql`import_rows.errors = '[]'` : null,
  ]
  return conditions.filter((condition) => condition !== null)
}

/** Only rows of created orders take their outcome from the order. */
function buildOutcomeConditions(outcome: RowOutcome): SQL[] {
  if (outcome === 'created') return [sql`${selectRowOutcome(sql`import_rows`)} = 'created'`]
  const hasOutcome = sql`import_rows.outcome = ${outcome}`
  return indexedOutcomes.includes(outcome)
    ? [hasOutcome, inWords(sql`import_rows.outcome`, indexedOutcomes)]
    : [hasOutcome]
}

/** Counts rows without reading them all. For rows without errors, it subtracts those with errors. */
function buildCount({ id, row_counts }: LoadedImport, filters: RowFilters): SQL<{ n: number }> | undefined {
  const { order_id, outcome, has_errors } = filters
  if (row_counts === null || order_id !== undefined || has_errors || (outcome === undefined && has_errors !== false))
    return undefined
  const all =
    outcome === undefined
      ? sql`(select count(*) from import_rows indexed by import_rows_of_order where import_id = ${id})`
      : sql`(select coalesce(row_counts ->> ${outcome}, 0) from data_imports where id = ${id})`
  if (has_errors === undefined) return sql`select ${all} as n`
  const withErrorsToo = joinConditions(buildConditions(id, { outcome, has_errors: true }))
  return sql`select ${all} - (select count(*) from import_rows indexed by import_rows_with_errors
    where import_rows.import_id = ${id} and ${withErrorsToo}) as n`
}

/** The orders that a call created or updated, as rows. Only these are stored. */
async function listCallRows(
  ctx: Ctx,
  { id }: LoadedImport,
  page: PageRequest,
  { ordering, filters }: { ordering: RowOrdering; filters: RowFilters },
): Promise<Page<ListedRow>> {
  const { outcome, order_id, has_errors } = filters
  const orders = await paginate(ctx.db, page, {
    from: sql`import_orders`,
    where: [
      sql`import_orders.import_id = ${id}`,
      ...(outcome === undefined ? [] : [sql`import_orders.outcome = ${outcome}`]),
      ...(order_id === undefined ? [] : [sql`import_orders.order_id = ${order_id}`]),
      ...(has_errors ? [sql`0`] : []),
    ],
    orderBy: buildOrderBy(ordering, 'row_number', { row_number: sql`import_orders.number` }),
    id: sql`import_orders.number`,
    columns: getTableColumns(o),
    joins: sql`join import_orders o on o.import_id = ${id} and o.number = page.id`,
  })
  const toRow = ({ number, outcome: action, ...order }: typeof importOrders.$inferSelect) => ({
    import_id: id,
    row_number: number,
    file_line: number,
    byte_offset: 0,
    byte_length: 0,
    group_key: null,
    data: { values: {} },
    errors: [],
    warnings: [],
    outcome: action,
    order_id: order.order_id,
    undo_outcome: order.undo_outcome,
    undo_reason: order.undo_reason,
    headers: new Map<number, string>(),
  })
  return { ...orders, rows: orders.rows.map(toRow) }
}

export async function listRows(
  ctx: Ctx,
  row: LoadedImport,
  page: PageRequest,
  { ordering, filters }: { ordering: RowOrdering; filters: RowFilters },
): Promise<Page<ListedRow>> {
  if (row.rows_deleted_at !== null)
    throw buildDeletedError('The rows of this import were deleted 30 days after its end.')
  if (row.source === 'api') return listCallRows(ctx, row, page, { ordering, filters })
  const { id } = row
  const rows = await paginate(ctx.db, page, {
    from: sql`import_rows ${chooseIndex(filters)}`,
    where: [sql`import_rows.import_id = ${id}`, ...buildConditions(id, filters)],
    orderBy: buildOrderBy(ordering, 'row_number', { row_number: sql`import_rows.row_number` }),
    id: sql`import_rows.row_number`,
    columns: listedFields,
    joins: sql`join import_rows r on r.import_id = ${id} and r.row_number = page.id
      left join import_orders o on o.import_id = r.import_id and o.group_key = r.group_key`,
    maxOffset: maxIndexedOffset,
    count: buildCount(row, filters),
  })
  const headers = await loadHeaders(ctx.db, id)
  return { ...rows, rows: rows.rows.map((one) => ({ ...one, headers })) }
}
