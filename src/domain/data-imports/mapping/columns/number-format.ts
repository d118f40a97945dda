import { maxAmountMinor } from '../../../money.ts'
import { readNumber, type DecimalSeparator, type Digits, type NumberShape } from './number-shape.ts'

/** `each`: every cell is unambiguous by itself. */
export interface NumberFormat {
  decimal: DecimalSeparator | 'each'
  /** Reads other cells the other way: numbers of a workbook have a point beside any texts. */
  or_other?: boolean
}

export const keepFirst = (one: readonly string[], other: readonly string[], maxCount: number): readonly string[] =>
  one.length >= maxCount || other.every((text) => one.includes(text))
    ? one
    : [...new Set([...one, ...other])].slice(0, maxCount)

const evidences = ['plain', 'dot', 'comma', 'either'] as const
type Evidence = (typeof evidences)[number]

export interface NumberStatistics {
  counts: Record<Evidence, number>
  examples: Record<Exclude<Evidence, 'plain'>, readonly string[]>
}

export const createNumberStatistics = (): NumberStatistics => ({
  counts: { plain: 0, dot: 0, comma: 0, either: 0 },
  examples: { dot: [], comma: [], either: [] },
})

const haveSameDigits = (one: Digits, other: Digits): boolean =>
  one.integer === other.integer && one.fraction === other.fraction

function classifyNumber({ readings }: NumberShape): Evidence {
  const { '.': dot, ',': comma } = readings
  if (!dot) return 'comma'
  if (!comma) return 'dot'
  return haveSameDigits(dot, comma) ? 'plain' : 'either'
}

const maxExamples = 3

export function countNumber(statistics: NumberStatistics, text: string, shape: NumberShape): void {
  const evidence = classifyNumber(shape)
  statistics.counts[evidence]++
  if (evidence === 'plain') return
  statistics.examples[evidence] = keepFirst(statistics.examples[evidence], [text], maxExamples)
}

export function mergeNumbers(one: NumberStatistics, other: NumberStatistics): NumberStatistics {
  const sum = (evidence: Evidence) => one.counts[evidence] + other.counts[evidence]
  const both = (evidence: Exclude<Evidence, 'plain'>) =>
    keepFirst(one.examples[evidence], other.examples[evidence], maxExamples)
  return {
    counts: { plain: sum('plain'), dot: sum('dot'), comma: sum('comma'), either: sum('either') },
    examples: { dot: both('dot'), comma: both('comma'), either: both('either') },
  }
}

export interface ReadingChoice<Format> {
  format: Format
  examples: readonly { text: string; value: string | null }[]
}

export type FormatDecision<Format> =
  | { status: 'decided'; format: Format }
  | {
      status: 'ambiguous'
      /** `conflicting`: cells contradict each other. `undetermined`: every cell can be read in more than one way. */
      reason: 'conflicting' | 'undetermined'
      choices: readonly ReadingChoice<Format>[]
    }

function buildChoice(decimal: DecimalSeparator, { examples }: NumberStatistics): ReadingChoice<NumberFormat> {
  const texts = [...examples.either, ...examples.comma.slice(0, 1), ...examples.dot.slice(0, 1)]
  const formatReading = (text: string) => {
    const number = parseNumber(text, { decimal })
    return number
      ? `${number.is_negative ? '-' : ''}${number.integer}${number.fraction ? `.${number.fraction}` : ''}`
      : null
  }
  return { format: { decimal }, examples: texts.map((text) => ({ text, value: formatReading(text) })) }
}

/** Texts with a comma decide. A point may come from numbers of the workbook, which say nothing about its texts. */
function decideTyped(statistics: NumberStatistics): FormatDecision<NumberFormat> {
  const { comma, either } = statistics.counts
  if (either === 0) return { status: 'decided', format: { decimal: 'each' } }
  if (comma > 0) return { status: 'decided', format: { decimal: ',', or_other: true } }
  return {
    status: 'ambiguous',
    reason: 'undetermined',
    choices: [buildChoice(',', statistics), buildChoice('.', statistics)],
  }
}

/** Decides the decimal separator by the numbers of the whole column, and never guesses. */
export function decideNumbers(statistics: NumberStatistics, isTyped = false): FormatDecision<NumberFormat> {
  if (isTyped) return decideTyped(statistics)
  const { dot, comma, either } = statistics.counts
  if (either === 0) {
    const decimal = dot > 0 === comma > 0 ? 'each' : dot > 0 ? '.' : ','
    return { status: 'decided', format: { decimal } }
  }
  if (dot > 0 !== comma > 0) return { status: 'decided', format: { decimal: dot > 0 ? '.' : ',' } }
  return {
    status: 'ambiguous',
    reason: dot > 0 ? 'conflicting' : 'undetermined',
    choices: [buildChoice(',', statistics), buildChoice('.', statistics)],
  }
}

export interface ParsedNumber extends Digits {
  is_negative: boolean
  currency: string | null
}

/** Parses a number. Returns null for a cell that is not a number or has two readings. */
export function parseNumber(text: string, { decimal, or_other }: NumberFormat): ParsedNumber | null {
  const shape = readNumber(text)
  if (!shape || (decimal === 'each' && classifyNumber(shape) === 'either')) return null
  const { is_negative, currency, readings } = shape
  const anyReading = readings['.'] ?? readings[',']
  const digits = decimal === 'each' ? anyReading : (readings[decimal] ?? (or_other ? anyReading : null))
  return digits && { ...digits, is_negative, currency }
}

/** Spreadsheets write 149.9 as 149.90000000000001. Digits from this place on are noise. */
const digitsOfFloat = 9

export function toMinorUnits({ integer, fraction, is_negative }: ParsedNumber): number | 'too_exact' | 'too_large' {
  const isFloat = fraction.length >= digitsOfFloat && /^\d{2}(?:0{6}|9{6})/.test(fraction)
  if (!isFloat && /[1-9]/.test(fraction.slice(2))) return 'too_exact'
  const cents = Number(`${integer}${fraction.slice(0, 2).padEnd(2, '0')}`) + (isFloat && fraction[2] === '9' ? 1 : 0)
  if (cents > maxAmountMinor) return 'too_large'
  return is_negative && cents > 0 ? -cents : cents
}

/** Returns null for a number with a fraction. */
export const toWholeNumber = ({ integer, fraction, is_negative }: ParsedNumber): number | null =>
  /[1-9]/.test(fraction) ? null : (is_negative ? -1 : 1) * Number(integer) + 0
