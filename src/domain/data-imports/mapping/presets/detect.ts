import type { Grouping, SuggestedMapping, Transform, ValueMap } from '../mapping.ts'
import type { ImportColumn } from '../suggest/candidates.ts'
import { suggestColumns, suggestMappings, type SuggestionInput } from '../suggest/suggest.ts'
import { buildHeaderKey } from '../targets/aliases.ts'
import { findTargetField } from '../targets/fields.ts'
import { suggestValueMap } from '../values/value-maps.ts'
import data from './presets.json' with { type: 'json' }

/** The headers of a column in several languages or versions. The first that a file has counts. */
type ColumnNames = readonly string[]

interface PresetTarget {
  columns: readonly ColumnNames[]
  constant?: string
  default_value?: string
  value_map?: ValueMap
  transform?: Transform
}

interface Preset {
  source: string
  label: string
  about: string
  /** Columns that every file of the system has. */
  signature: readonly ColumnNames[]
  targets: Readonly<Record<string, PresetTarget>>
  /** Columns that a general rule would map wrongly. */
  left_out?: readonly string[]
  /** Null if the file does not say which rows are an order. */
  group_by: Grouping | null
  /** Columns among which the user has to choose the id of the order. */
  possible_ids?: readonly string[]
}

const presets: readonly Preset[] = data as unknown as readonly Preset[]

interface DetectedSource {
  source: string
  label: string
  confidence: number
}

export interface ImportSuggestion {
  detected_source: DetectedSource | null
  mappings: readonly SuggestedMapping[]
  group_by: Grouping | null
  id_columns: readonly number[]
}

/** The first of two columns with the same header counts. */
const indexColumns = (columns: readonly ImportColumn[]): ReadonlyMap<string, number> =>
  new Map(columns.map(({ header }, index) => [buildHeaderKey(header), index] as const).toReversed())

const findColumn = (names: ColumnNames, byKey: ReadonlyMap<string, number>): number | null =>
  names.map((name) => byKey.get(buildHeaderKey(name))).find((column) => column !== undefined) ?? null

/** The preset with the longest signature wins if several match as a whole. */
function findPreset(columns: readonly ImportColumn[]): Preset | null {
  const byKey = indexColumns(columns)
  const matchingPresets = presets.filter(({ signature }) =>
    signature.every((names) => findColumn(names, byKey) !== null),
  )
  return matchingPresets.toSorted((one, other) => other.signature.length - one.signature.length)[0] ?? null
}

const presetConfidence = 0.97

function buildMapping(target: string, preset: PresetTarget, input: SuggestionInput): SuggestedMapping | null {
  const byKey = indexColumns(input.columns)
  const columns = preset.columns.flatMap((names) => findColumn(names, byKey) ?? [])
  const field = findTargetField(target, input.consents)
  const hasFirstColumn = preset.columns.length === 0 || findColumn(preset.columns[0] ?? [], byKey) !== null
  if (!field || !hasFirstColumn || (columns.length === 0 && preset.constant === undefined)) return null
  const statistics = input.columns[columns[0] ?? -1]?.statistics
  const suggestedMap = statistics ? suggestValueMap(field.type, statistics) : null
  const value_map = suggestedMap || preset.value_map ? { ...suggestedMap, ...preset.value_map } : null
  return {
    target,
    columns,
    ...(preset.constant === undefined ? {} : { constant: preset.constant }),
    ...(preset.default_value === undefined ? {} : { default_value: preset.default_value }),
    ...(preset.transform ? { transform: preset.transform } : {}),
    value_map,
    confidence: presetConfidence,
    reason: 'preset',
  }
}

/** A full name beside its parts is redundant. */
const removeDoubledNames = (mappings: readonly SuggestedMapping[]): SuggestedMapping[] => {
  const targets = new Set(mappings.map(({ target }) => target))
  const hasParts = (person: string) => targets.has(`${person}.first_name`) && targets.has(`${person}.last_name`)
  return mappings.filter(
    ({ target }) => !['customer', 'item.user'].some((person) => target === `${person}.full_name` && hasParts(person)),
  )
}

/** The organisation's earlier mapping of a header wins over the preset. */
function applyHistory(mappings: readonly SuggestedMapping[], input: SuggestionInput): SuggestedMapping[] {
  const getEarlierTarget = (column: number) =>
    input.earlierTargets?.get(buildHeaderKey(input.columns[column]?.header ?? ''))
  const unchangedMappings = mappings.filter(({ target, columns: [column] }) => {
    const before = column === undefined ? undefined : getEarlierTarget(column)
    return before === undefined || before === target
  })
  const usedTargets = new Set(unchangedMappings.map(({ target }) => target))
  const otherMappings = suggestMappings(input).filter(
    ({ reason, target }) => reason === 'history' && !usedTargets.has(target),
  )
  return [...unchangedMappings, ...otherMappings]
}

/** Suggests consents, and columns whose header is the key of a target, that the preset does not know. */
function suggestFurtherMappings(
  preset: Preset,
  mappings: readonly SuggestedMapping[],
  input: SuggestionInput,
): SuggestedMapping[] {
  const usedColumns = new Set(mappings.flatMap(({ columns }) => columns))
  const targets = new Set(mappings.map(({ target }) => target))
  const leftOut = new Set((preset.left_out ?? []).map(buildHeaderKey))
  return suggestMappings(input).filter(
    ({ target, reason, columns: [column] }) =>
      !targets.has(target) &&
      (target.startsWith('consent.') || reason === 'exact') &&
      column !== undefined &&
      !usedColumns.has(column) &&
      !leftOut.has(buildHeaderKey(input.columns[column]?.header ?? '')),
  )
}

function findPossibleIds({ possible_ids = [] }: Preset, columns: readonly ImportColumn[]): number[] {
  const byKey = indexColumns(columns)
  return possible_ids.flatMap((name) => findColumn([name], byKey) ?? [])
}

/** Names the system whose export has these headers. */
export function detectSource(headers: readonly string[]): DetectedSource | null {
  const preset = findPreset(headers.map((header) => ({ header, statistics: null })))
  return preset && { source: preset.source, label: preset.label, confidence: presetConfidence }
}

/** Uses the preset of the detected system, or general rules. */
export function suggestImport(input: SuggestionInput): ImportSuggestion {
  const preset = findPreset(input.columns)
  if (!preset) return { detected_source: null, ...suggestColumns(input), group_by: null }
  const presetMappings = Object.entries(preset.targets).flatMap(
    ([target, one]) => buildMapping(target, one, input) ?? [],
  )
  const mappings = applyHistory(removeDoubledNames(presetMappings), input)
  return {
    detected_source: { source: preset.source, label: preset.label, confidence: presetConfidence },
    mappings: [...mappings, ...suggestFurtherMappings(preset, mappings, input)],
    group_by: preset.group_by,
    id_columns: findPossibleIds(preset, input.columns),
  }
}
