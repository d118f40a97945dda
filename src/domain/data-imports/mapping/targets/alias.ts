/**
 * How directly a header names its target. `specific` headers can mean nothing else. `plain` ones mean it unless a more
 * specific column is there. `indirect` ones replace it. `vague` ones need values that support them.
 */
export type AliasRank = 'specific' | 'plain' | 'vague' | 'indirect'

export interface Alias {
  text: string
  target: string
  rank: AliasRank
  /** `time` for the second column of a date: the time of the day. */
  part?: 'time'
  /** The required kind of values: words of two names or more; a yes or no about a payment. */
  values?: 'people' | 'paid'
}

/** Aliases of one target, one line a language: English, Danish, German, Swedish, Dutch, Polish. */
export const aliases = (target: string, rank: AliasRank, lines: readonly string[]): Alias[] =>
  lines.flatMap((line) => line.split(',').map((text) => ({ text: text.trim(), target, rank })))
