import { type SQL, sql } from 'drizzle-orm'
import { countedFacets, isOfScope, spanBits, spanMs, type SpannedList, totalOf, untilOf } from './spanned-list.ts'

/** A row of `list_spans`. */
export interface ListSpan {
  scope: string
  span: number
}

/** The next span behind this one that has rows or counts. */
export function nextSpan(list: SpannedList, last: ListSpan): SQL<ListSpan> {
  const { name, table, scope, at, key, keyAt } = list
  const counted = sql<ListSpan>`select scope, span from list_spans
        where list = ${name} and (scope, span) > (${last.scope}, ${last.span}) order by scope, span limit 1`
  if (list.hasSmallScopes) return counted
  return sql<ListSpan>`select scope, span from (
      select * from (${counted})
      union all
      select * from (select ${scope} as scope, ${at} >> ${spanBits} as span from ${table}
        where (${scope}, ${key}) >= (${last.scope}, ${keyAt((last.span + 1) * spanMs)}) order by ${scope}, ${key} limit 1))
    order by scope, span limit 1`
}

const written = sql`(select json_group_object(key, value) from (
  select key, value from json_each(list_spans.counts) where value <> 0 order by key))`

/**
 * Counts the rows of a span anew. The first statement answers a row where it was wrong, the last the number of rows. Spans
 * without rows go.
 */
export function recountStatements(
  list: SpannedList,
  { scope, span }: ListSpan,
): readonly [SQL<{ span: number }>, SQL, SQL<{ n: number }>] {
  const { name, key, keyAt, isSettled } = list
  const rows = sql`${isOfScope(list, sql`${scope}`)} and ${key} >= ${keyAt(span * spanMs)} and ${key} < ${keyAt((span + 1) * spanMs)}
    ${isSettled ? sql`and ${key} < ${untilOf(list, sql`${scope}`)}` : sql``}`
  const by = { scope: list.scope, span: sql`${span}` }
  const isThis = sql`list = ${name} and scope = ${scope} and span = ${span}`
  return [
    sql<{ span: number }>`insert into list_spans (list, scope, span, counts, total)
      with counted (counts, total) as materialized (
        select json_group_object(facets, n), ${totalOf(sql`facets`, sql`n`)}
        from (select facets, n from (${countedFacets(list, rows, by)}) order by facets))
      select ${name}, ${scope}, ${span}, counts, total from counted
        where counts <> '{}' or exists (select 1 from list_spans where ${isThis})
      on conflict (list, scope, span) do update set counts = excluded.counts, total = excluded.total
        where (${written}, list_spans.total) <> (excluded.counts, excluded.total)
      returning span`,
    sql`delete from list_spans where ${isThis} and ${written} = '{}'`,
    sql`select coalesce(sum(total), 0) as n from list_spans where ${isThis}`,
  ]
}
