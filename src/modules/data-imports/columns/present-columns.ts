import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import type { ImportKind } from '../../../domain/data-imports/import-kinds.ts'
import { listAliasTexts, buildTargetFields } from '../../../domain/data-imports/mapping/index.ts'
import { type EditionConsent, getStatistics } from '../mapping/state.ts'
import type { ColumnMapping, ColumnMappings, TargetFieldShape } from './column-contract.ts'
import { type ColumnView, type ColumnWithIssues, readFirstDataRows, addIssues } from './columns.ts'

const sampleRows = 20
const sampleLength = 200

const aliasesByTarget = new Map<string, readonly string[]>()

/** A target has thousands of aliases in all languages. The first ones show what is known. */
const maxAliases = 100

/** Aliases are cached, because they never change and every list of columns needs them. */
function getAliases(target: string): readonly string[] {
  const aliases = aliasesByTarget.get(target) ?? listAliasTexts(target).slice(0, maxAliases)
  if (!target.startsWith('consent.')) aliasesByTarget.set(target, aliases)
  return aliases
}

export const presentTargetFields = (
  consents: readonly EditionConsent[],
  kind: ImportKind = 'orders',
): z.input<typeof TargetFieldShape>[] =>
  buildTargetFields(consents, kind).map(({ key, label, type, is_required, one_of, group }) => ({
    key,
    label,
    type,
    is_required,
    one_of,
    group,
    aliases: [...getAliases(key)],
  }))

export function presentColumn(column: ColumnWithIssues): z.input<typeof ColumnMapping> {
  const { type, ...args } = column.transform
  const statistics = getStatistics(column)
  return {
    id: column.id,
    source_column: column.source_column,
    source_index: column.source_index,
    sample_values: [...column.sample_values],
    target_field: column.target_field,
    target_position: column.target_position,
    confidence: column.confidence,
    is_suggested: column.is_suggested,
    suggested_by: column.suggested_by,
    is_required: column.is_required,
    is_ignored: column.is_ignored,
    default_value: column.default_value,
    transform: { type, args },
    value_map: column.value_map && { ...column.value_map },
    filled_cells: statistics?.filled_cells ?? 0,
    blank_cells: statistics?.blank_cells ?? 0,
    errors: column.issues.map(({ code, target_field, message }) => ({ code, target_field, message })),
  }
}

export async function loadColumnExtras(ctx: Ctx, { row, state }: ColumnView) {
  const rows = await readFirstDataRows(ctx, row, sampleRows)
  return {
    constants: state.constants.map(({ target_field, value, suggested_by }) => ({ target_field, value, suggested_by })),
    target_fields: presentTargetFields(state.consents, state.place.kind),
    sample_rows: rows.map(({ line, cells }) => ({ line, cells: cells.map((cell) => cell.slice(0, sampleLength)) })),
  }
}

export interface ColumnsWithExtras {
  view: ColumnView
  extras: Awaited<ReturnType<typeof loadColumnExtras>>
}

export const presentColumns = ({ view, extras }: ColumnsWithExtras): z.input<typeof ColumnMappings> => ({
  count: view.state.columns.length,
  next: null,
  previous: null,
  results: view.state.columns.map((column) => presentColumn(addIssues(column, view))),
  ...extras,
})
