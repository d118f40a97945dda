import { type SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import type { Database } from '../../database.ts'
import { and } from '../order-keys.ts'
import type { ListSource, SortKey } from '../list-source.ts'
import type { PageStart } from '../page-by-number.ts'
import { readBy } from '../page-statement.ts'
import { countOfSpans, numberOfMatches, numberOfNamed, type SpannedRows, wholeSpans } from './count-spans.ts'
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
  const isSum = (divided: SQL): SQL =>
    list.hasLongSums ? sql`iif(${bits} = ${longest(list)}, 1, ${divided})` : divided
  if (!list.isSettled) return isSum(areThere)
  const total = sql`(select sum(total) from list_spans where ${ofScopes(list, sql`list_spans`)} and span = ${lo})`
  return isSum(sql`iif(${bits} = ${long}, ${total} = (select sum(total) ${parts}), ${areThere})`)
}

/** The rows in parts of the scopes that have no parts there, where others do. Of a list of several scopes. All have sums. */
function rowsOfOthers(list: SpannedList, where: readonly SQL[], part: { bits: SQL; from: SQL; until: SQL }): SQL {
  const { name, table, scope, key, keyOf } = list
  const { bits, from, until } = part
  const above = sql`(${from} >> (${bitsOfWhole(bits)} - ${bits}))`
  const parts = arePartsOf(bits, { bits: bitsOfWhole(bits), first: above, last: above })
  const others = sql`select id from scoped where not exists (
    select 1 from list_span_parts where list = ${name} and scope = scoped.id and ${parts})`
  return sql`(select count(*) from ${table} where ${and([
    ...(list.hasLongSums ? [sql`${bits} < ${long}`] : []),
    sql`${scope} in (${others})`,
    sql`${key} >= ${keyOf(sql`((${from}) << ${bits})`)} and ${key} < ${keyOf(sql`((${until}) << ${bits})`)}`,
    ...where,
  ])})`
}

/** The rows that are looked at for a place: how many of them a row of spans or of parts counts, and their conditions. */
interface PlacedRows {
  numberIn: (table: SQL) => SQL
  where: readonly SQL[]
}

/** Queries up to `place`, of spans, the last of them the shortest in which the row behind `ahead` others stands. */
function placeIn(list: SpannedList, { numberIn, where }: PlacedRows, isDesc: boolean): SQL {
  const rowsIn = (table: SQL, more: SQL, from: SQL, until: SQL): SQL =>
    sql`(select coalesce(sum(${numberIn(table)}), 0) from ${table}
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

/** A query of the edge of the shortest span of `place`, and of how many rows from there on stand before the place. */
const startIn = (isDesc: boolean, keyOf: SpannedList['keyOf']): SQL =>
  sql`select ${keyOf(sql`moment`)} as edge, ahead from (
    select min(bits), (lo ${isDesc ? sql`+ 1` : sql``}) << bits as moment, ahead from place where size = 1 and ahead >= 0)`

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
  const { facets, where, index } = counted
  const numberIn = (spans: SQL): SQL => numberOfMatches(list, facets, spans)
  const end = untilOf(list, sql`(${scopes})`)
  const young = sql`(select count(*) from ${readBy({ from: table, index })}
    where ${and([hasScope(list, sql`(${scopes})`), ...inRangesOf(list), ...where, sql`${key} >= ${end}`])})`
  const edge = isSettled ? sql`min(edge, ${end})` : sql`edge`
  return {
    ctes: sql`scoped (id) as materialized (${counted.scopes}),
      begun (ahead) as materialized (select ${offset} ${isDesc && isSettled ? sql`- ${young}` : sql``}),
      ${placeIn(list, { numberIn, where }, isDesc)},
      start (edge, ahead) as materialized (select ${edge}, ahead from (${startIn(isDesc, keyOf)}))`,
    where: [
      isDesc
        ? sql`${key} < coalesce((select edge from start), ${keyAt(never)})`
        : sql`${key} >= coalesce((select edge from start), ${keyAt(0)})`,
    ],
    offset: sql`coalesce((select ahead from start), ${offset})`,
  }
}

/** Groups of rows that a list reads one after the other, each in the order of the moments: those of each value of a facet. */
interface SpannedGroups {
  /** The facet by its number. */
  facet: number
  /** Its values in the order of the list. */
  values: readonly string[]
}

/** As `startOfSpans`, in groups. Those before that of the page are passed by their sizes. Of a list that triggers count. */
export function startInGroups(
  list: SpannedList,
  counted: Omit<SpannedRows, 'from' | 'until'>,
  { facet, values }: SpannedGroups,
  isDesc: boolean,
  offset: number,
): PageStart {
  const { key, keyAt, keyOf } = list
  const [facets = []] = counted.facets
  const of = (value: string | SQL) => facets.map((asked, index) => (index === facet ? value : asked))
  const { table, areThese } = wholeSpans(list)
  const begun = { number: sql`(select number from begun)`, value: sql`(select value from begun)` }
  const placed = {
    numberIn: (spans: SQL): SQL => numberOfNamed(list, of(begun.value), spans),
    where: [...counted.where, sql`${list.facets[facet]?.column} = ${begun.value}`],
  }
  const sizes = values.map(
    (value, number) => sql`coalesce(sum(${numberOfNamed(list, of(value), table)}), 0) as ${sql.raw(`size${number}`)}`,
  )
  const groups = values.map(
    (value, number) => sql`(${written(number)}, ${value}, (select ${sql.raw(`size${number}`)} from sizes))`,
  )
  const [first, last] = [sql`${keyAt(0)}`, sql`${keyAt(never)}`]
  const [none, all] = isDesc ? [first, last] : [last, first]
  return {
    ctes: sql`scoped (id) as materialized (${counted.scopes}),
      sizes as materialized (select ${sql.join(sizes, sql`, `)} from ${table} where ${ofScopes(list, table)} and ${areThese}),
      grouped (number, value, size) as materialized (values ${sql.join(groups, sql`, `)}),
      begun (number, value, ahead) as materialized (
        select number, value, ${offset} - passed from (
          select number, value, (select coalesce(sum(size), 0) from grouped as before where before.number < one.number) as passed
          from grouped as one)
        where passed <= ${offset} order by number desc limit 1),
      ${placeIn(list, placed, isDesc)},
      start (edge, ahead) as materialized (${startIn(isDesc, keyOf)})`,
    where: values.map(
      (_, number) => sql`${key} ${isDesc ? sql`<` : sql`>=`} (select case
        when ${begun.number} > ${written(number)} then ${none} when ${begun.number} < ${written(number)} then ${all}
        else coalesce((select edge from start), ${all}) end)`,
    ),
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
