import { sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import { countRows, type RowCounts, type RowOutcome } from '../../../domain/data-imports/data-imports.ts'
import type { OrderRecord } from '../../order-import/index.ts'
import { selectRowNumbers } from '../background/staged.ts'
import type { ImportChanges, ImportRow } from '../background/steps.ts'
import type { PlannedOrder } from './plan-orders.ts'
import { maxProblems, type ImportProblem, buildImportProblem } from './problems.ts'
import { type FileOrder, maxRowsPerOrder } from './read-orders.ts'

/** An order or a customer of the file, and what became of it. */
type PlannedUnit = Pick<PlannedOrder, 'outcome' | 'order_id' | 'problems' | 'warnings'> & {
  fileOrder: Pick<FileOrder, 'stagedOrder' | 'rowNumbers' | 'lines' | 'ignoredRowNumbers'>
  user_id?: string | null
}

/** Assigns problems to the rows of their lines. Every other row of a refused order gets a reason, too. */
function assignProblems({ fileOrder, outcome, problems, warnings }: PlannedUnit) {
  const pickLine = (all: readonly ImportProblem[], line: number) =>
    all.filter(({ row }) => row === line).slice(0, maxProblems)
  const [first] = problems
  return fileOrder.rowNumbers.map((number, index) => {
    const line = fileOrder.lines[index] ?? 0
    const lineProblems = pickLine(problems, line)
    const reason = first && `Line ${first.row} of the same order: ${first.message}`
    const errors =
      lineProblems.length > 0 || !reason ? lineProblems : [buildImportProblem(line, null, 'order_refused', reason)]
    return { number, outcome, errors, warnings: pickLine(warnings, line) }
  })
}

const toJsonOrNull = (problems: readonly ImportProblem[]): string | null =>
  problems.length === 0 ? null : JSON.stringify(problems)

/**
 * Writes the outcome and the problems of rows. Rows of a created order without warnings are left out, because they have
 * the outcome of their order. Each value contains the import's id, so that SQLite looks rows up by their key.
 */
function buildRowStatements(importId: string, orders: readonly PlannedUnit[]): Statement[] {
  const rows = orders.flatMap((order) => [
    ...assignProblems(order).flatMap(({ number, outcome, errors, warnings }) =>
      outcome === 'created' && warnings.length === 0
        ? []
        : JSON.stringify([importId, number, outcome, toJsonOrNull(errors), toJsonOrNull(warnings)]),
    ),
    ...order.fileOrder.ignoredRowNumbers.map((number) => JSON.stringify([importId, number, 'ignored', null, null])),
  ])
  const tooLongOrders = orders.filter(({ fileOrder }) => fileOrder.stagedOrder.rows_count > maxRowsPerOrder)
  return [
    ...splitIntoParameters(rows).map(
      (part): Statement => sql`update import_rows set outcome = processed.value ->> 2,
        errors = coalesce(processed.value ->> 3, '[]'), warnings = coalesce(processed.value ->> 4, '[]')
        from json_each(${`[${part.join(',')}]`}) as processed
        where import_rows.import_id = processed.value ->> 0 and import_rows.row_number = processed.value ->> 1`,
    ),
    ...tooLongOrders.map(
      ({ fileOrder: { stagedOrder }, problems }): Statement => sql`update import_rows set outcome = 'error',
        errors = ${JSON.stringify(problems)} where import_id = ${importId}
          and row_number in ${selectRowNumbers(importId, sql`(${stagedOrder.group_key})`)}`,
    ),
  ]
}

export function buildOutcomeStatements(
  importId: string,
  orders: readonly PlannedUnit[],
  records: readonly (Omit<OrderRecord, 'outcome'> & { outcome: { index: number } })[],
): Statement[] {
  const recordsByIndex = new Map(records.map((one) => [one.outcome.index, one]))
  const outcomes = orders.map(({ fileOrder, outcome, order_id, user_id = null, problems, warnings }, index) => {
    const record = recordsByIndex.get(index)
    return JSON.stringify([
      importId,
      fileOrder.stagedOrder.number,
      outcome,
      order_id,
      record?.order_version ?? null,
      record?.undo ? JSON.stringify(record.undo) : null,
      JSON.stringify(problems.slice(0, maxProblems)),
      JSON.stringify(warnings.slice(0, maxProblems)),
      user_id,
    ])
  })
  return [
    ...splitIntoParameters(outcomes).map(
      (
        part,
      ): Statement => sql`update import_orders set outcome = processed.value ->> 2, order_id = processed.value ->> 3,
        order_version = processed.value ->> 4, undo_data = processed.value ->> 5,
        errors = processed.value ->> 6, warnings = processed.value ->> 7, user_id = processed.value ->> 8
        from json_each(${`[${part.join(',')}]`}) as processed
        where import_orders.import_id = processed.value ->> 0 and import_orders.number = processed.value ->> 1`,
    ),
    ...buildRowStatements(importId, orders),
  ]
}

/** Counts rows by the outcome that `buildRowStatements` writes. */
function countRowsByOutcome(orders: readonly PlannedUnit[]): RowCounts {
  const counts: RowCounts = {}
  const add = (outcome: RowOutcome, rows: number) => (counts[outcome] = (counts[outcome] ?? 0) + rows)
  for (const { fileOrder, outcome } of orders) {
    const ignoredCount = fileOrder.ignoredRowNumbers.length
    add('ignored', ignoredCount)
    add(outcome, fileOrder.stagedOrder.rows_count - ignoredCount)
  }
  return counts
}

export function buildCounters(row: ImportRow, orders: readonly PlannedUnit[]) {
  const count = (outcome: PlannedUnit['outcome']) => orders.filter((order) => order.outcome === outcome).length
  return {
    created_orders: row.created_orders + count('created'),
    updated_orders: row.updated_orders + count('updated'),
    skipped_orders: row.skipped_orders + count('skipped'),
    failed_orders: row.failed_orders + count('error'),
    row_counts: countRows(row.row_counts, countRowsByOutcome(orders)),
    processed_rows:
      row.processed_rows + orders.reduce((rows, { fileOrder }) => rows + fileOrder.stagedOrder.rows_count, 0),
  } satisfies ImportChanges
}
