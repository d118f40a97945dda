import type { Ctx } from '../../../context.ts'
import { listChangeableEditions } from '../../../db/customers.ts'
import { canonicalRangeLength, type IndexedRow } from '../../../domain/data-imports/files/canonical.ts'
import { decideRow, getGroupKey, type PlacedRow } from '../../../domain/data-imports/mapping/index.ts'
import type { FieldError } from '../../../domain/errors.ts'
import { checkOrder } from '../../order-import/index.ts'
import { checkAction } from '../begin.ts'
import { type ColumnView, readFirstDataRows } from '../columns/columns.ts'
import { type ImportProblem, toProblem } from '../run/problems.ts'
import { readCustomer } from '../run/read-customers.ts'
import { mapRows } from '../run/read-orders.ts'
import { loadSetting, type RunSetting } from '../run/setting.ts'
import { placeRow, stageRow } from '../staging/stage-rows.ts'
import type { MappingIssue } from './issues.ts'
import { decideGrouping } from './state.ts'

const maxCheckedRows = 1000
const maxErrors = 100

interface ValidationProblem {
  row: number | null
  column: string | null
  source_index: number | null
  target_field: string | null
  code: string
  message: string
  value: string | null
}

export interface MappingValidation {
  is_valid: boolean
  missing_required: readonly string[]
  duplicate_targets: readonly string[]
  unmapped_columns: readonly string[]
  errors: readonly ValidationProblem[]
  warnings: readonly ValidationProblem[]
  checked_rows: number
}

function toValidationProblem(
  { state }: ColumnView,
  { column, ...problem }: MappingIssue | ImportProblem,
): ValidationProblem {
  const { target_field, code, message } = problem
  const [row, value] = 'row' in problem ? [problem.row, problem.value] : [null, null]
  const name = column === null ? null : (state.columns[column]?.source_column ?? null)
  return { row, column: name, source_index: column, target_field, code, message, value }
}

interface KeyedRow {
  row: PlacedRow
  /** Null for a row that belongs to no order. */
  key: string | null
}

/** Reads a row as it will be staged. */
function readRow({ row, preparedMappings, state }: ColumnView, one: IndexedRow, number: number): KeyedRow {
  const group_by = decideGrouping(state)
  const mappedRow = decideRow(preparedMappings.readers, one.cells, preparedMappings.total_reader, one.filledColumns)
  const key = group_by === 'row' ? String(number) : getGroupKey(mappedRow, group_by)
  const stagedRow = stageRow({ row: one, place: placeRow(one, row.id, number), mappedRow, key }, group_by).row
  const placedRow = {
    currency_mark: null,
    ...stagedRow.data,
    errors: stagedRow.errors,
    is_ignored: false,
    line: one.line,
  }
  return { key: stagedRow.group_key, row: placedRow }
}

interface RowProblems {
  errors: readonly ImportProblem[]
  warnings: readonly ImportProblem[]
}

const listRowErrors = (rows: readonly KeyedRow[]): ImportProblem[] =>
  rows.flatMap(({ row: { errors, line } }) => errors.map((error) => ({ ...error, row: line })))

/** Maps the rows of an order and checks it like a new one, as the preview does. */
function checkRows(ctx: Ctx, setting: RunSetting, rows: readonly PlacedRow[], key: string): RowProblems {
  if (setting.row.kind === 'customers') {
    const changeable = listChangeableEditions(ctx.caller, setting.row.organization_id)
    const { problems, warnings } = readCustomer(setting, rows, { changeable, now: ctx.now() })
    return { errors: problems, warnings }
  }
  const { mappedOrder, order, problems, warnings } = mapRows(setting, rows, { row_key: key })
  if (!mappedOrder || !order) return { errors: problems, warnings }
  const check = checkOrder(setting.edition, { index: 0, path: [], order }, { order: undefined, payment: undefined })
  const toProblems = (errors: readonly FieldError[]) => errors.map((error) => toProblem(mappedOrder, error))
  return { errors: toProblems(check.errors), warnings: [...warnings, ...toProblems(check.warnings)] }
}

async function checkFirstRows(ctx: Ctx, view: ColumnView): Promise<RowProblems & { checkedRows: number }> {
  const { row, issues } = view
  const fileRows = await readFirstDataRows(ctx, row, maxCheckedRows)
  const rows = fileRows.map((one, index) => readRow(view, one, index + 1))
  const checkedRows = rows.length
  // Every order would lack what is not mapped yet.
  if (issues.errors.length > 0) return { errors: listRowErrors(rows), warnings: [], checkedRows }
  const setting = await loadSetting(ctx.db, row)
  // The last order may go on behind the rows that are checked.
  const isWholeFile = checkedRows < maxCheckedRows && (row.canonical_size ?? 0) <= canonicalRangeLength
  const lastKey = isWholeFile ? null : (rows.at(-1)?.key ?? null)
  const isWhole = ({ key }: KeyedRow) => key !== null && key !== lastKey
  const orders = [...Map.groupBy(rows.filter(isWhole), ({ key }) => key ?? '')].map(([key, members]) =>
    checkRows(
      ctx,
      setting,
      members.map((one) => one.row),
      key,
    ),
  )
  const otherErrors = listRowErrors(rows.filter((one) => !isWhole(one)))
  const sortByRow = (problems: readonly ImportProblem[]) => problems.toSorted((one, other) => one.row - other.row)
  return {
    errors: sortByRow([...otherErrors, ...orders.flatMap(({ errors }) => errors)]),
    warnings: sortByRow(orders.flatMap(({ warnings }) => warnings)),
    checkedRows,
  }
}

export async function validateColumnMappings(ctx: Ctx, view: ColumnView): Promise<MappingValidation> {
  checkAction(ctx, view.row, 'validate', 'validated')
  const { errors, warnings } = view.issues
  const problems = await checkFirstRows(ctx, view)
  const present = (all: readonly (MappingIssue | ImportProblem)[]) =>
    all.slice(0, maxErrors).map((problem) => toValidationProblem(view, problem))
  return {
    is_valid: errors.length === 0,
    missing_required: view.preparedMappings.missing_required,
    duplicate_targets: [
      ...new Set(errors.flatMap(({ code, target_field }) => (code === 'duplicate_target' ? [target_field] : []))),
    ],
    unmapped_columns: view.state.columns
      .filter(({ target_field, is_ignored }) => target_field === null && !is_ignored)
      .map(({ source_column }) => source_column),
    errors: present([...errors, ...problems.errors]),
    warnings: present([...warnings, ...problems.warnings]),
    checked_rows: problems.checkedRows,
  }
}

export const presentMappingValidation = (validation: MappingValidation) => ({
  ...validation,
  missing_required: [...validation.missing_required],
  duplicate_targets: [...validation.duplicate_targets],
  unmapped_columns: [...validation.unmapped_columns],
  errors: [...validation.errors],
  warnings: [...validation.warnings],
})
