import { type SQL, sql } from 'drizzle-orm'
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
