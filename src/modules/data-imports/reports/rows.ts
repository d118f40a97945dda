import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import type { Database } from '../../../db/database.ts'
import { sortedFilters, type NoFilters } from '../../../db/lists/filters.ts'
import type { ListSource } from '../../../db/lists/list-source.ts'
import { type ListState, mostHitsOf, numberKeys } from '../../../db/lists/list-hits.ts'
import { and } from '../../../db/lists/order-keys.ts'
import { isFarPage } from '../../../db/lists/page-by-number.ts'
import { paginate } from '../../../db/lists/paginate.ts'
import { paginateKept } from '../../../db/lists/paginate-kept.ts'
import { importOrders, importRows } from '../../../db/schema/data-imports.ts'
import { orNull, type RowOf } from '../../../db/select.ts'
import type { RowOutcome } from '../../../domain/data-imports/data-imports.ts'
import type { StoredWarning } from '../../../domain/data-imports/mapping/index.ts'
import { type Page, type PageRequest, sortBy } from '../../../domain/page.ts'
import type { LoadedImport } from '../queries.ts'
import { dataDeleted } from '../deleted.ts'
import { keptIdOf, outcomeOfOrder } from '../background/created-orders.ts'
import { keysOfRows, rowsOfKeys } from '../background/staged-orders.ts'
import { outcomeOf } from '../background/staged-rows.ts'
import type { Problem } from '../run/problems.ts'
import type { RowFilters, RowOrdering, RowProblem } from '../run/run-contract.ts'

export type Headers = ReadonlyMap<number, string>

const r = alias(importRows, 'r')
const o = alias(importOrders, 'o')

/** A row, and what it has from its order. */
const listedFields = (importId: string) => ({
  ...getTableColumns(r),
  outcome: sql<RowOutcome | null>`coalesce(r.outcome, ${outcomeOfOrder(sql`o`, importId)})`,
  order_id: sql<string | null>`coalesce(o.order_id, ${keptIdOf(sql`o`)})`,
  undo_outcome: orNull(o.undo_outcome),
  undo_reason: orNull(o.undo_reason),
})

export type ListedRow = RowOf<ReturnType<typeof listedFields>> & { headers: Headers }

/** Names of the file's columns by index. */
export async function headersOf(db: Database, importId: string): Promise<Headers> {
  const columns = await db.all(
    sql<{ source_index: number; source_column: string }>`select source_index, source_column from import_columns
      where import_id = ${importId}`,
  )
  return new Map(columns.map(({ source_index, source_column }) => [source_index, source_column]))
}

export const namedProblems = (problems: readonly Problem[], headers: Headers): z.input<typeof RowProblem>[] =>
  problems.map(({ row, column, target_field, code, message, value }) => ({
    row,
    column: column === null ? null : (headers.get(column) ?? null),
    target_field,
    code,
    message,
    value,
  }))

/** Problems as a row stores them. Those of its staging have no line. */
export const problemsOf = (stored: readonly StoredWarning[], line: number): Problem[] =>
  stored.map(({ row = line, column = null, target_field = null, code, message, value = null }) => ({
    row,
    column,
    target_field,
    code,
    message,
    value,
  }))

/** Most orders contain the number of the staged order that created them. */
const ofOrder = (importId: string, orderId: string): SQL => {
  const number = sql`(select import_number from orders where id = ${orderId} and import_id = ${importId})`
  const keys = sql`(select group_key from import_orders where order_id = ${orderId} and import_id = ${importId}
    union all select group_key from import_orders where import_id = ${importId} and outcome is null
      and group_key in ${keysOfRows(importId, sql`row_number = ${number}`)})`
  return sql`row_number in ${rowsOfKeys(importId, keys)}`
}

const withErrors = sql`errors <> '[]'`

/** The number of rows with the outcome, if it was counted. */
function countOf({ id, row_counts, total_rows, invalid_rows }: LoadedImport, filters: RowFilters): ListSource['count'] {
  const { outcome, has_errors, order_id, ...unnamed } = filters
  unnamed satisfies NoFilters
  if (row_counts === null || order_id !== undefined) return null
  const all = outcome === undefined ? total_rows : (row_counts[outcome] ?? 0)
  if (has_errors === undefined) return all
  if (outcome === 'error') return has_errors ? all : 0
  const found =
    outcome === undefined
      ? sql`(${invalid_rows} + coalesce((select rows_count from import_row_errors where import_id = ${id}), 0))`
      : sql`(select count(*) from import_rows indexed by import_rows_with_errors where ${and([sql`import_id = ${id}`, withErrors, ...ofOutcome(id, outcome)])})`
  return { statement: has_errors ? sql`select ${found} as n` : sql`select ${all} - ${found} as n` }
}

const outcomesApart: readonly RowOutcome[] = ['updated', 'skipped', 'ignored', 'cancelled']

const isApart = (outcome: RowOutcome | undefined) => outcome !== undefined && outcomesApart.includes(outcome)

/**
 * Rows of an order that was made are read as such by their order. What an index of other rows says of them stands here
 * word by word, so that it is used.
 */
const ofOutcome = (importId: string, outcome: RowOutcome): SQL[] => [
  outcome === 'created' ? sql`${outcomeOf(sql`import_rows`, importId)} = 'created'` : sql`outcome = ${outcome}`,
  ...(isApart(outcome) ? [sql`outcome in (${sql.raw(outcomesApart.map((one) => `'${one}'`).join(', '))})`] : []),
]

