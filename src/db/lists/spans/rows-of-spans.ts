import { is, SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import { listedKeys, quoted } from '../listed-keys.ts'
import { and } from '../order-keys.ts'
import type { SpanRange } from './place-in-spans.ts'
import { arePartsOf, bitsOfParts } from './span-parts.ts'
import { longBits, longestSumBits, type SpannedList } from './spanned-list.ts'

const long = written(longBits)
/** A query of the ids of some scopes, or the ids of one or a few. */
export type SpanScopes = SQL | string | readonly string[]

export function queryOf(scopes: SpanScopes): SQL {
  if (is(scopes, SQL)) return scopes
  return typeof scopes === 'string' ? sql`select ${scopes}` : sql`select column1 from ${listedKeys(scopes)}`
}

/** The query `scoped`. A query that is kept costs a row of each scope at each place that reads it. */
export const scopedBy = (scopes: SpanScopes, { isReadOnce = false } = {}): SQL =>
  sql`scoped (id) as ${isReadOnce || !is(scopes, SQL) ? sql`not materialized` : sql`materialized`} (${queryOf(scopes)})`

/** The id of the only scope, which is written out; null where the scopes are those of `scoped`. */
export type OneScope = SQL | null

export function oneOf(scopes: SpanScopes): OneScope {
  if (typeof scopes !== 'string') return null
  return /^[\w/]+$/.test(scopes) ? sql.raw(quoted(scopes)) : sql`(select id from scoped)`
}

/** The length of what a search begins with. */
export const longest = ({ hasLongSums }: SpannedList): SQL => written(hasLongSums ? longestSumBits : longBits)

/** The rows of the scopes in a table of spans: a `from` with a condition. A list of ids would be a row of each. */
export const fromScopes = ({ name }: SpannedList, one: OneScope, table: SQL): SQL =>
  sql`${one ? sql`` : sql`scoped cross join`} ${table} where ${table}.list = ${name} and ${table}.scope = ${one ?? sql`scoped.id`}`

/** The begin of the first span of the scopes, which is read of each. */
export function firstMoment({ name }: SpannedList, one: OneScope): SQL {
  const firstOf = (scope: SQL) => sql`(select min(span) from list_spans where list = ${name} and scope = ${scope})`
  return sql`(${one ? firstOf(one) : sql`(select min(${firstOf(sql`scoped.id`)}) from scoped)`} << ${long})`
}

const totalOfSpan = (list: SpannedList, one: OneScope, span: SQL): SQL =>
  sql`(select sum(total) from ${fromScopes(list, one, sql`list_spans`)} and span = ${span})`

/**
 * Whether a span has parts. Those of a list that a sweep counts have to have all of its rows: the version before adds rows to
 * spans alone.
 */
export function haveParts(list: SpannedList, one: OneScope, { bits, lo }: SpanRange): SQL {
  const parts = sql`from ${fromScopes(list, one, sql`list_span_parts`)}
    and ${arePartsOf(bitsOfParts(bits), { bits, first: lo, last: lo })}`
  const areThere = sql`exists (select 1 ${parts})`
  const isSum = (divided: SQL): SQL => (list.hasLongSums ? sql`iif(${bits} > ${long}, 1, ${divided})` : divided)
  if (!list.isSettled) return isSum(areThere)
  const total = totalOfSpan(list, one, lo)
  return isSum(sql`iif(${bits} = ${long}, ${total} = (select sum(total) ${parts}), ${areThere})`)
}

/** The rows in parts of the scopes that have no parts there, where others do: a `from`. Of a list of several scopes. All have sums. */
function rowsOfOthers(list: SpannedList, where: readonly SQL[], part: { bits: SQL; from: SQL; until: SQL }): SQL {
  const { name, table, scope, key, keyOf } = list
  const { bits, from, until } = part
  // SQLite takes expressions of a hundred levels, and these are inside others: the number of parts is written as short as it can.
  const count = sql`iif(${bits} = ${written(24)}, 16, 8)`
  const first = sql`((${from}) & -${count})`
  return sql`scoped cross join ${table} where ${and([
    ...(list.hasLongSums ? [sql`${bits} < ${long}`] : []),
    sql`not exists (select 1 from list_span_parts as part where part.list = ${name}
    and part.scope = scoped.id and part.bits = ${bits} and part.span >= ${first} and part.span < ${first} + ${count})`,
    sql`${scope} = scoped.id`,
    sql`${key} >= ${keyOf(sql`((${from}) << ${bits})`)} and ${key} < ${keyOf(sql`((${until}) << ${bits})`)}`,
    ...where,
  ])}`
}

/** Rows of the scopes: how many of them a row of spans or of parts counts, and their conditions. */
export interface NumberedRows {
  one: OneScope
  numberIn: (table: SQL) => SQL
  /** A query of one row, which `numberIn` names. */
  chosen?: SQL
  where: readonly SQL[]
  /** Whether there is one scope. Where it has no parts, none are looked at. */
  isOneScope?: boolean | undefined
}

/** A query of `span` and of its number of rows `n`, in several rows, of the spans or parts of a length from one to the one before another. */
export function spansOf(
  list: SpannedList,
  { one, numberIn, chosen, where, isOneScope = false }: NumberedRows,
): (bits: SQL, from: SQL, until: SQL) => SQL {
  const spansIn = (table: SQL, more: SQL, from: SQL, until: SQL): SQL =>
    sql`select ${table}.span, ${numberIn(table)} as n from ${chosen ? sql`${chosen} cross join` : sql``} ${fromScopes(list, one, table)}
      and ${more} and ${table}.span >= ${from} and ${table}.span < ${until}`
  const others = (bits: SQL, from: SQL, until: SQL): SQL =>
    sql`union all select ${list.momentOf(list.key)} >> ${bits}, 1 from ${rowsOfOthers(list, where, { bits, from, until })}`
  return (bits, from, until) => sql`${spansIn(sql`list_spans`, sql`${bits} = ${long}`, from, until)}
    union all
    ${spansIn(sql`list_span_parts`, sql`${bits} <> ${long} and list_span_parts.bits = ${bits}`, from, until)}
    ${list.isSettled || isOneScope ? sql`` : others(bits, from, until)}`
}

interface PartOfSpan {
  span: SQL
  part: SQL
  /** The rows before the span. */
  before: SQL
}

/**
 * A list of the rows before a part of a span of `longBits`, and of those of the part, of a list that a sweep counts. Null where
 * the span has no parts, as `haveParts` says.
 */
export function rowsOfParts(
  list: SpannedList,
  { one, numberIn }: NumberedRows,
  { span, part, before }: PartOfSpan,
): SQL {
  const parts = sql`list_span_parts`
  const bits = bitsOfParts(long)
  const n = numberIn(parts)
  return sql`(select iif(sum(total) = ${totalOfSpan(list, one, span)}, json_array(
      ${before} + sum(iif(span < ${part}, ${n}, 0)), sum(iif(span = ${part}, ${n}, 0))), null)
    from ${fromScopes(list, one, parts)} and ${arePartsOf(bits, { bits: long, first: span, last: span })})`
}

/** The rows that have the counts of all spans of a list: `table`, and a condition. */
export const wholeSpans = (list: SpannedList): { table: SQL; areThese: SQL } =>
  list.hasLongSums
    ? { table: sql`list_span_parts`, areThese: sql`list_span_parts.bits = ${longest(list)}` }
    : { table: sql`list_spans`, areThese: sql`1` }
