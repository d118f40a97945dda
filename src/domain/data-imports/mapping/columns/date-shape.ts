import { fold } from '../../../text/fold.ts'
import { dayMs } from '../../../time/instants.ts'
import { maxParsedLength } from '../../import-cells.ts'
import data from './date-words.json' with { type: 'json' }
import { normalizeMarks } from './number-shape.ts'
import { readOffset, takeZone, type WrittenZone } from './zone-names.ts'

const monthNumbers: ReadonlyMap<string, number> = new Map(
  data.months.flatMap((names, index) => names.map((name) => [name, index + 1] as const)),
)

const weekdays: ReadonlySet<string> = new Set(data.weekdays)

export const dateOrders = ['dmy', 'mdy', 'ymd'] as const
export type DateOrder = (typeof dateOrders)[number]

export interface DateShape {
  /** Midnight by each order that the text allows, as if it were UTC. An unambiguous text has all three. */
  days: Record<DateOrder, number | null>
  /** True if the text is unambiguous by itself. */
  is_fixed: boolean
  is_dotted: boolean
  /** True if the year has two digits. */
  has_short_year: boolean
  /** True if the text is a day number of a spreadsheet. */
  is_serial: boolean
  /** Milliseconds since midnight, or null for a date alone. */
  time: number | null
  /** Milliseconds ahead of UTC, or null for local time. */
  offset: number | null
  /** The IANA name of a zone that is written instead of an offset. */
  zone?: string
}

const [firstYear, lastYear] = [1900, 2100]

/** Returns midnight as if it were UTC, or null for a day that does not exist. */
function toDay(year: number, month: number, day: number): number | null {
  if (year < firstYear || year > lastYear || month < 1 || month > 12 || day < 1) return null
  const at = Date.UTC(year, month - 1, day)
  return new Date(at).getUTCDate() === day ? at : null
}

const expandYear = (text: string): number =>
  text.length === 4 ? Number(text) : Number(text) + (Number(text) < 70 ? 2000 : 1900)

type Days = Pick<DateShape, 'days' | 'is_fixed' | 'is_dotted' | 'has_short_year'>

function buildFixedDays(day: number | null, year = ''): Days | null {
  if (day === null) return null
  const has_short_year = year.length === 2
  return { days: { dmy: day, mdy: day, ymd: day }, is_fixed: true, is_dotted: false, has_short_year }
}

function readTriple(text: string): Days | null {
  const match = /^(\d{1,4})([./-]) ?(\d{1,2})\2 ?(\d{1,4})\.?$/.exec(text)
  if (!match) return null
  const [, first = '', separator = '', second = '', third = ''] = match
  if (first.length === 4)
    return third.length > 2 ? null : buildFixedDays(toDay(Number(first), Number(second), Number(third)))
  if (first.length === 3 || (third.length !== 2 && third.length !== 4)) return null
  const year = expandYear(third)
  // A year of two digits comes first only with hyphens: 26-12-31.
  const isYearFirst = separator === '-' && first.length === 2 && third.length === 2
  const days = {
    dmy: toDay(year, Number(second), Number(first)),
    mdy: toDay(year, Number(first), Number(second)),
    ymd: isYearFirst ? toDay(expandYear(first), Number(second), Number(third)) : null,
  }
  return Object.values(days).every((day) => day === null)
    ? null
    : { days, is_fixed: false, is_dotted: separator === '.', has_short_year: third.length === 2 }
}

const withMonthName = [
  // 31. december 2026, 31-Dec-26, 31st of Dec 2026
  /^(?<day>\d{1,2})(?:st|nd|rd|th)?(?: of )?[\s./-]*(?<month>[a-z]+)\.?[\s,./-]*'?(?<year>\d{4}|\d{2})$/,
  // December 31, 2026
  /^(?<month>[a-z]+)\.?[\s/-]*(?<day>\d{1,2})(?:st|nd|rd|th)?[,.\s/-]+(?<year>\d{4})$/,
  // Dec-31-26
  /^(?<month>[a-z]+)-(?<day>\d{1,2})-(?<year>\d{2})$/,
  // 2026-Dec-31
  /^(?<year>\d{4})[\s/-]+(?<month>[a-z]+)[\s/-]+(?<day>\d{1,2})$/,
]

const romanMonths = ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x', 'xi', 'xii']

/** Reads `4.VII.2026`. A year of two digits would make dates of sizes such as `4 x 10`. */
function readRoman(text: string): Days | null {
  const [, day, month = '', year] = /^(\d{1,2})[\s./-]+([ivx]{1,4})[\s./-]+(\d{4})$/.exec(text) ?? []
  const number = romanMonths.indexOf(month) + 1
  return number === 0 ? null : buildFixedDays(toDay(Number(year), number, Number(day)))
}

function readNamed(text: string): Days | null {
  for (const pattern of withMonthName) {
    const parts = pattern.exec(text)?.groups
    const month = parts && monthNumbers.get(parts['month'] ?? '')
    const { day, year = '' } = parts ?? {}
    if (month) return buildFixedDays(toDay(expandYear(year), month, Number(day)), year)
  }
  return null
}

