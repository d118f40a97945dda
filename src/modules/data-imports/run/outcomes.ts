import { sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import { countRows, type RowCounts, type RowOutcome } from '../../../domain/data-imports/data-imports.ts'
import type { RecordedOrder } from '../../order-import/index.ts'
import type { ImportChanges, ImportRow } from '../background/steps.ts'
import { rowsOfKeys } from '../background/staged-orders.ts'
import type { PlannedOrder } from './plan-orders.ts'
import { maxProblems, type Problem, problemAt } from './problems.ts'
import { maxRowsPerOrder } from './read-orders.ts'

/** What of an order's problems stands at each of its rows: every row of a refused order has a reason. */
function problemsByRow({ read, outcome, problems, warnings }: PlannedOrder) {
  const ofLine = (all: readonly Problem[], line: number) => all.filter(({ row }) => row === line).slice(0, maxProblems)
  const [first] = problems
  return read.kept.map((number, index) => {
    const line = read.lines[index] ?? 0
    const own = ofLine(problems, line)
    const reason = first && `Line ${first.row} of the same order: ${first.message}`
    const errors = own.length > 0 || !reason ? own : [problemAt(line, null, 'order_refused', reason)]
    return { number, outcome, errors, warnings: ofLine(warnings, line) }
  })
}

const jsonOrNull = (problems: readonly Problem[]): string | null =>
  problems.length === 0 ? null : JSON.stringify(problems)

/**
 * Of each row that is not simply of a created order: its outcome with the reason. The import's id comes with each row,
 * because the database looks each row up by its key only where both parts of the key do.
 */
function rowStatements(importId: string, orders: readonly PlannedOrder[]): Statement[] {
  const rows = orders.flatMap((order) => [
    ...problemsByRow(order).flatMap(({ number, outcome, errors, warnings }) =>
      outcome === 'created' && warnings.length === 0
        ? []
        : JSON.stringify([importId, number, outcome, jsonOrNull(errors), jsonOrNull(warnings)]),
    ),
    ...order.read.ignored.map((number) => JSON.stringify([importId, number, 'ignored', null, null])),
  ])
  const long = orders.filter(({ read }) => read.row.rows_count > maxRowsPerOrder)
  return [
    ...splitIntoParameters(rows).map(
      (part): Statement => sql`update import_rows set outcome = decided.value ->> 2,
        errors = coalesce(decided.value ->> 3, '[]'), warnings = coalesce(decided.value ->> 4, '[]')
        from json_each(${`[${part.join(',')}]`}) as decided
        where import_rows.import_id = decided.value ->> 0 and import_rows.row_number = decided.value ->> 1`,
    ),
    ...long.map(
      ({ read: { row }, problems }): Statement => sql`update import_rows set outcome = 'error',
        errors = ${JSON.stringify(problems)} where import_id = ${importId}
          and row_number in ${rowsOfKeys(importId, sql`(${row.group_key})`)}`,
    ),
  ]
}

/** The outcome of each order, and what an undo of it needs. */
export function outcomeStatements(
  importId: string,
  orders: readonly PlannedOrder[],
  recorded: readonly RecordedOrder[],
): Statement[] {
  const records = new Map(recorded.map((one) => [one.outcome.index, one]))
  const outcomes = orders.map(({ read, outcome, order_id, problems, warnings }, index) => {
    const record = records.get(index)
    return JSON.stringify([
      importId,
      read.row.number,
      outcome,
      order_id,
      record?.order_version ?? null,
      record?.before ? JSON.stringify(record.before) : null,
      JSON.stringify(problems.slice(0, maxProblems)),
      JSON.stringify(warnings.slice(0, maxProblems)),
    ])
  })
  return [
    ...splitIntoParameters(outcomes).map(
      (part): Statement => sql`update import_orders set outcome = decided.value ->> 2, order_id = decided.value ->> 3,
        order_version = decided.value ->> 4, before = decided.value ->> 5,
        errors = decided.value ->> 6, warnings = decided.value ->> 7
        from json_each(${`[${part.join(',')}]`}) as decided
        where import_orders.import_id = decided.value ->> 0 and import_orders.number = decided.value ->> 1`,
    ),
    ...rowStatements(importId, orders),
  ]
}

/** Rows of the orders by their outcome, as `rowStatements` writes it. */
function rowCounts(orders: readonly PlannedOrder[]): RowCounts {
  const counts: RowCounts = {}
  const add = (outcome: RowOutcome, rows: number) => (counts[outcome] = (counts[outcome] ?? 0) + rows)
  for (const { read, outcome } of orders) {
    add('ignored', read.ignored.length)
    add(outcome, read.row.rows_count - read.ignored.length)
  }
  return counts
}

/** The counters of the import after these orders. */
export function countersAfter(row: ImportRow, orders: readonly PlannedOrder[]) {
  const count = (outcome: PlannedOrder['outcome']) => orders.filter((order) => order.outcome === outcome).length
  return {
    created_orders: row.created_orders + count('created'),
    updated_orders: row.updated_orders + count('updated'),
    skipped_orders: row.skipped_orders + count('skipped'),
    failed_orders: row.failed_orders + count('error'),
    row_counts: countRows(row.row_counts, rowCounts(orders)),
    processed_rows: row.processed_rows + orders.reduce((rows, { read }) => rows + read.row.rows_count, 0),
  } satisfies ImportChanges
}
