/**
 * `digits` are shown with leading zeros, such as a postal code. `currency` is the mark that the cell shows beside its
 * number. A percentage shows the number times `factor`.
 */
export type NumberKind =
  | { kind: 'number'; currency?: string }
  | { kind: 'percentage'; factor: 1 | 100 }
  | { kind: 'date' }
  | { kind: 'time' }
  | { kind: 'duration' }
  | { kind: 'digits'; length: number }

const dateIds = new Set([14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58])
const timeIds = new Set([18, 19, 20, 21, 32, 33, 34, 35, 45, 47])
const durationId = 46
const percentageIds = new Set([9, 10])

/** A quoted text, an escaped character, a blank as wide as a character, a filler, or a bracket. */
const formatParts = /"([^"]*)"|\\(.)|[_*].|\[([^[\]]*)\]/gs

/** Removes texts, escapes, colours, conditions and languages, and keeps the part for positive numbers. */
const stripFormat = (code: string): string =>
  code.replaceAll(formatParts, (part) => (/^\[(?:h+|m+|s+)\]$/i.test(part) ? part : '')).split(';')[0]!

/** Currencies by the languages whose mark alone does not say the country. */
const currenciesByLanguage = new Map([
  ['406', 'DKK'],
  ['41d', 'SEK'],
  ['414', 'NOK'],
  ['814', 'NOK'],
  ['40f', 'ISK'],
  ['1009', 'CAD'],
  ['c0c', 'CAD'],
  ['c09', 'AUD'],
  ['1409', 'NZD'],
  ['80a', 'MXN'],
  ['1004', 'SGD'],
])

/** `$€-407` is a mark and a language, `$-406` a language alone. */
function readBracket(content: string): string {
  if (!content.startsWith('$')) return ''
  const cut = content.lastIndexOf('-')
  const [mark, language] = cut < 1 ? [content.slice(1), ''] : [content.slice(1, cut), content.slice(cut + 1)]
  const isShared = /^(?:kr\.?|\$)$/i.test(mark.trim())
  return (isShared && currenciesByLanguage.get(language.toLowerCase())) || mark
}

