import { maxParsedLength } from '../../import-cells.ts'
import { readCurrencyMark } from '../values/words.ts'

const decimalSeparators = ['.', ','] as const
export type DecimalSeparator = (typeof decimalSeparators)[number]

export interface Digits {
  integer: string
  fraction: string
}

/** A number whose decimal separator is not known yet. */
export interface NumberShape {
  is_negative: boolean
  readings: Record<DecimalSeparator, Digits | null>
  /** A currency code; `kr` for a crown of an unknown country. */
  currency: string | null
}

/** Longer amounts are not exact. */
const maxWholeDigits = 13
/** A number has digits and no long words. */
const cannotBeNumber = /^\D*$|[@?#_]|\p{L}{9}/u

/** `150,-` and `150:-` are prices without cents. Only the comma shows the decimal separator. */
const removeDashes = (text: string): string =>
  text
    // Bounded: at most 100 characters, which `readNumber` checks.
    .replace(/,\s?[-–—]{1,2}(?=\D*$)/, ',00')
    .replace(/(?<=\d)[.:]\s?[-–—]{1,2}(?=\D*$)/, '')

/** Most cells need no change. */
const isPlain = /^[!-_a-~]+(?: [!-_a-~]+)*$/

/** Unifies spaces, apostrophes and minus signs. */
export const normalizeMarks = (text: string): string =>
  isPlain.test(text)
    ? text
    : text
        .replaceAll(/[\s\u00A0\u2007\u2009\u202F]+/g, ' ')
        .replaceAll(/[’‘`´]/g, "'")
        .replaceAll(/[\u2212\u2010\u2011\uFE63\uFF0D]/g, '-')
        .trim()

/** Groups of three digits have the same separator, which is not the decimal one, and do not begin with a zero. */
const groups: Record<DecimalSeparator, RegExp> = {
  '.': /^[1-9]\d{0,2}(?:([, '])\d{3})(?:\1\d{3})*$/,
  ',': /^[1-9]\d{0,2}(?:([. '])\d{3})(?:\1\d{3})*$/,
}

function readDigits(body: string, decimal: DecimalSeparator): Digits | null {
  const end = body.indexOf(decimal)
  const fraction = end === -1 ? '' : body.slice(end + 1)
  if (end !== -1 && !/^\d+$/.test(fraction)) return null
  const wholePart = end === -1 ? body : body.slice(0, end)
  const isGrouped = !/^\d*$/.test(wholePart)
  if (isGrouped && !groups[decimal].test(wholePart)) return null
  const digits = (isGrouped ? wholePart.replaceAll(/\D/g, '') : wholePart).replace(/^0+(?=\d)/, '')
  return digits.length > maxWholeDigits ? null : { integer: digits || '0', fraction }
}

function readMarks(lead: string, tail: string): { minuses: number; currency: string | null } | null {
  const minuses = [...(lead + tail)].filter((sign) => sign === '-').length
  const marks = [lead, tail].map((text) => text.replaceAll(/[-+\s]/g, '')).filter((mark) => mark !== '')
  // `695 kr.-` may be a price without cents or a negative amount.
  if (/[\p{L}\p{Sc}]\.?\s?-$/u.test(tail)) return null
  const currencies = marks.map(readCurrencyMark)
  if (minuses > 1 || currencies.includes(null)) return null
  const [one = null, other = null] = currencies
  if (one !== null && other !== null && one !== other && one !== 'kr' && other !== 'kr') return null
  return { minuses, currency: one === 'kr' && other !== null ? other : one }
}

/** Digits with at most one separator have nothing around them to be read. */
const isBare = /^\d+(?:[.,]\d+)?$/

function buildShape(body: string, marks: Pick<NumberShape, 'is_negative' | 'currency'>): NumberShape | null {
  const readings = { '.': readDigits(body, '.'), ',': readDigits(body, ',') }
  return readings['.'] || readings[','] ? { ...marks, readings } : null
}

/** Reads a number with every reading that it allows; null for other texts and percentages. */
export function readNumber(text: string): NumberShape | null {
  if (text.length > maxParsedLength) return null
  if (isBare.test(text)) return buildShape(text, { is_negative: false, currency: null })
  if (cannotBeNumber.test(text)) return null
  const normalizedText = normalizeMarks(text)
  const inBrackets = /^\((.*)\)$/.exec(normalizedText)?.[1]
  const match = /^(\D*)(\d(?:[\d.,' ]*\d)?)(\D*)$/.exec(removeDashes(inBrackets ?? normalizedText))
  if (!match) return null
  const [, before = '', digits = '', after = ''] = match
  const openingMark = /(?<![\p{L}\p{Sc}.,])[.,]$/u.exec(before)?.[0] ?? ''
  const marks = readMarks(before.slice(0, before.length - openingMark.length), after)
  if (!marks || (inBrackets !== undefined && marks.minuses > 0)) return null
  const is_negative = inBrackets !== undefined || marks.minuses === 1
  return buildShape(openingMark + digits, { is_negative, currency: marks.currency })
}
