import type { Grouping, Transform, ValueMap } from '../mapping.ts'

/** A column of a preset, or a target from two columns, a constant or a default. */
export interface PresetTarget {
  /** Headers of the columns; of several names of one column (`Order no.|Order #`) the first that is there counts. */
  columns: readonly string[]
  constant?: string
  default_value?: string
  value_map?: ValueMap
  transform?: Transform
}

/** The import of another system's export. */
export interface Preset {
  source: string
  label: string
  /** The headers that identify the system; all of them are in its files. */
  signature: readonly string[]
  targets: Readonly<Record<string, PresetTarget>>
  /** Columns that a general rule would map wrongly. */
  left_out?: readonly string[]
  group_by: Grouping
}

export const from = (...columns: readonly string[]): PresetTarget => ({ columns })

const to = (value: string): { to: string } => ({ to: value })
const ignoreRow = { ignore_row: true } as const

/** A value map of lists of words: `{ completed: ['Paid'] }`. */
export const valueMap = (
  values: Readonly<Record<string, readonly string[]>>,
  ignored: readonly string[] = [],
): ValueMap =>
  Object.fromEntries([
    ...Object.entries(values).flatMap(([value, words]) => words.map((word) => [word, to(value)] as const)),
    ...ignored.map((word) => [word, ignoreRow] as const),
  ])
