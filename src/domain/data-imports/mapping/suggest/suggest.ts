import { getShare, type CellKind } from '../columns/statistics.ts'
import { readHeaderZone } from '../columns/zone-names.ts'
import { leastConfidence, type SuggestedMapping } from '../mapping.ts'
import { buildHeaderKey } from '../targets/aliases.ts'
import { findTargetField, type KnownConsent } from '../targets/fields.ts'
import { suggestValueMap } from '../values/value-maps.ts'
import { findCandidate, type Candidate, type ImportColumn } from './candidates.ts'
import { chooseColumns, findTimeColumn } from './choose.ts'

export interface SuggestionInput {
  columns: readonly ImportColumn[]
  consents?: readonly KnownConsent[]
  /** Earlier targets by header key; null for a header that was left out. */
  earlierTargets?: ReadonlyMap<string, string | null>
  /** The time of the file, which is later than its orders. */
  now?: number
}

/** Headers that say nothing, or only that the column is a contact. */
const emptyHeader =
  /^(?:|(?:column|col|spalte|kolonne|kolumn|kolom|kolumna|feld|felt|field|unnamed)?[a-z]?\d{0,3}|kontakt|contact|kontaktoplysninger|kontaktdaten|kontaktuppgifter|contactgegevens|dane kontaktowe|adresse|address)$/

const byValues: readonly { kind: CellKind; target: string; minShare: number }[] = [
  { kind: 'email', target: 'customer.email', minShare: 0.95 },
  { kind: 'currency', target: 'order.currency', minShare: 1 },
]

const minFilledCells = 3

/** Finds columns whose values leave no doubt although their headers say nothing. */
function findCandidatesByValues(columns: readonly ImportColumn[], usedColumns: ReadonlySet<number>): Candidate[] {
  return byValues.flatMap(({ kind, target, minShare }) => {
    const fittingColumns = columns.flatMap(({ statistics }, column) =>
      statistics && statistics.filled_cells >= minFilledCells && getShare(statistics, kind) >= minShare ? [column] : [],
    )
    const [column, ...others] = fittingColumns
    if (column === undefined || others.length > 0 || usedColumns.has(column)) return []
    if (!emptyHeader.test(buildHeaderKey(columns[column]?.header ?? ''))) return []
    return [{ column, target, rank: 'vague' as const, confidence: 0.8, reason: 'values' as const, part: null }]
  })
}

function toSuggestion(candidate: Candidate, input: SuggestionInput): SuggestedMapping {
  const { target, column, confidence, reason } = candidate
  const statistics = input.columns[column]?.statistics
  // A blank cell in a column of marks means that the order is not paid.
  if (candidate.value_map)
    return { target, columns: [column], confidence, reason, value_map: candidate.value_map, default_value: 'pending' }
  const type = findTargetField(target, input.consents)?.type
  const value_map = type && statistics ? suggestValueMap(type, statistics) : null
  const time_zone = type === 'instant' ? readHeaderZone(input.columns[column]?.header ?? '') : null
  const transform = time_zone === null ? {} : { transform: { type: 'date' as const, time_zone } }
  return { target, columns: [column], confidence, reason, value_map, ...transform }
}

export interface Suggestions {
  mappings: readonly SuggestedMapping[]
  /** Columns among which the user has to choose the id of the order. */
  id_columns: readonly number[]
}

export const suggestMappings = (input: SuggestionInput): readonly SuggestedMapping[] => suggestColumns(input).mappings

/** Suggests at most one column for a target and one target for a column. */
export function suggestColumns(input: SuggestionInput): Suggestions {
  const context = {
    consents: input.consents ?? [],
    earlierTargets: input.earlierTargets ?? new Map<string, string | null>(),
  }
  const candidates = input.columns.flatMap((column, index) => findCandidate(column, index, context) ?? [])
  const { choices, id_columns } = chooseColumns(candidates, input)
  const usedColumns = new Set(candidates.map(({ column }) => column))
  for (const candidate of findCandidatesByValues(input.columns, usedColumns))
    if (!choices.has(candidate.target)) choices.set(candidate.target, candidate)
  const date = choices.get('order.created')
  const time = findTimeColumn(candidates, date, input.columns)
  const suggestions = [...choices.values()]
    .filter(({ confidence }) => confidence >= leastConfidence)
    .map((candidate) => toSuggestion(candidate, input))
  const mappings = suggestions.map((one) =>
    one.target === 'order.created' && time !== null ? { ...one, columns: [...one.columns, time] } : one,
  )
  return { mappings, id_columns }
}
