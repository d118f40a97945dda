import { dayMs } from '../../../time/instants.ts'
import type { ImportKind } from '../../import-kinds.ts'
import { decideDates, type DateFormat } from '../columns/date-format.ts'
import { createLocalTimeReader } from '../columns/local-times.ts'
import { decideNumbers, type FormatDecision, type NumberFormat } from '../columns/number-format.ts'
import type { ColumnStatistics } from '../columns/statistics.ts'
import type { MappedValue, RowGrouping, TargetMapping } from '../mapping.ts'
import {
  findTargetField,
  findTargetOfKind,
  type KnownConsent,
  listFixedFields,
  type TargetField,
} from '../targets/fields.ts'
import { listUnmappedValues } from '../values/value-maps.ts'
import { toPlainWord } from '../values/words.ts'
import type { CellFormat } from './cell.ts'

export interface TargetReader {
  mapping: TargetMapping
  field: TargetField
  format: CellFormat
  /** The value map by folded cell. */
  values: ReadonlyMap<string, MappedValue> | null
}

interface AmbiguousColumn {
  target: string
  column: number
  decision: Extract<FormatDecision<NumberFormat | DateFormat>, { status: 'ambiguous' }>
}

export interface PreparedMappings {
  readers: readonly TargetReader[]
  /** Reads a total that nobody mapped. Null without such a column, and if its numbers are ambiguous. */
  total_reader: TargetReader | null
  unknown_targets: readonly string[]
  duplicate_targets: readonly string[]
  /** Required targets without a source; the first target stands for a group. */
  missing_required: readonly string[]
  /** Columns with two possible readings, between which the user has to choose. */
  ambiguous: readonly AmbiguousColumn[]
  /** Cells by target that the target does not understand. */
  unmapped_values: Readonly<Record<string, readonly string[]>>
}

export interface PrepareInput {
  mappings: readonly TargetMapping[]
  /** The column of a total that nobody mapped. Its amounts are only compared. */
  unmapped_total?: TargetMapping | null
  /** The index is that of the column. Null: its cells were not counted. */
  statistics: readonly (ColumnStatistics | null)[]
  consents: readonly KnownConsent[]
  /** Absent for orders. */
  kind?: ImportKind
  group_by: RowGrouping
  /** The time zone of the edition, or the user's choice. */
  time_zone: string
  country_code: string | null
  now: number
}

type DecidedFormats = { number: NumberFormat; date: DateFormat; ambiguous: AmbiguousColumn['decision'] | null }

const readsNumbers = ({ field, mapping }: Pick<TargetReader, 'field' | 'mapping'>): boolean =>
  field.type === 'money' || field.type === 'quantity' || mapping.transform?.type === 'number'
const readsDates = ({ field, mapping }: Pick<TargetReader, 'field' | 'mapping'>): boolean =>
  field.type === 'instant' || mapping.transform?.type === 'date'

/** No order and no consent is later than its file. */
const isPast = (target: string): boolean => target === 'order.created' || target.startsWith('customer.')

function decideFormats(mapping: TargetMapping, field: TargetField, input: PrepareInput): DecidedFormats {
  const formats: DecidedFormats = { number: { decimal: 'each' }, date: { order: 'each' }, ambiguous: null }
  const statistics = input.statistics[mapping.columns[0] ?? -1]
  const { transform } = mapping
  if (readsNumbers({ field, mapping })) {
    const decimalSetting = transform?.type === 'number' ? transform.decimal : undefined
    const isTyped = statistics?.is_typed ?? false
    if (decimalSetting)
      return { ...formats, number: { decimal: decimalSetting, ...(isTyped ? { or_other: true } : {}) } }
    const decision = statistics ? decideNumbers(statistics.numbers, isTyped) : null
    if (decision?.status === 'decided') return { ...formats, number: decision.format }
    return { ...formats, ambiguous: decision }
  }
  if (readsDates({ field, mapping })) {
    const orderSetting = transform?.type === 'date' ? transform.order : undefined
    const last = isPast(field.key) ? input.now + dayMs : null
    const dateLimit: Pick<DateFormat, 'latest_day'> = last === null ? {} : { latest_day: last }
    if (orderSetting) return { ...formats, date: { order: orderSetting, ...dateLimit } }
    const decision = statistics ? decideDates(statistics.dates, last) : null
    if (decision?.status === 'decided') return { ...formats, date: { ...decision.format, ...dateLimit } }
    return { ...formats, date: { ...formats.date, ...dateLimit }, ambiguous: decision }
  }
  return formats
}

