import { sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import { countRows, type RowCounts, type RowOutcome } from '../../../domain/data-imports/data-imports.ts'
import type { RecordedOrder } from '../../order-import/index.ts'
import type { ImportChanges, ImportRow } from '../background/steps.ts'
import { selectRowNumbers } from '../background/staged.ts'
import type { PlannedOrder } from './plan-orders.ts'
import { maxProblems, type ImportProblem, buildImportProblem } from './problems.ts'
import { maxRowsPerOrder } from './read-orders.ts'

/** Every row of a refused order gets a reason. */
function assignProblems({ read, outcome, problems, warnings }: PlannedOrder) {
  const ofLine = (all: readonly ImportProblem[], line: number) =>
    all.filter(({ row }) => row === line).slice(0, maxProblems)
  const [first] = problems
  return read.kept.map((number, index) => {
    const line = read.lines[index] ?? 0
    const lineProblems = ofLine(problems, line)
    const reason = first && `Line ${first.row} of the same order: ${first.message}`
    const errors =
      lineProblems.length > 0 || !reason ? lineProblems : [buildImportProblem(line, null, 'order_refused', reason)]
    return { number, outcome, errors, warnings: ofLine(warnings, line) }
  })
}

const toJsonOrNull = (problems: readonly ImportProblem[]): string | null =>
  problems.length === 0 ? null : JSON.stringify(problems)

/**
 * Writes the outcome and the reason of each row that does not simply belong to a created order. SQLite looks a row up
 * by its key only if each value contains the import's id too.
 */
function buildRowStatements(importId: string, orders: readonly PlannedOrder[]): Statement[] {
  const rows = orders.flatMap((order) => [
    ...assignProblems(order).flatMap(({ number, outcome, errors, warnings }) =>
      outcome === 'created' && warnings.length === 0
        ? []
        : JSON.stringify([importId, number, outcome, toJsonOrNull(errors), toJsonOrNull(warnings)]),
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
          and row_number in ${selectRowNumbers(importId, sql`(${row.group_key})`)}`,
    ),
  ]
}

export function buildOutcomeStatements(
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
        order_version = decided.value ->> 4, undo_data = decided.value ->> 5,
        errors = decided.value ->> 6, warnings = decided.value ->> 7
        from json_each(${`[${part.join(',')}]`}) as decided
        where import_orders.import_id = decided.value ->> 0 and import_orders.number = decided.value ->> 1`,
    ),
    ...buildRowStatements(importId, orders),
  ]
}

/** Rows of the orders by their outcome, as `buildRowStatements` writes it. */
function countRowsByOutcome(orders: readonly PlannedOrder[]): RowCounts {
  const counts: RowCounts = {}
  const add = (outcome: RowOutcome, rows: number) => (counts[outcome] = (counts[outcome] ?? 0) + rows)
  for (const { read, outcome } of orders) {
    add('ignored', read.ignored.length)
    add(outcome, read.row.rows_count - read.ignored.length)
  }
  return counts
}

export function buildCounters(row: ImportRow, orders: readonly PlannedOrder[]) {
  const count = (outcome: PlannedOrder['outcome']) => orders.filter((order) => order.outcome === outcome).length
  return {
    created_orders: row.created_orders + count('created'),
    updated_orders: row.updated_orders + count('updated'),
    skipped_orders: row.skipped_orders + count('skipped'),
    failed_orders: row.failed_orders + count('error'),
    row_counts: countRows(row.row_counts, countRowsByOutcome(orders)),
    processed_rows: row.processed_rows + orders.reduce((rows, { read }) => rows + read.row.rows_count, 0),
  } satisfies ImportChanges
}
