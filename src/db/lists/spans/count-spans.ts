import { type SQL, sql } from 'drizzle-orm'
import { and } from '../order-keys.ts'
import type { Counting } from '../page-by-number.ts'
import { type Facets, spanMs, type SpannedList, untilOf } from './spanned-list.ts'

/** The rows of a list that are counted. */
export interface SpannedRows {
  /** A query of the ids of their scopes. Of a list that is settled by a sweep there is one. */
  scopes: SQL
  /** One of these is matched. */
  facets: readonly Facets[]
  /** Conditions that say the same of a row. */
  where: readonly SQL[]
  /** The first moment, and the first one behind the last. Milliseconds UTC. */
  from?: number | undefined
  until?: number | undefined
}

/** Whether each of these is written as values of facets are. Others may not be what no row has, but are found by rows. */
export const areCountable = (facets: Facets): boolean =>
  facets.every((value) => value === undefined || /^\w[\w.-]*$/.test(value))

/** The spans of a list with the number `n` of their rows that match. Each value of their JSON is a row read. */
export function spansOf({ name }: SpannedList, { scopes, facets }: Pick<SpannedRows, 'scopes' | 'facets'>): SQL {
  const areOfList = sql`list_spans.list = ${name} and list_spans.scope in (${scopes})`
  if (facets.length === 1 && facets[0]?.every((value) => value === undefined))
    return sql`select span, total as n from list_spans where ${areOfList}`
  const patterns = facets.map((one) => one.map((value) => value ?? '*').join(' '))
  const isOf =
    patterns.length === 1
      ? sql`facet.key glob ${patterns[0]}`
      : sql`exists (select 1 from json_each(${JSON.stringify(patterns)}) as pattern where facet.key glob pattern.value)`
  return sql`select list_spans.span, facet.value as n
    from list_spans cross join json_each(list_spans.counts) as facet where ${areOfList} and ${isOf}`
}

const edgeOf = (moment: number): number => Math.round(moment / spanMs)

/**
 * Counts a list. It reads the spans between the edges that are nearest to the ends, the rows between each end and its
 * edge, which are those of half a span at most, and the rows that are not counted yet.
 */
export function countOfSpans(list: SpannedList, counted: SpannedRows): Counting {
  const { table, scope, key, keyAt, isSettled } = list
  const { scopes, where, from, until } = counted
  const isCounted = (...more: SQL[]): SQL => and([sql`${scope} in (${scopes})`, ...where, ...more])
  const rows = (...more: SQL[]): SQL => sql`(select count(*) from ${table} where ${isCounted(...more)})`
  const end = untilOf(list, sql`(${scopes})`)
  const since = (moment: number): SQL => sql`${key} >= ${keyAt(moment)}`
  const before = (moment: number): SQL => sql`${key} < ${keyAt(moment)}`
  /** Settled rows between a moment and its edge, with the sign that adds those behind the moment. */
  const correctionAt = (moment: number): SQL => {
    const edge = edgeOf(moment) * spanMs
    const settled = isSettled ? [sql`${key} < ${end}`] : []
    return edge < moment
      ? sql`- ${rows(since(edge), before(moment), ...settled)}`
      : sql`+ ${rows(since(moment), before(edge), ...settled)}`
  }
  const spans = sql`(select coalesce(sum(n), 0) from (${spansOf(list, counted)}
    ${from === undefined ? sql`` : sql`and list_spans.span >= ${edgeOf(from)}`}
    ${until === undefined ? sql`` : sql`and list_spans.span < ${edgeOf(until)}`}))`
  const bounds = [...(from === undefined ? [] : [since(from)]), ...(until === undefined ? [] : [before(until)])]
  if (from !== undefined && until !== undefined && from >= until) return { statement: sql`select 0 as n` }
  return {
    statement: sql`select ${spans} ${from === undefined ? sql`` : correctionAt(from)}
      ${until === undefined ? sql`` : sql`- (0 ${correctionAt(until)})`}
      ${isSettled ? sql`+ ${rows(sql`${key} >= ${end}`, ...bounds)}` : sql``} as n`,
  }
}
