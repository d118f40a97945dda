import type { ImportOptions } from '../../../domain/data-imports/data-imports.ts'
import {
  buildHeaderKey,
  findQuestions,
  findTargetOfKind,
  leastConfidence,
  recallMappings,
  type SuggestedMapping,
  suggestCustomers,
  suggestImport,
  toOrigin,
} from '../../../domain/data-imports/mapping/index.ts'
import { type ColumnRow, type ConstantRow, decideGrouping, getStatistics, type MappingState } from '../mapping/state.ts'
import type { SourceMemory } from './history.ts'

/** Everything that the suggestions for a file depend on. */
export interface SuggestionInput {
  import_id: string
  /** The mapping as the user left it, without suggestions of an earlier reading. */
  state: MappingState
  /** Decisions of the last import of the same source. */
  memory: SourceMemory | null
  /** Earlier targets by header key; null for a header that was left out. */
  earlierTargets: ReadonlyMap<string, string | null>
  /** True if the file is the export of a system whose format is described in `presets.json`. */
  isKnownExport: boolean
  /** True if the user may import answers to consents of the organisation. */
  isOfOrganization: boolean
  now: number
}

export interface MappingSuggestions {
  /** The mapping with all suggestions and questions. */
  state: MappingState
  /** Suggested targets by the index of their column. */
  columnChanges: ReadonlyMap<number, Partial<ColumnRow>>
  constants: readonly ConstantRow[]
}

const isDecided = ({ is_suggested, is_ignored, target_field }: ColumnRow): boolean =>
  !is_suggested && (is_ignored || target_field !== null)

/** Picks mappings of targets and columns that neither the user nor an earlier mapping of the list has used. */
function pickOpenMappings(state: MappingState, mappings: readonly SuggestedMapping[]): SuggestedMapping[] {
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

const buildColumnChanges = (mapping: SuggestedMapping, target_position: number): Partial<ColumnRow> => ({
  target_field: mapping.target,
  target_position,
  is_suggested: true,
  suggested_by: toOrigin(mapping.reason),
  confidence: mapping.confidence,
  default_value: mapping.default_value ?? null,
  transform: mapping.transform ?? { type: 'none' },
  value_map: mapping.value_map ?? null,
})

/** Lists new constants. Those of the last import win over suggestions, and the user's over both. */
function listConstants(
  { import_id, state, memory }: SuggestionInput,
  mappings: readonly SuggestedMapping[],
): ConstantRow[] {
  const earlierConstants = memory?.constants ?? {}
  const userTargets = new Set(state.constants.map(({ target_field }) => target_field))
  return [
    ...mappings.flatMap(({ target, columns, constant, reason }): ConstantRow[] =>
      constant === undefined || constant === null || columns.length > 0 || Object.hasOwn(earlierConstants, target)
        ? []
        : [{ import_id, target_field: target, value: constant, suggested_by: toOrigin(reason) }],
    ),
    ...Object.entries(earlierConstants).flatMap(([target_field, value]): ConstantRow[] =>
      userTargets.has(target_field) || !findTargetOfKind(state.place.kind, target_field, state.consents)
        ? []
        : [{ import_id, target_field, value, suggested_by: 'memory' }],
    ),
  ]
}

/** Adds questions to columns. The statuses of a known export raise none. */
function addQuestions(
  { columns, constants, place }: MappingState,
  { earlierTargets, isKnownExport }: SuggestionInput,
  id_columns: readonly number[],
): ColumnRow[] {
  if (place.kind === 'customers') return columns.map((column) => ({ ...column, question: null }))
  const questions = findQuestions({
    columns: columns.map((column) => ({
      header: column.source_column,
      statistics: getStatistics(column),
      target: column.target_field,
      is_left_out: column.is_ignored || earlierTargets.get(buildHeaderKey(column.source_column)) === null,
    })),
    targets: new Set([...columns, ...constants].flatMap(({ target_field }) => target_field ?? [])),
    id_columns,
  })
  return columns.map((column) => {
    const question = questions.get(column.source_index) ?? null
    return { ...column, question: isKnownExport && question === 'status' ? null : question }
  })
}

/** Chooses how rows become orders. It stays open without an id, because the user may still map a column to the id. */
function chooseGrouping(state: MappingState, suggestedGrouping: ImportOptions['group_by']): ImportOptions['group_by'] {
  if (state.place.kind === 'customers') return state.options.group_by
  const hasId = decideGrouping(state) === 'external_id'
  return state.options.group_by ?? suggestedGrouping ?? (hasId ? 'external_id' : null)
}

/** Everybody in the export of a mailing list agreed to it once. Only one consent can be meant. */
function suggestConsent({ state, isOfOrganization }: SuggestionInput): SuggestedMapping[] {
  const [consent, ...others] = state.consents.filter(
    ({ type, edition_id }) => type === 'marketing' && (isOfOrganization || edition_id !== null),
  )
  if (!consent || others.length > 0) return []
  const target = `consent.${consent.key}`
  return [{ target, columns: [], constant: 'true', confidence: leastConfidence, reason: 'preset' }]
}

function suggestList(input: SuggestionInput, columns: Parameters<typeof suggestCustomers>[0]) {
  const { mappings, isKnownExport } = suggestCustomers(columns)
  const hasConsent = mappings.some(({ target }) => target.startsWith('consent.'))
  const hasEarlierConsent = Object.keys(input.memory?.constants ?? {}).some((target) => target.startsWith('consent.'))
  const consent = isKnownExport && !hasConsent && !hasEarlierConsent && !input.memory ? suggestConsent(input) : []
  return { mappings: [...mappings, ...consent], group_by: null, id_columns: [] }
}

/** Suggests a mapping for the columns that the user has not decided on. */
export function decideSuggestions(input: SuggestionInput): MappingSuggestions {
  const { state, memory, earlierTargets, now } = input
  const { consents } = state
  const columns = state.columns.map((column) => ({ header: column.source_column, statistics: getStatistics(column) }))
  const { mappings, group_by, id_columns } =
    state.place.kind === 'customers'
      ? suggestList(input, { columns, consents, earlierTargets, now })
      : suggestImport({ columns, consents, earlierTargets, now })
  const rememberedMappings = recallMappings(memory?.columns ?? [], { columns, consents })
  const openMappings = pickOpenMappings(state, [...rememberedMappings, ...mappings])
  const columnChanges = new Map(
    openMappings.flatMap((mapping) =>
      mapping.columns.map((column, position) => [column, buildColumnChanges(mapping, position)] as const),
    ),
  )
  const constants = listConstants(input, openMappings)
  const mappedState = {
    ...state,
    columns: state.columns.map((column) => ({ ...column, ...columnChanges.get(column.source_index) })),
    constants: [...state.constants, ...constants],
  }
  return {
    state: {
      ...mappedState,
      columns: addQuestions(mappedState, input, id_columns),
      options: { ...state.options, group_by: chooseGrouping(mappedState, group_by ?? null) },
    },
    columnChanges,
    constants,
  }
}
