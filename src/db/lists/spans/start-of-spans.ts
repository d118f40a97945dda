import { sql } from 'drizzle-orm'
import { and } from '../order-keys.ts'
import type { ListSource, SortKey } from '../list-source.ts'
import type { PageStart } from '../page-by-number.ts'
import { readBy } from '../page-statement.ts'
import { type SpannedRows, countOfSpans, spansOf } from './count-spans.ts'
import { hasScope, inRangesOf, type SpannedList, untilOf } from './spanned-list.ts'

/** A moment behind all others. */
const never = 2 ** 47

/**
 * Where a page begins in the order of the moments: the edge of a span, and how many rows from there on are before the
 * page. In a descending order, rows that are not counted yet stand before all spans.
 */
export function startOfSpans(
  list: SpannedList,
  { scopes, facets, where, index }: Omit<SpannedRows, 'from' | 'until'>,
  isDesc: boolean,
  offset: number,
): PageStart {
  const { table, key, keyAt, keyOfSpan, isSettled } = list
  const end = untilOf(list, sql`(${scopes})`)
  const hasYoung = isDesc && isSettled
  const young = hasYoung
    ? sql`(select count(*) from ${readBy({ from: table, index })} where ${and([hasScope(list, sql`(${scopes})`), ...inRangesOf(list), ...where, sql`${key} >= ${end}`])})`
    : sql`0`
  const edge = keyOfSpan(isDesc ? sql`(span + 1)` : sql`span`)
  return {
    ctes: sql`placed (span, ahead) as materialized (
        select span, sum(n) over (order by span ${isDesc ? sql`desc` : sql`asc`}) - n + ${young}
        from (select span, sum(n) as n from (${spansOf(list, { scopes, facets })}) group by 1)),
      start (edge, ahead) as materialized (
        select ${edge}, ahead from placed where ahead <= ${offset} order by ahead desc limit 1)`,
    where: [
      isDesc
        ? sql`${key} < coalesce((select ${hasYoung ? sql`min(edge, ${end})` : sql`edge`} from start), ${keyAt(never)})`
        : sql`${key} >= coalesce((select edge from start), ${keyAt(0)})`,
    ],
    offset: sql`(${offset} - coalesce((select ahead from start), 0))`,
  }
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
