import { type SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import { and } from '../order-keys.ts'
import type { SpanRange } from './place-in-spans.ts'
import { arePartsOf, bitsOfParts } from './span-parts.ts'
import { longBits, type SpannedList, sumBits } from './spanned-list.ts'

const long = written(longBits)
/** A query of the ids of some scopes, or the id of one. */
export type SpanScopes = SQL | string

export const queryOf = (scopes: SpanScopes): SQL => (typeof scopes === 'string' ? sql`select ${scopes}` : scopes)

/** The query that `idsOf` names. */
export const scopedBy = (scopes: SpanScopes): SQL => sql`scoped (id) as materialized (${queryOf(scopes)})`

/** The ids of the scopes. One is written out: that a query has it costs a row at each place that asks, and a parameter there. */
export const idsOf = (scopes: SpanScopes): SQL =>
  typeof scopes === 'string' && /^[\w/]+$/.test(scopes) ? sql.raw(`'${scopes}'`) : sql`select id from scoped`

/** The length of what a search begins with. */
export const longest = ({ hasLongSums }: SpannedList): SQL => written(hasLongSums ? sumBits : longBits)

export const ofScopes = ({ name }: SpannedList, ids: SQL, table: SQL): SQL =>
  sql`${table}.list = ${name} and ${table}.scope in (${ids})`

const totalOfSpan = (list: SpannedList, ids: SQL, span: SQL): SQL =>
  sql`(select sum(total) from list_spans where ${ofScopes(list, ids, sql`list_spans`)} and span = ${span})`

/**
 * Whether a span has parts. Those of a list that a sweep counts have to have all of its rows: the version before adds rows to
 * spans alone.
 */
export function haveParts(list: SpannedList, ids: SQL, { bits, lo }: SpanRange): SQL {
  const parts = sql`from list_span_parts where ${ofScopes(list, ids, sql`list_span_parts`)}
    and ${arePartsOf(bitsOfParts(bits), { bits, first: lo, last: lo })}`
  const areThere = sql`exists (select 1 ${parts})`
  const isSum = (divided: SQL): SQL =>
    list.hasLongSums ? sql`iif(${bits} = ${longest(list)}, 1, ${divided})` : divided
  if (!list.isSettled) return isSum(areThere)
  const total = totalOfSpan(list, ids, lo)
  return isSum(sql`iif(${bits} = ${long}, ${total} = (select sum(total) ${parts}), ${areThere})`)
}

/** The rows in parts of the scopes that have no parts there, where others do: a `from`. Of a list of several scopes. All have sums. */
function rowsOfOthers(list: SpannedList, where: readonly SQL[], part: { bits: SQL; from: SQL; until: SQL }): SQL {
  const { name, table, scope, key, keyOf } = list
  const { bits, from, until } = part
  // SQLite takes expressions of a hundred levels, and these are inside others: the number of parts is written as short as it can.
  const count = sql`iif(${bits} = ${written(24)}, 16, 8)`
  const first = sql`((${from}) & -${count})`
  const others = sql`select id from scoped where not exists (select 1 from list_span_parts as part where part.list = ${name}
    and part.scope = scoped.id and part.bits = ${bits} and part.span >= ${first} and part.span < ${first} + ${count})`
  return sql`${table} where ${and([
    ...(list.hasLongSums ? [sql`${bits} < ${long}`] : []),
    sql`${scope} in (${others})`,
    sql`${key} >= ${keyOf(sql`((${from}) << ${bits})`)} and ${key} < ${keyOf(sql`((${until}) << ${bits})`)}`,
    ...where,
  ])}`
}

/** Rows of the scopes: how many of them a row of spans or of parts counts, and their conditions. */
export interface NumberedRows {
  ids: SQL
  numberIn: (table: SQL) => SQL
  /** A query of one row, which `numberIn` names. */
  chosen?: SQL
  where: readonly SQL[]
  /** Whether there is one scope. Where it has no parts, none are looked at. */
  isOneScope?: boolean | undefined
}

/** The number of rows of the spans or parts of a length from one to the one before another. */
export function rowsOf(
  list: SpannedList,
  { ids, numberIn, chosen, where, isOneScope = false }: NumberedRows,
): (bits: SQL, from: SQL, until: SQL) => SQL {
  const rowsIn = (table: SQL, more: SQL, from: SQL, until: SQL): SQL =>
    sql`(select coalesce(sum(${numberIn(table)}), 0) from ${chosen ? sql`${chosen} cross join` : sql``} ${table}
      where ${ofScopes(list, ids, table)} ${more} and ${table}.span >= ${from} and ${table}.span < ${until})`
  return (bits, from, until) => sql`iif(${bits} = ${long}, ${rowsIn(sql`list_spans`, sql``, from, until)},
    ${rowsIn(sql`list_span_parts`, sql`and list_span_parts.bits = ${bits}`, from, until)}
      ${list.isSettled || isOneScope ? sql`` : sql`+ (select count(*) from ${rowsOfOthers(list, where, { bits, from, until })})`})`
}

/** As `rowsOf`, a query of `span` and of its number of rows `n`, in several rows. */
export function spansOf(
  list: SpannedList,
  { ids, numberIn, chosen, where, isOneScope = false }: NumberedRows,
): (bits: SQL, from: SQL, until: SQL) => SQL {
  const spansIn = (table: SQL, more: SQL, from: SQL, until: SQL): SQL =>
    sql`select ${table}.span, ${numberIn(table)} as n from ${chosen ? sql`${chosen} cross join` : sql``} ${table}
      where ${more} and ${ofScopes(list, ids, table)} and ${table}.span >= ${from} and ${table}.span < ${until}`
  const others = (bits: SQL, from: SQL, until: SQL): SQL =>
    sql`union all select ${list.momentOf(list.key)} >> ${bits}, 1 from ${rowsOfOthers(list, where, { bits, from, until })}`
  return (bits, from, until) => sql`${spansIn(sql`list_spans`, sql`${bits} = ${long}`, from, until)}
    union all
    ${spansIn(sql`list_span_parts`, sql`${bits} <> ${long} and list_span_parts.bits = ${bits}`, from, until)}
    ${list.isSettled || isOneScope ? sql`` : others(bits, from, until)}`
}

/**
 * The rows of the parts of a span of `longBits` before a part, of a list that a sweep counts. Null where the span has no parts,
 * as `haveParts` says.
 */
export function rowsBeforePart(list: SpannedList, { ids, numberIn }: NumberedRows, span: SQL, part: SQL): SQL {
  const parts = sql`list_span_parts`
  const bits = bitsOfParts(long)
  return sql`(select iif(sum(total) = ${totalOfSpan(list, ids, span)}, sum(iif(span < ${part}, ${numberIn(parts)}, 0)), null)
    from ${parts} where ${ofScopes(list, ids, parts)} and ${arePartsOf(bits, { bits: long, first: span, last: span })})`
}

/** The rows that have the counts of all spans of a list: `table`, and a condition. */
export const wholeSpans = ({ hasLongSums }: SpannedList): { table: SQL; areThese: SQL } =>
  hasLongSums
    ? { table: sql`list_span_parts`, areThese: sql`list_span_parts.bits = ${sql.raw(String(sumBits))}` }
    : { table: sql`list_spans`, areThese: sql`1` }
