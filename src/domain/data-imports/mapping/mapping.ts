import type { DateFormat } from './columns/date-format.ts'
import type { NumberFormat } from './columns/number-format.ts'

export const transformTypes = ['none', 'trim', 'lower', 'date', 'number', 'phone', 'split_name', 'map'] as const

/** The transform of a cell before it is read for its target. */
export type Transform =
  | { type: 'none' | 'trim' | 'lower' | 'map' }
  /** `order` is the order of the parts of a date, `time_zone` the zone of local times. */
  | { type: 'date'; order?: DateFormat['order']; time_zone?: string }
  /** `decimal` is the decimal separator of the column. */
  | { type: 'number'; decimal?: NumberFormat['decimal'] }
  /** The country code of numbers without one: `+45`. */
  | { type: 'phone'; country_code?: string }
  | { type: 'split_name'; part?: 'first' | 'last' }

/** The meaning of a cell: another text, or its row is left out. */
export type MappedValue = { to: string } | { ignore_row: true }
export type ValueMap = Readonly<Record<string, MappedValue>>

/**
 * Where a target comes from: one column, two (date and time, first and last name), or none and a constant. The default
 * replaces blank cells.
 */
export interface TargetMapping {
  target: string
  columns: readonly number[]
  constant?: string | null
  default_value?: string | null
  transform?: Transform
  value_map?: ValueMap | null
}

export const groupings = ['external_id', 'row', 'email'] as const
export type Grouping = (typeof groupings)[number]

export type SuggestionReason = 'preset' | 'history' | 'exact' | 'alias' | 'normalised' | 'near' | 'values'

export interface SuggestedMapping extends TargetMapping {
  confidence: number
  reason: SuggestionReason
}

/** The lowest confidence of a suggestion, because a wrong one costs more than none. */
export const leastConfidence = 0.75
