/**
 * How directly a header names its target. `specific` headers can mean nothing else. `plain` ones mean it unless a more
 * specific column is there. `indirect` ones stand in for it. `vague` ones need their values to speak for them.
 */
export type AliasRank = 'specific' | 'plain' | 'vague' | 'indirect'

export interface Alias {
  text: string
  target: string
  rank: AliasRank
  /** `time` for the second column of a date: the time of the day. */
  part?: 'time'
  /** What the values have to be: words of two names or more; a yes or no that says whether somebody paid. */
  values?: 'people' | 'paid'
}

/** Aliases of one target, one line a language: English, Danish, German, Swedish, Dutch, Polish. */
export const aliases = (target: string, rank: AliasRank, lines: readonly string[]): Alias[] =>
  lines.flatMap((line) => line.split(',').map((text) => ({ text: text.trim(), target, rank })))
