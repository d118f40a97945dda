/** Range and conditional requests of RFC 9110, sections 13 and 14. */

/** `start` and `end` are the first and the last byte. */
export type RangeAnswer = { kind: 'whole' } | { kind: 'part'; start: number; end: number } | { kind: 'unsatisfiable' }

const whole: RangeAnswer = { kind: 'whole' }
const unsatisfiable: RangeAnswer = { kind: 'unsatisfiable' }

/** The number of a position. Numbers beyond any file size are equal. */
const position = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)

/**
 * What a `Range` header asks of so many bytes. Several ranges and what is no range of bytes are ignored, as the standard
 * allows: the answer is the whole.
 */
export function parseRange(header: string | null | undefined, size: number): RangeAnswer {
  const [, first, last] = /^\s*bytes\s*=[\s,]*(\d*)-(\d*)[\s,]*$/i.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return whole
  if (first === '') {
    const length = position(last)
    if (length === 0 || size === 0) return unsatisfiable
    return { kind: 'part', start: Math.max(0, size - length), end: size - 1 }
  }
  const start = position(first)
  if (last !== '' && BigInt(last) < BigInt(first)) return whole
  if (start >= size) return unsatisfiable
  return { kind: 'part', start, end: last === '' ? size - 1 : Math.min(position(last), size - 1) }
}

export interface Validators {
  /** Strong, with its quotes. */
  etag: string
  /** Milliseconds UTC. */
  modifiedAt: number
}

const tag = String.raw`(?:W/)?"[\u0021\u0023-\u007e\u0080-\u00ff]*"`
const listOfTags = new RegExp(String.raw`^[\s,]*${tag}(?:\s*,[\s,]*${tag})*[\s,]*$`)
const eachTag = new RegExp(tag, 'g')

/** True where a list of entity tags names the one; a list that is none names nothing. Weak tags count where `isWeak`. */
function names(list: string, etag: string, isWeak: boolean): boolean {
  if (list.trim() === '*') return true
  if (!listOfTags.test(list)) return false
  return [...list.matchAll(eachTag)].some(([one]) => (isWeak ? one.replace(/^W\//, '') : one) === etag)
}

const days = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const months = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const imfDate = new RegExp(String.raw`^${days}, \d{2} ${months} \d{4} \d{2}:\d{2}:\d{2} GMT$`)
const longDay = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'
const rfc850Date = new RegExp(String.raw`^${longDay}, (\d{2})-(${months})-(\d{2}) (\d{2}:\d{2}:\d{2}) GMT$`)
const asctimeDate = new RegExp(String.raw`^${days} (${months}) ([ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$`)

const finite = (time: number): number | null => (Number.isFinite(time) ? time : null)

/** A date in one of the three forms of HTTP; null for anything else. Two digits of a year are of the last 50 or the next 50 years. */
export function parseHttpDate(text: string, now = Date.now()): number | null {
  const date = text.trim()
  if (imfDate.test(date)) return finite(Date.parse(date))
  const [, day, month, short, time] = rfc850Date.exec(date) ?? []
  if (short !== undefined) {
    const latest = new Date(now).getUTCFullYear() + 50
    const year = latest - ((latest - Number(short)) % 100)
    return finite(Date.parse(`${day} ${month} ${year} ${time} GMT`))
  }
  const [, monthName, dayOfMonth, clock, year] = asctimeDate.exec(date) ?? []
  return year === undefined ? null : finite(Date.parse(`${dayOfMonth?.trim()} ${monthName} ${year} ${clock} GMT`))
}

export const formatHttpDate = (at: number): string => new Date(at).toUTCString()

const toSecond = (at: number): number => Math.floor(at / 1000) * 1000

/** False where the file was changed after the date; null where the header is absent or is no date. */
function isUnchangedSince(header: string | null, { modifiedAt }: Validators): boolean | null {
  const since = header === null ? null : parseHttpDate(header)
  return since === null ? null : toSecond(modifiedAt) <= since
}

/** The first condition that fails, in the order of RFC 9110, section 13.2.2; null where the request goes on. */
export function findFailedCondition(headers: Headers, current: Validators): 304 | 412 | null {
  const ifMatch = headers.get('if-match')
  if (ifMatch !== null) {
    if (!names(ifMatch, current.etag, false)) return 412
  } else if (isUnchangedSince(headers.get('if-unmodified-since'), current) === false) return 412
  const ifNoneMatch = headers.get('if-none-match')
  if (ifNoneMatch !== null) return names(ifNoneMatch, current.etag, true) ? 304 : null
  return isUnchangedSince(headers.get('if-modified-since'), current) === true ? 304 : null
}

/** True when a `Range` counts: without `If-Range`, or when that names the exact current state. */
export function isRangeWanted(ifRange: string | null, current: Validators): boolean {
  if (ifRange === null) return true
  const given = ifRange.trim()
  if (given.startsWith('"') || given.startsWith('W/')) return given === current.etag
  return parseHttpDate(given) === toSecond(current.modifiedAt)
}