/** Every row with the outcome `error` has one. */
const hasErrors = ({ outcome, has_errors = outcome === 'error' }: RowFilters): boolean => has_errors

/**
 * Where a page by its number begins among all rows. Where the last row has the number of all, each row has the number of
 * its place.
 */
function startOf({ id, total_rows }: LoadedImport, filters: RowFilters, ordering: RowOrdering): ListSource['startOf'] {
  const { outcome, has_errors, order_id, ...unnamed } = filters
  unnamed satisfies NoFilters
  if (outcome !== undefined || has_errors !== undefined || order_id !== undefined) return undefined
  const isDesc = ordering[0]?.desc ?? false
  return (skipped) => {
    const inPlaces = sql`(select in_places from numbered)`
    const first = isDesc
      ? sql`row_number <= iif(${inPlaces}, ${total_rows - skipped}, ${Number.MAX_SAFE_INTEGER})`
      : sql`row_number > iif(${inPlaces}, ${skipped}, 0)`
    return {
      ctes: sql`numbered (in_places) as materialized (
        select max(row_number) = ${total_rows} from import_rows where import_id = ${id})`,
      where: [first],
      offset: sql`iif(${inPlaces}, 0, ${skipped})`,
    }
  }
}

/** SQLite would read all rows in their order. */
function indexOf(filters: RowFilters): SQL | undefined {
  if (filters.order_id !== undefined) return undefined
  if (hasErrors(filters)) return sql`import_rows_with_errors`
  return isApart(filters.outcome) ? sql`import_rows_by_outcome` : undefined
}

/** Rows of which less than this part match are not looked for one after the other. */
const largePart = 0.2

/** The number of rows with the outcome and with errors or without is not stored, but for rows that were refused. */
const isPair = ({ outcome, has_errors }: RowFilters): boolean =>
  outcome !== undefined && outcome !== 'error' && has_errors !== undefined

/** Whether rows that match are found once and kept: where a page would read many others, or is far. */
async function areKept(
  { db }: Ctx,
  { phase, row_counts, total_rows }: LoadedImport,
  page: PageRequest,
  { filters, count }: { filters: RowFilters; count: ListSource['count'] },
): Promise<boolean> {
  const { outcome, has_errors, order_id, ...unnamed } = filters
  unnamed satisfies NoFilters
  // While work is under way, rows change all the time.
  if (phase !== null || row_counts === null || order_id !== undefined) return false
  if (outcome === undefined && has_errors === undefined) return false
  if (outcome && isPair(filters)) return (row_counts[outcome] ?? 0) <= mostHitsOf(numberKeys)
  const n = typeof count === 'object' && count ? ((await db.first(count.statement))?.n ?? 0) : (count ?? 0)
  const isFarApart = indexOf(filters) === undefined && n < largePart * total_rows
  return n > 0 && n <= mostHitsOf(numberKeys) && (isFarPage(page) || isFarApart)
}

/** Rows change with the version of their import, or get errors. */
const stateOf = (
  ctx: Ctx,
  { id, total_rows }: LoadedImport,
  filters: RowFilters,
  ordering: RowOrdering,
): ListState => ({
  asked: ['import_rows', id, sortedFilters(filters), ordering],
  keys: numberKeys,
  version: sql`(select version * 16777216 + coalesce((select rows_count from import_row_errors where import_id = ${id}), 0)
    from data_imports where id = ${id})`,
  rows: sql`${total_rows}`,
  keepsOrder: true,
  now: ctx.now,
  afterCommit: ctx.afterCommit,
})

interface RowQuery {
  ordering: RowOrdering
  filters: RowFilters
}

export async function listImportRows(
  ctx: Ctx,
  row: LoadedImport,
  page: PageRequest,
  { ordering, filters }: RowQuery,
): Promise<Page<ListedRow>> {
  if (row.rows_deleted_at !== null) throw dataDeleted('The rows of this import were deleted 30 days after its end.')
  const { id } = row
  const { outcome, has_errors, order_id, ...unnamed } = filters
  unnamed satisfies NoFilters
  const count = countOf(row, filters)
  const key = sql`row_number`
  const source: ListSource<ReturnType<typeof listedFields>> = {
    from: sql`import_rows`,
    // SQLite finds no way by an index to the rows of an impossible condition.
    index: count === 0 ? undefined : indexOf(filters),
    key,
    where: [
      sql`import_id = ${id}`,
      ...(count === 0 ? [sql`0`] : []),
      ...(outcome === undefined ? [] : ofOutcome(id, outcome)),
      ...(hasErrors(filters) ? [withErrors] : []),
      ...(has_errors === false ? [sql`errors = '[]'`] : []),
      ...(order_id === undefined ? [] : [ofOrder(id, order_id)]),
    ],
    sort: sortBy(ordering, 'row_number', { row_number: key }),
    columns: listedFields(id),
    joins: sql`join import_rows r on r.import_id = ${id} and r.row_number = page.key
      left join import_orders o on o.import_id = ${id} and o.group_key = r.group_key`,
    count,
    startOf: startOf(row, filters, ordering),
  }
  const rows = (await areKept(ctx, row, page, { filters, count }))
    ? await paginateKept(ctx.db, page, {
        source,
        state: stateOf(ctx, row, filters, ordering),
      })
    : await paginate(ctx.db, page, source)
  const headers = await headersOf(ctx.db, id)
  return { ...rows, rows: rows.rows.map((one) => ({ ...one, headers })) }
}
