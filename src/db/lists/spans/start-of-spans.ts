import { type SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import type { Database } from '../../database.ts'
import { and } from '../order-keys.ts'
import type { ListSource, SortKey } from '../list-source.ts'
import type { PageStart } from '../page-by-number.ts'
import { readBy } from '../page-statement.ts'
import { countOfSpans, numberOfMatches, type SpannedRows, wholeSpans } from './count-spans.ts'
import { halving, type SpanRange } from './halving.ts'
import { arePartsOf, bitsOfParts, bitsOfWhole } from './span-parts.ts'
import { hasScope, inRangesOf, isOfScope, longBits, type SpannedList, sumBits, untilOf } from './spanned-list.ts'

/** A moment behind all others. */
const never = 2 ** 47

const long = written(longBits)
/** The ids of the scopes. */
const scopes = sql`select id from scoped`

/** The length of what a search begins with. */
const longest = ({ hasLongSums }: SpannedList): SQL => written(hasLongSums ? sumBits : longBits)

const ofScopes = ({ name }: SpannedList, table: SQL): SQL =>
  sql`${table}.list = ${name} and ${table}.scope in (${scopes})`

/**
 * Whether a span has parts. Those of a list that a sweep counts have to have all of its rows: the version before adds rows to
 * spans alone.
 */
function haveParts(list: SpannedList, { bits, lo }: SpanRange): SQL {
  const parts = sql`from list_span_parts where ${ofScopes(list, sql`list_span_parts`)}
    and ${arePartsOf(bitsOfParts(bits), { bits, first: lo, last: lo })}`
  const areThere = sql`exists (select 1 ${parts})`
  if (!list.isSettled) return areThere
  const total = sql`(select sum(total) from list_spans where ${ofScopes(list, sql`list_spans`)} and span = ${lo})`
  const isDivided = sql`iif(${bits} = ${long}, ${total} = (select sum(total) ${parts}), ${areThere})`
  return list.hasLongSums ? sql`iif(${bits} = ${longest(list)}, 1, ${isDivided})` : isDivided
}

/** The rows in parts of the scopes that have no parts there, where others do. Of a list of several scopes. */
function rowsOfOthers(list: SpannedList, where: readonly SQL[], part: { bits: SQL; from: SQL; until: SQL }): SQL {
  const { name, table, scope, key, keyOf } = list
  const { bits, from, until } = part
  const above = sql`(${from} >> (${bitsOfWhole(bits)} - ${bits}))`
  const parts = arePartsOf(bits, { bits: bitsOfWhole(bits), first: above, last: above })
  const others = sql`select id from scoped where not exists (
    select 1 from list_span_parts where list = ${name} and scope = scoped.id and ${parts})`
  return sql`(select count(*) from ${table} where ${and([
    sql`${scope} in (${others})`,
    sql`${key} >= ${keyOf(sql`((${from}) << ${bits})`)} and ${key} < ${keyOf(sql`((${until}) << ${bits})`)}`,
    ...where,
  ])})`
}

/** Queries up to `place`, of spans, the last of them the shortest in which the row behind `ahead` others stands. */
function placeIn(list: SpannedList, { facets, where }: Pick<SpannedRows, 'facets' | 'where'>, isDesc: boolean): SQL {
  const rowsIn = (table: SQL, more: SQL, from: SQL, until: SQL): SQL =>
    sql`(select coalesce(sum(${numberOfMatches(list, facets, table)}), 0) from ${table}
      where ${ofScopes(list, table)} ${more} and ${table}.span >= ${from} and ${table}.span < ${until})`
  const { table, areThese } = wholeSpans(list)
  const end = (edge: 'min' | 'max'): SQL => sql`${sql.raw(edge)}((select ${sql.raw(edge)}(span) from ${table}
    where list = ${list.name} and scope = scoped.id and ${areThese}))`
  const place = halving(isDesc, {
    name: sql`place`,
    begin: sql`select ${longest(list)} as bits, lo, hi - lo + 1 as size, ahead from ends cross join begun`,
    rowsOf: (bits, from, until) => sql`iif(${bits} = ${long}, ${rowsIn(sql`list_spans`, sql``, from, until)},
      ${rowsIn(sql`list_span_parts`, sql`and list_span_parts.bits = ${bits}`, from, until)}
        ${list.isSettled ? sql`` : sql`+ ${rowsOfOthers(list, where, { bits, from, until })}`})`,
    parts: { bits: bitsOfParts, areThere: (span) => haveParts(list, span) },
  })
  return sql`ends (lo, hi) as materialized (select ${end('min')}, ${end('max')} from scoped), ${place}`
}

/**
 * Where a page begins in the order of the moments: the edge of a span or of its shortest part, and how many rows from there on
 * are before the page. In a descending order, rows that are not counted yet stand before all spans.
 */
export function startOfSpans(
  list: SpannedList,
  counted: Omit<SpannedRows, 'from' | 'until'>,
  isDesc: boolean,
  offset: number,
): PageStart {
  const { table, key, keyAt, keyOf, isSettled } = list
  const { where, index } = counted
  const end = untilOf(list, sql`(${scopes})`)
  const young = sql`(select count(*) from ${readBy({ from: table, index })}
    where ${and([hasScope(list, sql`(${scopes})`), ...inRangesOf(list), ...where, sql`${key} >= ${end}`])})`
  const edge = isSettled ? sql`min(edge, ${end})` : sql`edge`
  return {
    ctes: sql`scoped (id) as materialized (${counted.scopes}),
      begun (ahead) as materialized (select ${offset} ${isDesc && isSettled ? sql`- ${young}` : sql``}),
      ${placeIn(list, counted, isDesc)},
      start (edge, ahead) as materialized (
        select ${edge}, ahead from (select ${keyOf(sql`moment`)} as edge, ahead from (
          select min(bits), (lo ${isDesc ? sql`+ 1` : sql``}) << bits as moment, ahead from place
            where size = 1 and ahead >= 0)))`,
    where: [
      isDesc
        ? sql`${key} < coalesce((select edge from start), ${keyAt(never)})`
        : sql`${key} >= coalesce((select edge from start), ${keyAt(0)})`,
    ],
    offset: sql`coalesce((select ahead from start), ${offset})`,
  }
}

/** More young rows than this make a start in spans dear. */
const manyYoung = 400

/** Whether few rows of a scope are not counted yet. After a large import many are. */
export async function areFewYoung(db: Database, list: SpannedList, scope: string): Promise<boolean> {
  const { table, key } = list
  const isYoung = and([isOfScope(list, sql`${scope}`), sql`${key} >= ${untilOf(list, sql`${scope}`)}`])
  const young = await db.first(sql`select 1 from ${table} where ${isYoung} limit 1 offset ${manyYoung}`)
  return young === undefined
}

/** How a list is counted, and where a page by number begins where the moments order the list. Nothing without counts. */
export function bySpans(
  list: SpannedList,
  counted: SpannedRows | null,
  sort: readonly SortKey[],
): Pick<ListSource, 'count' | 'startOf'> {
  if (!counted) return {}
  const [first] = sort
  const isByMoment =
    first?.by === list.key && sort.length === 1 && counted.from === undefined && counted.until === undefined
  return {
    count: countOfSpans(list, counted),
    startOf: isByMoment ? (skipped) => startOfSpans(list, counted, first.desc, skipped) : undefined,
  }
}
