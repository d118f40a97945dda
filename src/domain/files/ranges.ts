/** Range and conditional requests of RFC 9110, sections 13 and 14. */

/** A part that a `Range` header requests (RFC 9110, section 14), with its first and its last byte. */
export type RequestedRange =
  | { kind: 'whole' }
  | { kind: 'part'; start: number; end: number }
  | { kind: 'unsatisfiable' }

const wholeFile: RequestedRange = { kind: 'whole' }
const unsatisfiable: RequestedRange = { kind: 'unsatisfiable' }

/** The number of a position. Numbers beyond any file size are equal. */
const parsePosition = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)

/** Parses a `Range` header. Several ranges, and anything else than bytes, count as the whole, as the standard allows. */
export function parseRange(header: string | null | undefined, size: number): RequestedRange {
  const [, first, last] = /^\s*bytes\s*=[\s,]*(\d*)-(\d*)[\s,]*$/i.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return wholeFile
  if (first === '') {
    const length = parsePosition(last)
    if (length === 0 || size === 0) return unsatisfiable
    return { kind: 'part', start: Math.max(0, size - length), end: size - 1 }
  }
  const start = parsePosition(first)
  if (last !== '' && BigInt(last) < BigInt(first)) return wholeFile
  if (start >= size) return unsatisfiable
  return { kind: 'part', start, end: last === '' ? size - 1 : Math.min(parsePosition(last), size - 1) }
}

export interface Validators {
  /** A strong ETag with its quotes. */
  etag: string
  /** Milliseconds UTC. */
  modifiedAt: number
}

const tag = String.raw`(?:W/)?"[\u0021\u0023-\u007e\u0080-\u00ff]*"`
const tagListPattern = new RegExp(String.raw`^[\s,]*${tag}(?:\s*,[\s,]*${tag})*[\s,]*$`)
const tagPattern = new RegExp(tag, 'g')

/** True if a list of ETags contains the ETag. Weak tags count only if `isWeak`. */
function includesTag(list: string, etag: string, isWeak: boolean): boolean {
  if (list.trim() === '*') return true
  if (!tagListPattern.test(list)) return false
  return [...list.matchAll(tagPattern)].some(([entry]) => (isWeak ? entry.replace(/^W\//, '') : entry) === etag)
}

const days = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const months = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const imfDate = new RegExp(String.raw`^${days}, \d{2} ${months} \d{4} \d{2}:\d{2}:\d{2} GMT$`)
const longDay = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'
const rfc850Date = new RegExp(String.raw`^${longDay}, (\d{2})-(${months})-(\d{2}) (\d{2}:\d{2}:\d{2}) GMT$`)
const asctimeDate = new RegExp(String.raw`^${days} (${months}) ([ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$`)

const toFinite = (time: number): number | null => (Number.isFinite(time) ? time : null)

/** Parses a date in one of the three forms of HTTP. A year of two digits is within 50 years of now. */
export function parseHttpDate(text: string, now = Date.now()): number | null {
  const date = text.trim()
  if (imfDate.test(date)) return toFinite(Date.parse(date))
  const [, day, month, shortYear, time] = rfc850Date.exec(date) ?? []
  if (shortYear !== undefined) {
    const latestYear = new Date(now).getUTCFullYear() + 50
    const year = latestYear - ((latestYear - Number(shortYear)) % 100)
    return toFinite(Date.parse(`${day} ${month} ${year} ${time} GMT`))
  }
  const [, monthName, dayOfMonth, clock, year] = asctimeDate.exec(date) ?? []
  return year === undefined ? null : toFinite(Date.parse(`${dayOfMonth?.trim()} ${monthName} ${year} ${clock} GMT`))
}

export const formatHttpDate = (at: number): string => new Date(at).toUTCString()

const toSecond = (at: number): number => Math.floor(at / 1000) * 1000

/** True if the file has not changed since the date. Null: the header is absent or not a date. */
function isUnchangedSince(header: string | null, { modifiedAt }: Validators): boolean | null {
  const since = header === null ? null : parseHttpDate(header)
  return since === null ? null : toSecond(modifiedAt) <= since
}

/** The status of the first condition that fails, in the order of RFC 9110, section 13.2.2, or null. */
export function findFailedCondition(headers: Headers, validators: Validators): 304 | 412 | null {
  const ifMatch = headers.get('if-match')
  if (ifMatch !== null) {
    if (!includesTag(ifMatch, validators.etag, false)) return 412
  } else if (isUnchangedSince(headers.get('if-unmodified-since'), validators) === false) return 412
  const ifNoneMatch = headers.get('if-none-match')
  if (ifNoneMatch !== null) return includesTag(ifNoneMatch, validators.etag, true) ? 304 : null
  return isUnchangedSince(headers.get('if-modified-since'), validators) === true ? 304 : null
}

/** True if the `Range` header applies: without `If-Range`, or if that names the current state. */
export function isRangeWanted(ifRange: string | null, validators: Validators): boolean {
  if (ifRange === null) return true
  const validator = ifRange.trim()
  if (validator.startsWith('"') || validator.startsWith('W/')) return validator === validators.etag
  return parseHttpDate(validator) === toSecond(validators.modifiedAt)
}