/** Reads the texts that a number format shows beside the digits, without its placeholders. */
const readShownTexts = (code: string): string =>
  code
    // The semicolon of a text does not end the part for positive numbers.
    .replaceAll(formatParts, (_, text: string | undefined, letter: string | undefined, bracket: string | undefined) =>
      (text ?? letter ?? readBracket(bracket ?? '')).replaceAll(';', ' '),
    )
    .split(';')[0]!
    .replaceAll(/general|standard|[\d#?,@+()/-]/gi, ' ')

const shortNames = ['kr', 'zł', 'zl', 'kč', 'ft', 'fr', 'sfr', 'lei', 'лв', 'руб', 'р', 'грн', 'euro']
const currencyNames = new Set([...Intl.supportedValuesOf('currency'), ...shortNames])

const isCurrencyMark = (word: string): boolean => {
  const name = word.replace(/\.$/, '')
  return /\p{Sc}/u.test(word) || currencyNames.has(name) || shortNames.includes(name.toLowerCase())
}

const findCurrency = (code: string): string | undefined => readShownTexts(code).split(/\s+/).find(isCurrencyMark)

/** The limit of Excel. */
const maxCodeLength = 255

export function detectNumberKind(id: number, code: string | undefined): NumberKind {
  if (code !== undefined && code.length > maxCodeLength) return { kind: 'number' }
  if (code === undefined) {
    if (dateIds.has(id)) return { kind: 'date' }
    if (timeIds.has(id)) return { kind: 'time' }
    if (percentageIds.has(id)) return { kind: 'percentage', factor: 100 }
    return { kind: id === durationId ? 'duration' : 'number' }
  }
  const skeleton = stripFormat(code)
  // Telephone numbers and codes: 000-000 00 00.
  const digits = skeleton.replaceAll(/[ ()/-]/g, '')
  if (/^0{2,}$/.test(digits)) return { kind: 'digits', length: digits.length }
  // Programs write currencies without quotation marks, as in `#,##0.00 DKK`.
  if (skeleton.includes('#') || /general|standard/i.test(skeleton)) return detectPlainKind(code, skeleton)
  if (/\[(h+|m+|s+)\]/i.test(skeleton)) return { kind: 'duration' }
  if (/[dy]/i.test(skeleton)) return { kind: 'date' }
  if (/[hs]/i.test(skeleton)) return { kind: 'time' }
  return /m/i.test(skeleton) ? { kind: 'date' } : detectPlainKind(code, skeleton)
}

function detectPlainKind(code: string, skeleton: string): NumberKind {
  if (readShownTexts(code).includes('%')) return { kind: 'percentage', factor: skeleton.includes('%') ? 100 : 1 }
  const currency = findCurrency(code)
  return currency === undefined ? { kind: 'number' } : { kind: 'number', currency }
}

const secondsOfDay = 86_400
/** Days from 1970-01-01 back to the day 0 of the calendar that begins in 1900. */
const epoch1900 = 25_569
const daysBetweenCalendars = 1462
/** Excel counts a 29 February 1900, which did not exist. */
const firstTrueDay = 61
const lastDay = 2_958_466

const padTwo = (value: number): string => String(value).padStart(2, '0')

function formatClock(seconds: number): string {
  return `${padTwo(Math.floor(seconds / 3600))}:${padTwo(Math.floor(seconds / 60) % 60)}:${padTwo(seconds % 60)}`
}

/** Formats a date in the clock of the sheet: `2026-12-31`, `2026-12-31 20:00:00`. */
function formatDate(serial: number, is1904: boolean): string | null {
  const since1900 = serial + (is1904 ? daysBetweenCalendars : 0)
  const day = since1900 < firstTrueDay ? since1900 + 1 : since1900
  if (since1900 < 1 || since1900 >= lastDay) return null
  const seconds = Math.round((day - epoch1900) * secondsOfDay)
  const text = new Date(seconds * 1000).toISOString()
  const clock = ((seconds % secondsOfDay) + secondsOfDay) % secondsOfDay
  return clock === 0 ? text.slice(0, 10) : `${text.slice(0, 10)} ${formatClock(clock)}`
}

/** Spreadsheets keep this many digits. Further ones of a fraction come from the binary form of the number. */
const exactDigits = 15

/** True if digits beyond the 15th were lost, so different numbers may look equal: `1234567890123450`. */
const lostItsEnd = (digits: string): boolean => digits.length > exactDigits && /^0*$/.test(digits.slice(exactDigits))

/** Writes a number that lost digits as a spreadsheet shows it: `1.23456789012345E+15`. */
function formatShortened(sign: string, digits: string): string {
  const significant = digits.replace(/(?<!0)0+$/, '')
  const fraction = significant.slice(1)
  return `${sign}${significant[0]}${fraction && `.${fraction}`}E+${digits.length - 1}`
}

/** An integer stays as it is written, unless its last digits are lost. Fractions are rounded. */
function formatPlainNumber(text: string): string {
  const integer = /^(-?)(\d+)(?:\.0+)?$/.exec(text.trim())
  if (integer) {
    const [, sign = '', digits = ''] = integer
    return lostItsEnd(digits.replace(/^0+/, '')) ? formatShortened(sign, digits.replace(/^0+/, '')) : sign + digits
  }
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return text
  // Two different numbers of this size may be the same when they are rounded.
  if (Math.abs(value) >= 10 ** exactDigits) return text.trim().replace(/e\+?(?=\d)/i, 'E+')
  const roundedValue = Number(value.toPrecision(exactDigits))
  const digits = String(roundedValue)
  return digits.includes('e') ? roundedValue.toFixed(20).replace(/(?<!0)0+$/, '') : digits
}

/**
 * Adds a fourth decimal to what could be groups of three digits, so that the point is certain in all numbers of a
 * workbook. Only its texts can be ambiguous.
 */
const addFourthDecimal = (text: string): string => (/^-?[1-9]\d{0,2}\.\d{3}$/.test(text) ? `${text}0` : text)

function formatPercentage(value: number, factor: number): string {
  return `${formatPlainNumber(String(Number((value * factor).toPrecision(exactDigits))))}%`
}

/** Formats a number like its cell, but always with a point, and with its currency after it. */
export function formatNumber(text: string, format: NumberKind, is1904: boolean): string {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return text
  if (format.kind === 'percentage') return formatPercentage(value, format.factor)
  const decimal = addFourthDecimal(formatPlainNumber(text))
  if (format.kind === 'number') return format.currency === undefined ? decimal : `${decimal} ${format.currency}`
  if (value < 0) return decimal
  const seconds = Math.round(value * secondsOfDay)
  switch (format.kind) {
    case 'digits':
      return formatPlainNumber(text).padStart(format.length, '0')
    case 'duration':
      return formatClock(seconds)
    case 'time':
      return seconds < secondsOfDay ? formatClock(seconds) : (formatDate(value, is1904) ?? formatPlainNumber(text))
    case 'date':
      return formatDate(value, is1904) ?? (value > 0 && value < 1 ? formatClock(seconds) : formatPlainNumber(text))
  }
}
