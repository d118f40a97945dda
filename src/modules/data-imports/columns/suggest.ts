import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { importColumns, importConstants } from '../../../db/schema/data-imports.ts'
import { insert, update } from '../../../db/write.ts'
import type { StoredSource } from '../../../domain/data-imports/data-imports.ts'
import {
  buildHeaderKey,
  detectSource,
  findQuestions,
  findTargetField,
  recallMappings,
  type SuggestedMapping,
  suggestImport,
  toOrigin,
} from '../../../domain/data-imports/mapping/index.ts'
import { sha256OfShort, toHex } from '../../../domain/text/encoding.ts'
import { endPhase, type ImportRow } from '../background/steps.ts'
import {
  emptyStaging,
  type ColumnRow,
  type ConstantRow,
  loadReadingPlace,
  decideGrouping,
  loadMapping,
  type MappingState,
  prepareState,
  getStatistics,
  summarizeColumns,
} from '../mapping/state.ts'
import {
  findSourceByHeaders,
  listMemoryOwners,
  listSourceHeaders,
  loadHeaderHistory,
  loadSourceMemory,
  recallOptions,
} from './history.ts'
import { getFormat } from '../mapping/source.ts'
import { deleteParts } from '../retention/files.ts'

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
  suggested_by: toOrigin(one.reason),
  confidence: one.confidence,
  default_value: one.default_value ?? null,
  transform: one.transform ?? { type: 'none' },
  value_map: one.value_map ?? null,
})

function applySuggestions(
  { id }: ImportRow,
  state: MappingState,
  open: readonly SuggestedMapping[],
  remembered: Readonly<Record<string, string>>,
): { state: MappingState; statements: Statement[] } {
  const byColumn = new Map(
    open.flatMap((one) => one.columns.map((column, position) => [column, buildColumnChanges(one, position)] as const)),
  )
  const suggested = open.flatMap(({ target, columns, constant, reason }): ConstantRow[] =>
    constant === undefined || constant === null || columns.length > 0 || Object.hasOwn(remembered, target)
      ? []
      : [{ import_id: id, target_field: target, value: constant, suggested_by: toOrigin(reason) }],
  )
  const decided = new Set(state.constants.map(({ target_field }) => target_field))
  const recalled = Object.entries(remembered).flatMap(([target_field, value]): ConstantRow[] =>
    decided.has(target_field) || !findTargetField(target_field, state.consents)
      ? []
      : [{ import_id: id, target_field, value, suggested_by: 'memory' }],
  )
  const constants = [...suggested, ...recalled]
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

/** Stores the questions about columns. The statuses of a known export are known. */
function askAboutColumns(
  { columns, constants }: MappingState,
  history: ReadonlyMap<string, string | null>,
  { id_columns, isPreset }: { id_columns: readonly number[]; isPreset: boolean },
): { columns: readonly ColumnRow[]; statement: Statement } {
  const questions = findQuestions({
    columns: columns.map((column) => ({
      header: column.source_column,
      statistics: getStatistics(column),
      target: column.target_field,
      is_left_out: column.is_ignored || history.get(buildHeaderKey(column.source_column)) === null,
    })),
    targets: new Set([...columns, ...constants].flatMap(({ target_field }) => target_field ?? [])),
    id_columns,
  })
  const getQuestion = ({ source_index }: ColumnRow) => {
    const question = questions.get(source_index) ?? null
    return isPreset && question === 'status' ? null : question
  }
  const importId = columns[0]?.import_id ?? ''
  const pairs = JSON.stringify(Object.fromEntries(columns.map((one) => [one.source_index, getQuestion(one)])))
  return {
    columns: columns.map((column) => ({ ...column, question: getQuestion(column) })),
    statement: sql`update import_columns set question = ${pairs} ->> ('$.' || source_index) where import_id = ${importId}`,
  }
}

/** Earlier readings and lost races leave objects that the canonical copy does not use. */
const deleteOrphans = (job: JobCtx, row: ImportRow): Promise<Statement[]> =>
  deleteParts(
    job,
    row.id,
    getFormat(row).segments.map(({ key }) => key),
  )

/** Keeps the name that the user gave. Other names belong to the file that was read. */
async function decideSource(
  job: JobCtx,
  row: ImportRow,
  names: readonly string[],
  detected: StoredSource | null,
): Promise<{ external_source: string } & Pick<ImportRow, 'source_suggested_by'>> {
  const { external_source, source_suggested_by } = row
  if (external_source !== null && source_suggested_by === null) return { external_source, source_suggested_by }
  const headers = listSourceHeaders(names)
  const remembered = await findSourceByHeaders(job.db, listMemoryOwners(row), headers)
  if (remembered !== null) return { external_source: remembered, source_suggested_by: 'memory' }
  if (detected) return { external_source: detected.source, source_suggested_by: 'preset' }
  const fingerprint = toHex(sha256OfShort(JSON.stringify(headers.toSorted()))).slice(0, 8)
  return { external_source: `file-${fingerprint}`, source_suggested_by: 'headers' }
}

export async function suggestStep(job: JobCtx, row: ImportRow): Promise<null> {
  const place = await loadReadingPlace(job.db, row)
  const { names } = getFormat(row)
  const detected_source = detectSource(names)
  const source = await decideSource(job, row, names, detected_source)
  const memory = await loadSourceMemory(job.db, listMemoryOwners(row), source.external_source)
  const remembered = recallOptions(row.options, row.remembered_options === null ? memory : null)
  const { options } = remembered
  const loaded = await loadMapping(job.db, row.id, place, options)
  // Suggestions of an earlier reading are made again.
  const state = { ...loaded, constants: loaded.constants.filter(({ suggested_by }) => suggested_by === null) }
  const columns = state.columns.map((column) => ({ header: column.source_column, statistics: getStatistics(column) }))
  const { consents } = state
  const recalled = recallMappings(memory?.columns ?? [], { columns, consents })
  const history = memory
    ? new Map([...memory.left_out].map((key) => [key, null] as const))
    : await loadHeaderHistory(job.db, listMemoryOwners(row), names.map(buildHeaderKey))
  const { mappings, group_by, id_columns } = suggestImport({ columns, consents, history, now: job.now() })
  const openSuggestions = pickOpenSuggestions(state, [...recalled, ...mappings])
  const suggested = applySuggestions(row, state, openSuggestions, memory?.constants ?? {})
  const questions = askAboutColumns(suggested.state, history, { id_columns, isPreset: detected_source !== null })
  // The grouping stays open: the user may still map a column to the id.
  const hasId = decideGrouping(suggested.state) === 'external_id'
  const finalOptions = {
    ...options,
    group_by: options.group_by ?? group_by ?? (hasId ? ('external_id' as const) : null),
  }
  const finalState = { ...suggested.state, columns: questions.columns, options: finalOptions }
  return endPhase(job, row, {
    status: 'mapping_columns',
    changes: {
      ...emptyStaging,
      options: finalOptions,
      remembered_options: row.remembered_options ?? remembered.names,
      detected_source,
      ...source,
      column_summary: summarizeColumns(finalState, prepareState(finalState, job.now())),
    },
    statements: [
      sql`delete from import_constants where import_id = ${row.id} and suggested_by is not null`,
      ...suggested.statements,
      questions.statement,
      ...(await deleteOrphans(job, row)),
    ],
  })
}
