import { type SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import type { Database } from '../../database.ts'
import { and } from '../order-keys.ts'
import type { ListSource, OldSortKey } from '../list-source.ts'
import { valueInRanges } from '../ranges.ts'
import type { PageStart } from '../page-by-number.ts'
import {
  countedEnds,
  countInSpans,
  countOfSpans,
  isEmptyRange,
  longestOf,
  numbered,
  numberOfNamed,
  type SpannedRows,
  youngRows,
} from './count-spans.ts'
import { placeInSpans } from './place-in-spans.ts'
import {
  firstMoment,
  haveParts,
  fromScopes,
  longest,
  type NumberedRows,
  oneOf,
  scopedBy,
  spansOf,
  wholeSpans,
} from './rows-of-spans.ts'
import { bitsOfParts } from './span-parts.ts'
import { isOfScope, type SpannedList, untilOf } from './spanned-list.ts'

/** A moment behind all others. */
const never = 2 ** 47

/**
 * The query `longest_spans`: the first and the last of the longest spans of a range of time, how many rows they have, how many
 * of these stand in spans before that of its end, and how many in that one.
 */
function longestSpans(list: SpannedList, counted: SpannedRows): SQL {
  const { from, until } = counted
  const { table, areThese } = wholeSpans(list)
  const { one, numberIn } = numbered(list, counted)
  const last = until === undefined ? null : longestOf(list, until)
  const upTo = last ? sql`sum(iif(span < ${last}, n, 0)), sum(iif(span = ${last}, n, 0))` : sql`sum(n), 0`
  return sql`longest_spans (lo, hi, total, before_end, at_end) as materialized (
      select min(span), max(span), sum(n), ${upTo} from (
        select ${table}.span, ${numberIn(table)} as n from ${fromScopes(list, one, table)} and ${areThese}
          ${from === undefined ? sql`` : sql`and ${table}.span >= ${longestOf(list, from)}`}
          ${last ? sql`and ${table}.span <= ${last}` : sql``}))`
}

/** The query `place` of spans, the last of them the shortest in which the row behind `ahead` others of `begun` stands. */
const placeIn = (list: SpannedList, rows: NumberedRows, isDesc: boolean): SQL =>
  placeInSpans(isDesc, {
    name: sql`place`,
    begin: sql`select ${longest(list)} as bits, lo, hi - lo + 1 as size, ahead, total from begun`,
    beganAt: ({ bits, lo }) => {
      const isOfFirst = sql`${bits} < ${longest(list)} and (${lo} << ${bits}) >> ${longest(list)} = (select lo from begun)`
      return sql`iif(${isOfFirst}, ${firstMoment(list, rows.one)}, 0)`
    },
    spansOf: spansOf(list, rows),
    parts: { bits: bitsOfParts, areThere: (span) => haveParts(list, rows.one, span) },
  })

/** A query of the edge of the shortest span of `place`, and of how many rows from there on stand before the place. */
const startIn = (isDesc: boolean, keyOf: SpannedList['keyOf']): SQL =>
  sql`select ${keyOf(sql`moment`)} as edge, ahead from (
    select min(bits), (lo ${isDesc ? sql`+ 1` : sql``}) << bits as moment, ahead from place where size = 1 and ahead >= 0)`

/** In a range of time the rows that come before it in the order of the moments, of the longest span in which the list begins. */
function beginOf(counted: SpannedRows, isDesc: boolean) {
  const moment = isDesc ? counted.until : counted.from
  if (moment === undefined) return null
  const upTo = sql`(select n from ${isDesc ? countedEnds.until : countedEnds.from})`
  return { moment, rows: isDesc ? sql`at_end - ${upTo}` : upTo }
}

/** As `startOfSpans`, with the count of the list. */
function countedStart(
  list: SpannedList,
  counted: SpannedRows,
  isDesc: boolean,
  offset: number,
): PageStart & { count: SQL } {
  const { key, keyAt, keyOf, isSettled } = list
  const { scopes } = counted
  const edge = isSettled ? sql`min(edge, ${untilOf(list, oneOf(scopes) ?? sql`(select id from scoped)`)})` : sql`edge`
  const begin = beginOf(counted, isDesc)
  const { ends, n } = countInSpans(list, counted, sql`(select coalesce(before_end, 0) from longest_spans)`)
  // In the part in which the list begins, rows before it are behind the edge.
  const ahead = begin ? sql`iif(edge ${isDesc ? sql`>` : sql`<`} ${keyAt(begin.moment)}, ${offset}, ahead)` : sql`ahead`
  return {
    ctes: sql.join(
      [
        scopedBy(scopes),
        ...ends,
        longestSpans(list, counted),
        sql`begun (lo, hi, ahead, total) as materialized (select lo, hi, ${offset} ${begin ? sql`+ ${begin.rows}` : sql``}
          ${isDesc && isSettled ? sql`- ${youngRows(list, counted)}` : sql``}, total from longest_spans)`,
        placeIn(list, numbered(list, counted), isDesc),
        sql`start (edge, ahead) as materialized (
          select edge, ${ahead} from (select ${edge} as edge, ahead from (${startIn(isDesc, keyOf)})))`,
      ],
      sql`, `,
    ),
    where: [
      isDesc
        ? sql`${key} < coalesce((select edge from start), ${valueInRanges(keyAt(never))})`
        : sql`${key} >= coalesce((select edge from start), ${valueInRanges(keyAt(0))})`,
    ],
    offset: sql`coalesce((select ahead from start), ${offset})`,
    count: n,
  }
}

/**
 * Where a page begins in the order of the moments: the edge of a span or of its shortest part, and how many rows from there on
 * are before the page. In a descending order, rows that are not counted yet stand before all spans.
 */
export function startOfSpans(list: SpannedList, counted: SpannedRows, isDesc: boolean, offset: number): PageStart {
  const { ctes, where, offset: ahead } = countedStart(list, counted, isDesc, offset)
  return { ctes, where, offset: ahead }
}

/** Groups of rows that a list reads one after the other, each in the order of the moments: those of each value of a facet. */
interface SpannedGroups {
  /** The facet by its number. */
  facet: number
  /** Its values in the order of the list. */
  values: readonly string[]
  isDesc: boolean
}

/** As `startOfSpans`, in groups. Those before that of the page are passed by their sizes. Of a list that triggers count. */
export function startInGroups(
  list: SpannedList,
  counted: Omit<SpannedRows, 'from' | 'until'>,
  { facet, values, isDesc }: SpannedGroups,
  offset: number,
): PageStart {
  const { key, keyAt, keyOf } = list
  const [facets = []] = counted.facets
  const of = (value: string | SQL) => facets.map((asked, index) => (index === facet ? value : asked))
  const { table, areThese } = wholeSpans(list)
  const one = oneOf(counted.scopes)
  const placed = {
    one,
    numberIn: (spans: SQL): SQL => numberOfNamed(list, of(sql`chosen.value`), spans),
    chosen: sql`(select value from begun) as chosen`,
    where: [...counted.where, sql`${list.facets[facet]?.column} = (select value from begun)`],
    isOneScope: counted.isOneScope,
  }
  const sizes = values.map((value) => sql`coalesce(sum(${numberOfNamed(list, of(value), table)}), 0)`)
  const [first, last] = [sql`${keyAt(0)}`, sql`${keyAt(never)}`]
  const [none, all] = isDesc ? [first, last] : [last, first]
  const edgeOf = (index: number): SQL => sql.raw(`edge${index}`)
  const edges = values.map((_, index) => {
    const number = written(index)
    return sql`case when number > ${number} then ${none} when number < ${number} then ${all} else edge end`
  })
  return {
    // SQLite copies a query at each place that names it, with all that it names: nothing is named twice without need.
    ctes: sql`${scopedBy(counted.scopes)},
      sizes (numbers, lo, hi) as materialized (
        select json_array(${sql.join(sizes, sql`, `)}), min(span), max(span) from ${fromScopes(list, one, table)} and ${areThese}),
      begun (number, value, lo, hi, ahead, total) as materialized (
        select key, ${JSON.stringify(values)} ->> key, (select lo from sizes), (select hi from sizes), ${offset} - passed, value
        from (select key, value, sum(value) over (order by key) - value as passed from json_each((select numbers from sizes)))
        where passed <= ${offset} order by key desc limit 1),
      ${placeIn(list, placed, isDesc)},
      start (${sql.join(
        values.map((_, index) => edgeOf(index)),
        sql`, `,
      )}, ahead) as materialized (
        select ${sql.join(edges, sql`, `)}, place.ahead from (${startIn(isDesc, keyOf)}) as place cross join begun)`,
    where: values.map((_, index) => sql`${key} ${isDesc ? sql`<` : sql`>=`} (select ${edgeOf(index)} from start)`),
    offset: sql`coalesce((select ahead from start), ${offset})`,
    count: sql`(select sum(value) from json_each((select numbers from sizes)))`,
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
  sort: readonly OldSortKey[],
): Pick<ListSource, 'count' | 'startOf'> {
  if (!counted) return {}
  const [first] = sort
  const isByMoment = first?.by === list.key && sort.length === 1
  return {
    count: countOfSpans(list, counted),
    startOf:
      isByMoment && !isEmptyRange(counted) ? (skipped) => countedStart(list, counted, first.desc, skipped) : undefined,
  }
}