/** Reads `1/5-2026` and `1/5 2026`, as Danes write it. */
function readDanish(text: string): Days | null {
  const match = /^(\d{1,2})\/(\d{1,2})(?: ?- ?| )(\d{4}|(?<=-.?)\d{2})$/.exec(text)
  const [, day, month, year = ''] = match ?? []
  return match && buildFixedDays(toDay(expandYear(year), Number(month), Number(day)), year)
}

function readCompact(text: string): Days | null {
  const match = /^(\d{4})(\d{2})(\d{2})$/.exec(text)
  return match && buildFixedDays(toDay(Number(match[1]), Number(match[2]), Number(match[3])))
}

function removeWeekday(text: string): string {
  const [, word = '', rest = ''] = /^([a-z]+)[.,]{0,2} +([^ ].*)$/.exec(text) ?? []
  if (word === 'den' || word === 'd') return rest
  return weekdays.has(word) ? rest.replace(/^den /, '') : text
}

const timePattern =
  /^(?<hour>\d{1,2})(?:[:.h](?<minute>\d{2})(?:[:.](?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)? ?(?<half>[apfe]\.? ?m\.?)? ?(?<unit>uhr|h)?$/

interface Clock {
  hour: number
  minute: number
  second: number
  fraction: string | undefined
}

/** Returns null for a time that does not exist. Midnight may end a day, and a leap second an hour. */
function toClockMs({ hour, minute, second, fraction = '' }: Clock): number | null {
  const at = ((hour * 60 + minute) * 60 + second) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
  const isLeapSecond = minute === 59 && second === 60
  return minute > 59 || (second > 59 && !isLeapSecond) || at > dayMs ? null : at
}

/** Words before a time, in the languages of exports. */
const timeWords = '(?:kl|klokken|klokka|klockan|klo|at|um|om|o godz|o|godz|a)\\.?'

/** Reads folded times such as `20:00`, `8.30`, `8 pm`, the Swedish `8.00 em`, and `20` if a word says what it is. */
function readClock(text: string, isNamed = false): number | null {
  const parts = timePattern.exec(text)?.groups
  if (!parts) return null
  if (!isNamed && [parts['minute'], parts['half'], parts['unit']].every((part) => part === undefined)) return null
  const half = parts['half']?.[0]
  const hour = Number(parts['hour'])
  if (half && (hour < 1 || hour > 12)) return null
  return toClockMs({
    hour: half ? (hour % 12) + (half === 'p' || half === 'e' ? 12 : 0) : hour,
    minute: Number(parts['minute'] ?? 0),
    second: Number(parts['second'] ?? 0),
    fraction: parts['fraction'],
  })
}

const clockPattern = '\\d{1,2}(?:[:.h]\\d{2}(?:[:.]\\d{2}(?:[.,]\\d{1,9})?)?)?(?: ?[apfe]\\.? ?m\\.?)?(?: ?uhr| ?h)?'
const zonePattern = 'z|[a-z]{3,4}|(?:utc|gmt)?[+-]\\d{1,2}[:.]?(?:\\d{2})?'
const withTime = new RegExp(
  [
    `^(?<date>.*?\\d)(?:,? (?<word>${timeWords},? ?)?|,? ?[-–|_] ?(?=\\d{1,2}[:h])|:(?=\\d{2}:)|t)`,
    `(?<time>${clockPattern})(?: ?(?<zone>${zonePattern}))?$`,
  ].join(''),
)
const timeFirst = /^(?<time>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?)?),? (?:den |d\. ?|on )?(?<date>.*\d{2})$/
/** ISO 8601 without separators, and numbers of databases: `20260704T200000Z`, `20260704200000`. */
const compactTime = /^(\d{8})(?:t|(?=\d{6}(?!\d)))(\d{2})(\d{2})(\d{2})?((?:[.,]\d{1,9})?(?:z|[+-]\d{2}:?\d{2})?)$/

function spreadCompactTime(text: string): string {
  const [, day, hour, minute, second = '00', end = ''] = compactTime.exec(text) ?? []
  return day === undefined ? text : `${day} ${hour}:${minute}:${second}${end}`
}

const readDays = (text: string): Days | null => {
  const date = removeWeekday(text)
  return readTriple(date) ?? readNamed(date) ?? readRoman(date) ?? readCompact(date) ?? readDanish(date)
}

const serialEpoch = Date.UTC(1899, 11, 30)
const [firstSerial, lastSerial] = [25_569, 73_050]
const minMs = Date.UTC(1990, 0, 1)
const maxMs = Date.UTC(lastYear, 0, 1)

const noTime = { time: null, offset: null, is_serial: false }

function buildInstantShape(at: number, properties: Pick<DateShape, 'offset' | 'is_serial'>): DateShape | null {
  const day = Math.floor(at / dayMs) * dayMs
  const days = buildFixedDays(day)
  return days && { ...days, ...properties, time: at - day }
}

/** Reads days since 1900 as spreadsheets count them, and seconds or milliseconds since 1970. */
function readCount(text: string): DateShape | null {
  if (/^\d{5}(?:[.,]\d+)?$/.test(text)) {
    const serial = Number(text.replace(',', '.'))
    if (serial < firstSerial || serial > lastSerial) return null
    // Spreadsheets count seconds, of which a few decimals of a day are only near.
    const seconds = Math.round((serial * dayMs) / 1000)
    const shape = buildInstantShape(serialEpoch + seconds * 1000, { offset: null, is_serial: true })
    return shape && (Number.isInteger(serial) ? { ...shape, time: null } : shape)
  }
  const at = /^\d{10}(?:\.\d{1,9})?$/.test(text)
    ? Math.floor(Number(text) * 1000)
    : /^\d{13}$/.test(text)
      ? Number(text)
      : Number.NaN
  return at >= minMs && at < maxMs ? buildInstantShape(at, { offset: 0, is_serial: false }) : null
}

/** Texts without digits, with signs that dates do not have, or with letters and digits in one word like codes. */
const cannotBeDate = /^\D*$|[@#&%$€£]|^[A-Za-z]+-?\d{3,}$/

/** Most programs export dates of ISO 8601 or times of UTC. */
const isoTime = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z)?$/

function readIso(cell: string): DateShape | null {
  const match = isoTime.exec(cell)
  const days = match && buildFixedDays(toDay(Number(match[1]), Number(match[2]), Number(match[3])))
  if (!days || match[4] === undefined) return days && { ...days, ...noTime }
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])]
  const time = toClockMs({ hour, minute, second, fraction: match[7] })
  return time === null ? null : { ...days, time, offset: 0, is_serial: false }
}

