/** `digits` are shown with leading zeros, such as a postal code. */
export type NumberKind =
  | { kind: 'number' }
  | { kind: 'date' }
  | { kind: 'time' }
  | { kind: 'duration' }
  | { kind: 'digits'; length: number }

const dateIds = new Set([14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58])
const timeIds = new Set([18, 19, 20, 21, 32, 33, 34, 35, 45, 47])
const durationId = 46

/** Removes texts, escapes, colours, conditions and languages, and keeps the part for positive numbers. */
const stripFormat = (code: string): string =>
  code
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi, '')
    .split(';')[0]!

/** The limit of Excel. */
const maxCodeLength = 255

export function detectNumberKind(id: number, code: string | undefined): NumberKind {
  if (code !== undefined && code.length > maxCodeLength) return { kind: 'number' }
  if (code === undefined) {
    if (dateIds.has(id)) return { kind: 'date' }
    if (timeIds.has(id)) return { kind: 'time' }
    return { kind: id === durationId ? 'duration' : 'number' }
  }
  const skeleton = stripFormat(code)
  // Telephone numbers and codes: 000-000 00 00.
  const digits = skeleton.replaceAll(/[ ()/-]/g, '')
  if (/^0{2,}$/.test(digits)) return { kind: 'digits', length: digits.length }
  // Programs write currencies without quotation marks, as in `#,##0.00 DKK`.
  if (skeleton.includes('#')) return { kind: 'number' }
  if (/general|standard/i.test(skeleton)) return { kind: 'number' }
  if (/\[(h+|m+|s+)\]/i.test(skeleton)) return { kind: 'duration' }
  if (/[dy]/i.test(skeleton)) return { kind: 'date' }
  if (/[hs]/i.test(skeleton)) return { kind: 'time' }
  return { kind: /m/i.test(skeleton) ? 'date' : 'number' }
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

const shortInteger = /^-?\d{1,15}$/
/** Further digits come from the binary form of the number. */
const significantDigits = 15

function formatPlainNumber(text: string): string {
  if (shortInteger.test(text)) return text
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return text
  const rounded = Number(value.toPrecision(significantDigits))
  const digits = String(rounded)
  if (!digits.includes('e')) return digits
  return Math.abs(rounded) >= 1 ? BigInt(rounded).toString() : rounded.toFixed(20).replace(/(?<!0)0+$/, '')
}

/**
 * Adds a fourth decimal to what could be groups of three digits, so that the point is certain in all numbers of a
 * workbook. Only its texts can be ambiguous.
 */
const addFourthDecimal = (text: string): string => (/^-?[1-9]\d{0,2}\.\d{3}$/.test(text) ? `${text}0` : text)

/** Formats a number like its cell, but always with a point and without a currency. */
export function formatNumber(text: string, format: NumberKind, is1904: boolean): string {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) return addFourthDecimal(formatPlainNumber(text))
  const seconds = Math.round(value * secondsOfDay)
  switch (format.kind) {
    case 'number':
      return addFourthDecimal(formatPlainNumber(text))
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
