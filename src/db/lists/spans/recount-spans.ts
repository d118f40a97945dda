import { type SQL, sql } from 'drizzle-orm'
import { recountParts, storedCounts } from './span-parts.ts'
import {
  countedFacets,
  isOfScope,
  type ListSpan,
  longBits,
  spanBits,
  spanMs,
  type SpannedList,
  sumBits,
  totalOf,
  untilOf,
} from './spanned-list.ts'

/** The next span behind this one that has rows or counts. */
export function nextSpan(list: SpannedList, last: ListSpan): SQL<ListSpan> {
  const { name, table, scope, key, keyAt, momentOf } = list
  const counted = sql<ListSpan>`select scope, span from list_spans
        where list = ${name} and (scope, span) > (${last.scope}, ${last.span}) order by scope, span limit 1`
  if (list.hasSmallScopes) return counted
  return sql<ListSpan>`select scope, span from (
      select * from (${counted})
      union all
      select * from (select ${scope} as scope, ${momentOf(key)} >> ${spanBits} as span from ${table}
        where (${scope}, ${key}) >= (${last.scope}, ${keyAt((last.span + 1) * spanMs)}) order by ${scope}, ${key} limit 1))
    order by scope, span limit 1`
}

const written = storedCounts(sql`list_spans`)

/** Adds up anew what is in one sum of a length with this span: spans, or sums of them. */
function recountSum({ name }: SpannedList, { scope, span }: ListSpan, bits: (typeof sumBits)[number]) {
  const [sum, eight] = [Math.floor(span / 2 ** (bits - longBits)), 8]
  const [table, areThese] =
    bits === sumBits[0] ? [sql`list_spans`, sql`1`] : [sql`list_span_parts`, sql`short.bits = ${bits - 3}`]
  const added = sql`${table} as short where short.list = ${name} and short.scope = ${scope} and ${areThese}
    and short.span >= ${sum * eight} and short.span < ${(sum + 1) * eight}`
  return sql<{ total: number }>`with summed (counts, total) as materialized (
      select (select json_group_object(key, n) from (select facet.key, sum(facet.value) as n
          from (select counts from ${added}) as one cross join json_each(one.counts) as facet
          group by 1 having sum(facet.value) <> 0 order by 1)),
        (select coalesce(sum(total), 0) from ${added}))
    update list_span_parts set (counts, total) = (select counts, total from summed)
      where list = ${name} and scope = ${scope} and bits = ${bits} and span = ${sum}
        and (${storedCounts(sql`list_span_parts`)}, list_span_parts.total) <> (select counts, total from summed)
      returning 1 as total`
}

interface Recount {
  /** Answer a row with a `total` where a count was wrong. */
  repairs: readonly SQL<{ total: number }>[]
  /** Answers the number of rows. */
  counted: SQL<{ n: number }>
}

/** Counts the rows of a span and of its parts anew. Spans and parts without rows go. */
export function recountOf(list: SpannedList, { scope, span }: ListSpan, now: number): Recount {
  const { name, key, keyAt, isSettled } = list
  const rows = sql`${isOfScope(list, sql`${scope}`)} and ${key} >= ${keyAt(span * spanMs)} and ${key} < ${keyAt((span + 1) * spanMs)}
    ${isSettled ? sql`and ${key} < ${untilOf(list, sql`${scope}`)}` : sql``}`
  const by = { scope: list.scope, span: sql`${span}` }
  const isThis = sql`list = ${name} and scope = ${scope} and span = ${span}`
  const repairs = [
    sql<{ total: number }>`insert into list_spans (list, scope, span, counts, total)
      with counted (counts, total) as materialized (
        select json_group_object(facets, n), ${totalOf(sql`facets`, sql`n`)}
        from (select facets, n from (${countedFacets(list, rows, by)}) order by facets))
      select ${name}, ${scope}, ${span}, counts, total from counted
        where counts <> '{}' or exists (select 1 from list_spans where ${isThis})
      on conflict (list, scope, span) do update set counts = excluded.counts, total = excluded.total
        where (${written}, list_spans.total) <> (excluded.counts, excluded.total)
      returning 1 as total`,
    sql<{ total: number }>`delete from list_spans where ${isThis} and ${written} = '{}' returning 0 as total`,
    ...recountParts(list, { scope, span }, now),
    ...(list.hasLongSums ? sumBits.map((bits) => recountSum(list, { scope, span }, bits)) : []),
  ]
  return { repairs, counted: sql`select coalesce(sum(total), 0) as n from list_spans where ${isThis}` }
}
