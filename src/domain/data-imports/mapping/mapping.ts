import type { DateFormat } from './columns/date-format.ts'
import type { NumberFormat } from './columns/number-format.ts'

export const transformTypes = ['none', 'trim', 'lower', 'date', 'number', 'phone', 'split_name', 'map'] as const

/** What is done to a cell before it is read as what the target takes. */
export type Transform =
  | { type: 'none' | 'trim' | 'lower' | 'map' }
  /** `order` says how the dates of the column are written, `time_zone` whose local times they are. */
  | { type: 'date'; order?: DateFormat['order']; time_zone?: string }
  /** `decimal` says how the numbers of the column are written. */
  | { type: 'number'; decimal?: NumberFormat['decimal'] }
  /** The country's code of numbers that have none: `+45`. */
  | { type: 'phone'; country_code?: string }
  | { type: 'split_name'; part?: 'first' | 'last' }

/** What a cell becomes: another text, or nothing at all of its row. */
export type MappedValue = { to: string } | { ignore_row: true }
export type ValueMap = Readonly<Record<string, MappedValue>>

/**
 * Where a target comes from: one column, two (date and time, first and last name), or none and a constant. The default
 * stands in where the cells are blank.
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

/** Below it nothing is suggested: a wrong suggestion costs more than none. */
export const leastConfidence = 0.75