function findMissingTargets(
  mappedTargets: ReadonlySet<string>,
  { kind = 'orders', group_by }: Pick<PrepareInput, 'kind' | 'group_by'>,
): string[] {
  const fields = listFixedFields(kind)
  const missingFields = fields.filter(
    ({ key, is_required }) =>
      is_required && !mappedTargets.has(key) && !(key === 'order.external_id' && group_by !== 'external_id'),
  )
  const missingGroups = (['contact', 'price'] as const).flatMap((name) => {
    const ofGroup = fields.filter(({ one_of }) => one_of === name)
    return ofGroup.some(({ key }) => mappedTargets.has(key)) ? [] : ofGroup.slice(0, 1)
  })
  const email = group_by === 'email' && !mappedTargets.has('customer.email') ? ['customer.email'] : []
  return [...new Set([...missingFields.map(({ key }) => key), ...missingGroups.map(({ key }) => key), ...email])]
}

const foldValueMap = ({ value_map }: TargetMapping): TargetReader['values'] =>
  value_map ? new Map(Object.entries(value_map).map(([text, value]) => [toPlainWord(text), value])) : null

const findRepeated = (texts: readonly string[]): string[] => [
  ...new Set(texts.filter((text, index) => texts.indexOf(text) !== index)),
]

export function prepareMappings(input: PrepareInput): PreparedMappings {
  const zones = new Map<string, CellFormat['localTime']>()
  const localTime = (zone: string) => {
    const reader = zones.get(zone) ?? createLocalTimeReader(zone)
    zones.set(zone, reader)
    return reader
  }
  const ambiguous: AmbiguousColumn[] = []
  const unmappedValues: Record<string, readonly string[]> = {}
  const buildReader = (mapping: TargetMapping, field: TargetField, { number, date }: DecidedFormats): TargetReader => {
    const transform = mapping.transform ?? { type: 'none' as const }
    const zone = (transform.type === 'date' ? transform.time_zone : undefined) ?? input.time_zone
    const country = (transform.type === 'phone' ? transform.country_code : undefined) ?? input.country_code
    const format = { field, transform, number, date, localTime: localTime(zone), country_code: country }
    return { mapping, field, format, values: foldValueMap(mapping) }
  }
  const readers = input.mappings.flatMap((mapping): TargetReader[] => {
    const field = findTargetField(mapping.target, input.consents)
    if (!field) return []
    const formats = decideFormats(mapping, field, input)
    const [column] = mapping.columns
    const statistics = column === undefined ? null : input.statistics[column]
    if (formats.ambiguous && column !== undefined)
      ambiguous.push({ target: field.key, column, decision: formats.ambiguous })
    const unmappedTexts = statistics ? listUnmappedValues(field.type, statistics, mapping.value_map ?? null) : []
    if (unmappedTexts.length > 0) unmappedValues[field.key] = unmappedTexts
    return [buildReader(mapping, field, formats)]
  })
  const total = input.unmapped_total ?? null
  const totalField = total && findTargetField(total.target)
  const totalFormats = total && totalField && decideFormats(total, totalField, input)
  const targets = input.mappings.map(({ target }) => target)
  return {
    readers,
    total_reader:
      total && totalField && totalFormats?.ambiguous === null ? buildReader(total, totalField, totalFormats) : null,
    unknown_targets: targets.filter((target) => !findTargetOfKind(input.kind ?? 'orders', target, input.consents)),
    duplicate_targets: findRepeated(targets),
    missing_required: findMissingTargets(new Set(readers.map(({ field }) => field.key)), input),
    ambiguous,
    unmapped_values: unmappedValues,
  }
}
