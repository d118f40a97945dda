import { type SQL, sql } from 'drizzle-orm'
import { durationRange, timestampRange } from '../../domain/cel/instants.ts'
import { failing, strict, type Value } from './values.ts'

const bounded = (expression: SQL, { from, to }: { from: bigint; to: bigint }): SQL =>
  sql`(select case when v between ${sql.raw(`${from} and ${to}`)} then v end from (select ${expression} as v))`

export const boundedTimestamp = (expression: SQL): Value => failing(bounded(expression, timestampRange))
export const boundedDuration = (expression: SQL): Value => failing(bounded(expression, durationRange))

/** SQLite makes a double of an integer that does not fit: that is an error. */
export const boundedInteger = (expression: SQL): Value =>
  failing(sql`(select case typeof(v) when 'integer' then v end from (select ${expression} as v))`)

/** Computes a value once that a function uses several times. */
const once = (what: string, ...values: readonly Value[]): Value => {
  const names = sql.join(
    values.map((value, index) => sql`${value.sql} as ${sql.raw('vw'[index] ?? 'x')}`),
    sql`, `,
  )
  return strict(sql`(select ${sql.raw(what)} from (select ${names}))`, ...values)
}

const integerOfDouble = `case when v > -9223372036854775808.0 and v < 9223372036854775808.0 then cast(v as integer) end`
/** Signs, digits and the digits without leading zeros; compared as texts with the largest integers. */
const integerOfText = `(select case
  when d = '' or d glob '*[^0-9]*' or length(s) > 1 then null
  when length(n) < 19 or (length(n) = 19 and n <= case s when '-' then '9223372036854775808' else '9223372036854775807' end)
  then cast(replace(s, '+', '') || '0' || n as integer) end
  from (select s, d, ltrim(d, '0') as n
    from (select substr(v, 1, length(v) - length(ltrim(v, '+-'))) as s, ltrim(v, '+-') as d)))`

/** Conversions by their types, `from to`. */
const conversions: Record<string, string> = {
  'double int': integerOfDouble,
  'string int': integerOfText,
  'timestamp int': '(v - ((v % 1000) + 1000) % 1000) / 1000',
  'int double': 'cast(v as real)',
  'int string': 'cast(v as text)',
  'bool string': `case v when 1 then 'true' when 0 then 'false' end`,
  'string bool': `case when v in ('1', 't', 'true', 'TRUE', 'True') then 1 when v in ('0', 'f', 'false', 'FALSE', 'False') then 0 end`,
  'int timestamp': 'case when v between -62135596800 and 253402300799 then v * 1000 end',
}

const always = new Set(['timestamp int', 'int double', 'int string', 'bool string'])

export function converted(value: Value, from: string, to: string): Value {
  const made = once(conversions[`${from} ${to}`] ?? 'v', value)
  return always.has(`${from} ${to}`) ? made : { ...made, fails: true }
}

const part = (format: string, shift = 0): string =>
  `cast(strftime('${format}', v / 1000.0, 'unixepoch') as integer)${shift ? ` - ${shift}` : ''}`

const timestampParts: Record<string, string> = {
  getFullYear: part('%Y'),
  getMonth: part('%m', 1),
  getDate: part('%d'),
  getDayOfMonth: part('%d', 1),
  getDayOfWeek: part('%w'),
  getDayOfYear: part('%j', 1),
  getHours: part('%H'),
  getMinutes: part('%M'),
  getSeconds: part('%S'),
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

/** A function of texts or of a time; `of` is the type of the first argument. */
export function called(name: string, of: string, args: readonly Value[]): Value {
  const calls = of === 'timestamp' ? timestampParts : of === 'duration' ? durationParts : textCalls
  return once(calls[name] ?? 'null', ...args)
}