/** Reads a date with every order that it allows; null for a text that is not a date. */
export function readDate(cell: string): DateShape | null {
  if (cell.length > maxParsedLength) return null
  const iso = readIso(cell)
  if (iso || cannotBeDate.test(cell)) return iso
  // Polish years end with `r.`.
  const foldedCell = fold(normalizeMarks(cell)).replace(/(?<=\d{4}) ?r\.?(?=$|[ ,])/, '')
  const timeParts = takeZone(spreadCompactTime(moveYear(foldedCell)), (content) => weekdays.has(content))
  return timeParts && addZone(readWithoutZoneName(timeParts.rest), timeParts.zone)
}

/** An offset that is written as well wins. */
function addZone(shape: DateShape | null, zone: WrittenZone | null): DateShape | null {
  if (!shape || !zone || shape.offset !== null || shape.is_serial) return shape
  return 'name' in zone ? { ...shape, zone: zone.name } : { ...shape, offset: zone.offset }
}

/** Unix writes the year behind the time and the zone: `Sun May 17 20:05:09 CEST 2026`. */
const yearLast =
  /^(?<date>(?:[a-z]+[.,]? +)?(?:[a-z]+\.? +\d{1,2}|\d{1,2}\.? [a-z]+\.?)) (?<time>\d{1,2}:\d{2}:\d{2}(?: [ap]m)?(?: (?:[a-z]{1,5}|[+-]\d{2,4}))?) (?<year>\d{4})$/

const moveYear = (text: string): string => {
  const { date, time, year } = yearLast.exec(text)?.groups ?? {}
  return date === undefined ? text : `${date} ${year} ${time}`
}

function readTimeFirst(text: string): DateShape | null {
  const parts = timeFirst.exec(text)?.groups
  const days = parts && readDays(parts['date'] ?? '')
  const time = parts && readClock(parts['time'] ?? '')
  return days && time !== null && time !== undefined ? { ...days, ...noTime, time } : null
}

function readWithoutZoneName(text: string): DateShape | null {
  const count = readCount(text)
  if (count) return count
  const alone = readDays(text)
  if (alone) return { ...alone, ...noTime }
  const parts = withTime.exec(text)?.groups
  if (!parts) return readTimeFirst(text)
  const days = readDays((parts['date'] ?? '').replace(/,$/, ''))
  const time = readClock(parts['time'] ?? '', parts['word'] !== undefined)
  if (!days) return readTimeFirst(text)
  if (time === null) return null
  const offset = parts['zone'] === undefined ? null : readOffset(parts['zone'])
  return parts['zone'] !== undefined && offset === null ? null : { ...days, time, offset, is_serial: false }
}

/** Spreadsheets show a time without a date on one of their first days. */
const firstDays =
  /^(?:1899-12-3[01]|1900-01-0[01]|1904-01-01|30[./-]12[./-]1899|12\/30\/1899|0?1[./]0?1[./]190[04])[ t]/
const timeWord = new RegExp(`^${timeWords}(?![a-z]) ?`)

/** Reads a time without a date, also as a fraction of a day. */
export function readTime(cell: string): number | null {
  if (cell.length > maxParsedLength) return null
  const clockText = fold(normalizeMarks(cell)).replace(firstDays, '')
  const text = clockText.replace(timeWord, '')
  const fraction = /^0?[.,](\d{3,})$/.exec(text)?.[1]
  if (fraction !== undefined) return Math.round(Number(`0.${fraction}`) * 86_400) * 1000
  return readClock(text, text !== clockText)
}
