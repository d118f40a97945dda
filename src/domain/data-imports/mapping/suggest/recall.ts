import type { SuggestedMapping, Transform, ValueMap } from '../mapping.ts'
import { buildHeaderKeys } from '../targets/aliases.ts'
import { findTargetField, type KnownConsent } from '../targets/fields.ts'
import { suggestValueMap } from '../values/value-maps.ts'
import type { ImportColumn } from './candidates.ts'
import { contradicts } from './fits.ts'

/** The mapping of a column in the last import of its source. */
export interface RememberedColumn {
  header_key: string
  target_field: string
  target_position: number
  default_value: string | null
  transform: Transform
  value_map: ValueMap | null
}

interface RecallInput {
  columns: readonly ImportColumn[]
  consents: readonly KnownConsent[]
}

const rememberedConfidence = 0.98

type RecalledColumn = RememberedColumn & { column: number }

function recallTarget(target: string, ofTarget: readonly RecalledColumn[], input: RecallInput): SuggestedMapping[] {
  const sortedColumns = ofTarget.toSorted((one, other) => one.target_position - other.target_position)
  const [first] = sortedColumns
  const field = findTargetField(target, input.consents)
  if (!first || !field) return []
  const statistics = input.columns[first.column]?.statistics ?? null
  // A value map may make the cells fit.
  if (first.value_map === null && contradicts(field.type, statistics)) return []
  const newValues = statistics && suggestValueMap(field.type, statistics)
  return [
    {
      target,
      columns: sortedColumns.map(({ column }) => column),
      default_value: sortedColumns.find(({ default_value }) => default_value !== null)?.default_value ?? null,
      transform: first.transform,
      value_map: first.value_map || newValues ? { ...newValues, ...first.value_map } : null,
      confidence: rememberedConfidence,
      reason: 'history',
    },
  ]
}

/** Maps the columns of a file as in the last import of its source, unless their cells no longer fit. */
export function recallMappings(rememberedColumns: readonly RememberedColumn[], input: RecallInput): SuggestedMapping[] {
  const byKey = new Map(rememberedColumns.map((one) => [one.header_key, one]))
  const currentColumns = buildHeaderKeys(input.columns.map(({ header }) => header)).flatMap((key, column) => {
    const before = byKey.get(key)
    return before ? [{ ...before, column }] : []
  })
  return [...Map.groupBy(currentColumns, ({ target_field }) => target_field)].flatMap(([target, ofTarget]) =>
    recallTarget(target, ofTarget, input),
  )
}
