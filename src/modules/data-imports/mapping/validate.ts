import type { Ctx } from '../../../context.ts'
import { decideRow } from '../../../domain/data-imports/mapping/index.ts'
import { checkAction } from '../begin.ts'
import { type ColumnView, readFirstDataRows } from '../columns/columns.ts'
import type { MappingIssue } from './issues.ts'

const checkedRows = 1000
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

const getColumnName = ({ state }: ColumnView, column: number | null): string | null =>
  column === null ? null : (state.columns[column]?.source_column ?? null)

const toValidationProblem = (
  view: ColumnView,
  { column, target_field, code, message }: MappingIssue,
): ValidationProblem => ({
  row: null,
  column: getColumnName(view, column),
  source_index: column,
  target_field,
  code,
  message,
  value: null,
})

async function findRowProblems(
  ctx: Ctx,
  view: ColumnView,
): Promise<{ rowProblems: ValidationProblem[]; checked: number }> {
  const rows = await readFirstDataRows(ctx, view.row, checkedRows)
  const rowProblems = rows.flatMap(({ cells, line, fault }): ValidationProblem[] => {
    if (fault)
      return [
        {
          row: line,
          column: getColumnName(view, fault.column - 1),
          source_index: fault.column - 1,
          target_field: null,
          code: fault.code === 'too_many_cells' ? 'column_count' : fault.code,
          message: fault.message,
          value: null,
        },
      ]
    return decideRow(view.prepared.readers, cells).errors.map(({ column, target_field, code, message, value }) => ({
      row: line,
      column: getColumnName(view, column),
      source_index: column,
      target_field,
      code,
      message,
      value,
    }))
  })
  return { rowProblems, checked: rows.length }
}

export async function validateColumns(ctx: Ctx, view: ColumnView): Promise<MappingValidation> {
  checkAction(ctx, view.row, 'validate', 'validated')
  const { errors, warnings } = view.issues
  const { rowProblems, checked } = await findRowProblems(ctx, view)
  const mappingProblems = errors.map((issue) => toValidationProblem(view, issue))
  return {
    is_valid: errors.length === 0,
    missing_required: view.prepared.missing_required,
    duplicate_targets: [
      ...new Set(errors.flatMap(({ code, target_field }) => (code === 'duplicate_target' ? [target_field] : []))),
    ],
    unmapped_columns: view.state.columns
      .filter(({ target_field, is_ignored }) => target_field === null && !is_ignored)
      .map(({ source_column }) => source_column),
    errors: [...mappingProblems, ...rowProblems].slice(0, maxErrors),
    warnings: warnings.map((issue) => toValidationProblem(view, issue)).slice(0, maxErrors),
    checked_rows: checked,
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
