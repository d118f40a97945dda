import { type SQL, sql } from 'drizzle-orm'
import { durationRange, timestampRange } from '../../domain/cel/instants.ts'
import { failingValue, strictValue, type Value } from './values.ts'
import { buildLocalTime } from './zones.ts'

const checkRange = (expression: SQL, { from, to }: { from: bigint; to: bigint }): SQL =>
  sql`(select case when v between ${sql.raw(`${from} and ${to}`)} then v end from (select ${expression} as v))`

export const checkTimestampRange = (expression: SQL): Value => failingValue(checkRange(expression, timestampRange))
export const checkDurationRange = (expression: SQL): Value => failingValue(checkRange(expression, durationRange))

/** SQLite turns an integer that overflows into a double, which is an error in CEL. */
export const checkIntegerRange = (expression: SQL): Value =>
  failingValue(sql`(select case typeof(v) when 'integer' then v end from (select ${expression} as v))`)

/** `expression` names the operands `v` and `w`, each of which is computed once. */
const computeOnce = (expression: string, ...values: readonly Value[]): Value => {
  const names = sql.join(
    values.map((value, index) => sql`${value.sql} as ${sql.raw('vw'[index] ?? 'x')}`),
    sql`, `,
  )
  return strictValue(sql`(select ${sql.raw(expression)} from (select ${names}))`, ...values)
}

const integerOfDouble = `case when v > -9223372036854775808.0 and v < 9223372036854775808.0 then cast(v as integer) end`
/**
 * Splits the text into signs and digits, and compares digits without leading zeros with the largest integers as texts.
 */
const integerOfText = `(select case
  when d = '' or d glob '*[^0-9]*' or length(s) > 1 then null
  when length(n) < 19 or (length(n) = 19
    and n <= case s when '-' then '9223372036854775808' else '9223372036854775807' end)
  then cast(replace(s, '+', '') || '0' || n as integer) end
  from (select s, d, ltrim(d, '0') as n
    from (select substr(v, 1, length(v) - length(ltrim(v, '+-'))) as s, ltrim(v, '+-') as d)))`

/** Conversions have a key of their source and target type. */
const conversions: Record<string, string> = {
  'double int': integerOfDouble,
  'string int': integerOfText,
  'timestamp int': '(v - ((v % 1000) + 1000) % 1000) / 1000',
  'int double': 'cast(v as real)',
  'int string': 'cast(v as text)',
  'bool string': `case v when 1 then 'true' when 0 then 'false' end`,
  'string bool': `case when v in ('1', 't', 'true', 'TRUE', 'True') then 1
    when v in ('0', 'f', 'false', 'FALSE', 'False') then 0 end`,
  'int timestamp': 'case when v between -62135596800 and 253402300799 then v * 1000 end',
}

const safeConversions = new Set(['timestamp int', 'int double', 'int string', 'bool string'])

export function convert(value: Value, from: string, to: string): Value {
  const result = computeOnce(conversions[`${from} ${to}`] ?? 'v', value)
  return safeConversions.has(`${from} ${to}`) ? result : { ...result, fails: true }
}

/** The time that the clocks of a zone show, as if it were UTC. */
export const toLocalTime = (value: Value, zone: string, now: number): Value =>
  computeOnce(buildLocalTime(zone, now), value)

/** Counts the days between two local times, from midnight to midnight. */
export const countDaysBetween = (from: Value, to: Value): Value =>
  computeOnce('w - v', computeOnce(dayNumber, from), computeOnce(dayNumber, to))

const dayNumber = '(v - ((v % 86400000) + 86400000) % 86400000) / 86400000'

const formatPart = (format: string, shift = 0): string =>
  `cast(strftime('${format}', v / 1000.0, 'unixepoch') as integer)${shift ? ` - ${shift}` : ''}`

const timestampParts: Record<string, string> = {
  getFullYear: formatPart('%Y'),
  getMonth: formatPart('%m', 1),
  getDate: formatPart('%d'),
  getDayOfMonth: formatPart('%d', 1),
  getDayOfWeek: formatPart('%w'),
  getDayOfYear: formatPart('%j', 1),
  getHours: formatPart('%H'),
  getMinutes: formatPart('%M'),
  getSeconds: formatPart('%S'),
  getMilliseconds: '((v % 1000) + 1000) % 1000',
}

const durationParts: Record<string, string> = {
  getHours: 'v / 3600000',
  getMinutes: 'v / 60000',
  getSeconds: 'v / 1000',
  getMilliseconds: 'v % 1000',
}

const textCalls: Record<string, string> = {
  contains: 'instr(v, w) > 0',
  startsWith: 'substr(v, 1, length(w)) = w',
  endsWith: 'length(v) >= length(w) and substr(v, length(v) - length(w) + 1) = w',
  lowerAscii: 'lower(v)',
  upperAscii: 'upper(v)',
  size: 'length(v)',
}

/** Calls a function of a text, a timestamp or a duration; `type` is the type of its first argument. */
export function callFunction(name: string, type: string, args: readonly Value[]): Value {
  const calls = type === 'timestamp' ? timestampParts : type === 'duration' ? durationParts : textCalls
  return computeOnce(calls[name] ?? 'null', ...args)
}
