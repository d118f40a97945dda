import type { DateFormat } from './columns/date-format.ts'
import type { NumberFormat } from './columns/number-format.ts'

export const transformTypes = ['none', 'trim', 'lower', 'date', 'number', 'phone', 'split_name', 'map'] as const

export type Transform =
  | { type: 'none' | 'trim' | 'lower' | 'map' }
  /** `order` is the order of the parts of a date, `time_zone` the zone of local times. */
  | { type: 'date'; order?: DateFormat['order']; time_zone?: string }
  | { type: 'number'; decimal?: NumberFormat['decimal'] }
  /** The country code for numbers without one: `+45`. */
  | { type: 'phone'; country_code?: string }
  | { type: 'split_name'; part?: 'first' | 'last' }

/** Another text, or the row is left out. */
export type MappedValue = { to: string } | { ignore_row: true }
export type ValueMap = Readonly<Record<string, MappedValue>>

/**
 * A target takes one column, two columns (date and time, first and last name) or a constant. The default replaces blank
 * cells.
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
/** `contact`: rows of customers with the same e-mail address, or else the same phone number. */
export type RowGrouping = Grouping | 'contact'

export const suggestionOrigins = ['memory', 'preset', 'header', 'values'] as const
export type SuggestionOrigin = (typeof suggestionOrigins)[number]

/** Questions about a column that was not mapped, which only the user can answer. */
export const columnQuestions = ['order_id', 'status'] as const
export type ColumnQuestion = (typeof columnQuestions)[number]

export type SuggestionReason = 'preset' | 'history' | 'exact' | 'alias' | 'normalised' | 'near' | 'values'

export interface SuggestedMapping extends TargetMapping {
  confidence: number
  reason: SuggestionReason
}

/** Where a suggestion comes from, as clients see it. */
export const toOrigin = (reason: SuggestionReason): SuggestionOrigin =>
  reason === 'history' ? 'memory' : reason === 'preset' || reason === 'values' ? reason : 'header'

/** A wrong suggestion costs more than none. */
export const leastConfidence = 0.75
