import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { importColumns, importConstants } from '../../../db/schema/data-imports.ts'
import { insert, update } from '../../../db/write.ts'
import { readOptions } from '../../../domain/data-imports/data-imports.ts'
import { type SuggestedMapping, suggestImport } from '../../../domain/data-imports/mapping/index.ts'
import { endPhase, type ImportRow } from '../background/steps.ts'
import {
  emptyStaging,
  type ColumnRow,
  loadReadingPlace,
  decideGrouping,
  loadMapping,
  type MappingState,
  prepareState,
  getStatistics,
  summarizeColumns,
} from '../mapping/state.ts'
import { loadHeaderHistory } from './history.ts'
import { buildCanonicalPrefix, getFormat } from '../mapping/source.ts'

/** The name of the other system when it was not detected from the file. */
const unknownSource = 'file'
const maxObjects = 1000

const isDecided = ({ is_suggested, is_ignored, target_field }: ColumnRow): boolean =>
  !is_suggested && (is_ignored || target_field !== null)

function pickOpenSuggestions(state: MappingState, mappings: readonly SuggestedMapping[]): SuggestedMapping[] {
  const usedColumns = new Set(state.columns.filter(isDecided).map(({ source_index }) => source_index))
  const targets = new Set([
    ...state.columns.filter(isDecided).map(({ target_field }) => target_field),
    ...state.constants.map(({ target_field }) => target_field),
  ])
  return mappings.filter(({ target, columns }) => {
    const isOpen = !targets.has(target) && !columns.some((column) => usedColumns.has(column))
    if (isOpen) for (const column of columns) usedColumns.add(column)
    return isOpen
  })
}

const buildColumnChanges = (one: SuggestedMapping, target_position: number): Partial<ColumnRow> => ({
  target_field: one.target,
  target_position,
  is_suggested: true,
  confidence: one.confidence,
  default_value: one.default_value ?? null,
  transform: one.transform ?? { type: 'none' },
  value_map: one.value_map ?? null,
})

function applySuggestions(
  { id }: ImportRow,
  state: MappingState,
  open: readonly SuggestedMapping[],
): { state: MappingState; statements: Statement[] } {
  const byColumn = new Map(
    open.flatMap((one) => one.columns.map((column, position) => [column, buildColumnChanges(one, position)] as const)),
  )
  const constants = open.flatMap(({ target, columns, constant }) =>
    constant === undefined || constant === null || columns.length > 0
      ? []
      : [{ import_id: id, target_field: target, value: constant }],
  )
  const columns = state.columns.map((column) => ({ ...column, ...byColumn.get(column.source_index) }))
  return {
    state: { ...state, columns, constants: [...state.constants, ...constants] },
    statements: [
      ...[...byColumn].map(([index, changes]) =>
        update(importColumns, changes, sql`import_id = ${id} and source_index = ${index}`),
      ),
      ...constants.map((row) => insert(importConstants, row)),
    ],
  }
}

/** Deletes objects that earlier readings of the file and lost races left behind. */
async function buildOrphanStatements(job: JobCtx, row: ImportRow): Promise<Statement[]> {
  const usedKeys = new Set(getFormat(row).segments.map(({ key }) => key))
  const listed = await job.files.list({ prefix: buildCanonicalPrefix(row.id), after: '', limit: maxObjects })
  const orphans = listed.map(({ key }) => key).filter((key) => !usedKeys.has(key))
  if (orphans.length === 0) return []
  return [
    sql`insert into objects_to_delete (storage_key, created_at) select value, ${job.now()}
      from json_each(${JSON.stringify(orphans)}) where true on conflict do nothing`,
  ]
}

export async function suggestStep(job: JobCtx, row: ImportRow): Promise<null> {
  const options = readOptions(row.options)
  const place = await loadReadingPlace(job.db, row)
  const state = await loadMapping(job.db, row.id, place, options)
  const { detected_source, mappings, group_by } = suggestImport({
    columns: state.columns.map((column) => ({ header: column.source_column, statistics: getStatistics(column) })),
    consents: state.consents,
    history: await loadHeaderHistory(job.db, row.organization_id, state.columns),
    now: job.now(),
  })
  const suggested = applySuggestions(row, state, pickOpenSuggestions(state, mappings))
  // Without an id, the grouping stays undecided, because the user may still map a column to it.
  const hasId = decideGrouping(suggested.state) === 'external_id'
  const finalOptions = {
    ...options,
    group_by: options.group_by ?? group_by ?? (hasId ? ('external_id' as const) : null),
  }
  const finalState = { ...suggested.state, options: finalOptions }
  return endPhase(job, row, {
    status: 'mapping_columns',
    changes: {
      ...emptyStaging,
      options: finalOptions,
      detected_source,
      external_source: row.external_source ?? detected_source?.source ?? unknownSource,
      column_summary: summarizeColumns(finalState, prepareState(finalState, job.now())),
    },
    statements: [...suggested.statements, ...(await buildOrphanStatements(job, row))],
  })
}
