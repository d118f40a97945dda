import { type SQL, sql } from 'drizzle-orm'
import { dayMs } from '../../../domain/time/instants.ts'
import { written } from '../../edition-counts.ts'
import { and } from '../order-keys.ts'
import {
  countedFacets,
  isOfScope,
  type ListSpan,
  longBits,
  spanMs,
  type SpannedList,
  totalOf,
  untilOf,
} from './spanned-list.ts'

/** Lengths of the parts of a span, and of parts of these, down to one millisecond. */
const partBits = [24, 21, 18, 15, 12, 9, 6, 3, 0] as const
type PartBits = (typeof partBits)[number]

const parentBits = (bits: PartBits): number => partBits[partBits.indexOf(bits) - 1] ?? longBits

/** The length of the parts of what has the length `bits`, as an expression. Null of the shortest. Parts of sums are eighths, too. */
export const bitsOfParts = (bits: SQL): SQL =>
  sql`case ${bits} when 0 then null when ${written(longBits)} then ${written(partBits[0])} else ${bits} - 3 end`

/** Condition of the parts of a length that some spans of a length have. */
export const arePartsOf = (bits: SQL, spans: { bits: SQL; first: SQL; last: SQL }): SQL =>
  sql`list_span_parts.bits = ${bits} and list_span_parts.span >= ${spans.first} << (${spans.bits} - ${bits})
    and list_span_parts.span < (${spans.last} + 1) << (${spans.bits} - ${bits})`

/** A query of what may have parts of this length: `span`, `total` and whether it has them. */
function parentsOf({ name }: SpannedList, scope: SQL, bits: PartBits, span: SQL): SQL {
  const above = parentBits(bits)
  const parent = { bits: written(above), first: sql`parent.span`, last: sql`parent.span` }
  return sql`select span, total, exists (select 1 from list_span_parts
        where list = ${name} and scope = ${scope} and ${arePartsOf(written(bits), parent)}) as is_divided
      from ${above === longBits ? sql`list_spans` : sql`list_span_parts`} as parent
      where parent.list = ${name} and parent.scope = ${scope}
        ${above === longBits ? sql`` : sql`and parent.bits = ${written(above)}`} and ${span}`
}

/** Rows between the keys `first` and `last` of each row of `parent`, counted in parts of a length. */
function countedIn(list: SpannedList, scope: SQL, bits: PartBits, until: SQL): SQL {
  const { table, key, momentOf, isSettled } = list
  // Of two bounds of one column SQLite seeks by the first.
  const last = isSettled ? sql`min(parent.last, ${until})` : sql`parent.last`
  const rows = and([isOfScope(list, scope), sql`${key} >= parent.first and ${key} < ${last}`])
  const joined = { ...list, table: sql`parent cross join ${table}` }
  return countedFacets(joined, rows, { scope, bits: written(bits), span: sql`${momentOf(key)} >> ${written(bits)}` })
}

/** Adds what `changed` has to the counts of parts. */
function addChanged({ name }: SpannedList, ctes: SQL): SQL {
  return sql`insert into list_span_parts (list, scope, bits, span, counts, total) with ${ctes}
    select ${name}, scope, bits, span, json_group_object(facets, n), ${totalOf(sql`facets`, sql`n`)} from (
      select scope, bits, span, facets, sum(n) as n from (
        select scope, bits, span, facets, n from changed
        union all
        select parts.scope, parts.bits, parts.span, facet.key, facet.value
          from (select distinct scope, bits, span from changed) as touched
          cross join list_span_parts as parts on parts.list = ${name} and parts.scope = touched.scope
            and parts.bits = touched.bits and parts.span = touched.span
          cross join json_each(parts.counts) as facet)
      group by 1, 2, 3, 4)
    where true group by scope, bits, span
    on conflict (list, scope, bits, span) do update set counts = excluded.counts, total = excluded.total`
}

/**
 * Adds the next rows of a scope, which come before `until`, to parts, and divides what has many rows with them. For the
 * transaction that adds them to their spans, before it records how far rows are counted.
 */
export const addToParts = (list: SpannedList, scope: string, until: string | number): SQL[] =>
  partBits.map((bits) => {
    const { momentOf, keyOf } = list
    const above = written(parentBits(bits))
    const touched = sql`parent.span >= (select moment >> ${above} from begun)`
    return addChanged(
      list,
      sql`settled (until) as materialized (select ${untilOf(list, sql`${scope}`)}),
      begun (moment) as materialized (select ${momentOf(sql`until`)} from settled),
      parent (first, last) as materialized (
        select iif(is_divided, max(until, first), first), ${keyOf(sql`(moment + (1 << ${above}))`)}
        from (select ${keyOf(sql`moment`)} as first, moment, is_divided
          from (select span << ${above} as moment, is_divided from (${parentsOf(list, sql`${scope}`, bits, touched)})
            where is_divided or total > ${written(list.mostUndivided)})) cross join settled),
      changed as materialized (${countedIn(list, sql`${scope}`, bits, sql`${until}`)})`,
    )
  })

/** Takes counted rows from all parts that have them. */
export function takeFromParts(list: SpannedList, where: SQL): SQL {
  const { name, scope, key, momentOf } = list
  const span = sql`${momentOf(key)} >> level.bits`
  const hasPart = sql`exists (select 1 from list_span_parts as part
    where part.list = ${name} and part.scope = ${scope} and part.bits = level.bits and part.span = ${span})`
  const counted = countedFacets(
    {
      ...list,
      joins: sql`${list.joins} cross join (select value as bits from json_each(${JSON.stringify(partBits)})) as level`,
    },
    sql`${where} and ${hasPart}`,
    { scope, bits: sql`level.bits`, span },
  )
  return addChanged(list, sql`changed as materialized (select scope, bits, span, facets, -n as n from (${counted}))`)
}

/** Counts the rows of what `isChosen` in a span, in its parts of a length. */
function countIn(list: SpannedList, { scope, span }: ListSpan, bits: PartBits, isChosen: SQL): SQL {
  const { name, keyOf } = list
  const [own, above] = [sql`${scope}`, written(parentBits(bits))]
  const size = 2 ** (longBits - parentBits(bits))
  const inSpan = sql`parent.span >= ${span * size} and parent.span < ${(span + 1) * size}`
  return sql`insert into list_span_parts (list, scope, bits, span, counts, total)
    with parent (first, last) as materialized (
      select ${keyOf(sql`moment`)}, ${keyOf(sql`(moment + (1 << ${above}))`)}
      from (select span << ${above} as moment from (${parentsOf(list, own, bits, inSpan)}) where ${isChosen})),
    changed as materialized (${countedIn(list, own, bits, untilOf(list, own))})
    select ${name}, scope, bits, span, json_group_object(facets, n), ${totalOf(sql`facets`, sql`n`)}
    from (select * from changed order by facets) where true group by scope, bits, span`
}

const divide = (list: SpannedList, span: ListSpan, bits: PartBits): SQL<{ total: number }> =>
  sql`${countIn(list, span, bits, sql`not is_divided and total > ${written(list.mostUndivided)}`)}`

/** Whether almost no row of a span changes any more. */
const isQuiet = ({ span }: ListSpan, now: number): boolean => (span + 1) * spanMs < now - dayMs

/** Counts the parts of a span anew. The statements answer rows; what was wrong of them has a `total`. */
export function recountParts(list: SpannedList, span: ListSpan, now: number): SQL<{ total: number }>[] {
  const { name, table, key, keyOf, isSettled } = list
  const own = sql`${span.scope}`
  return partBits.flatMap((bits) => {
    const size = 2 ** (longBits - bits)
    const length = written(bits)
    const hasRows = sql`exists (select 1 from ${table} where ${isOfScope(list, own)}
      and ${key} >= ${keyOf(sql`(part.span << ${length})`)} and ${key} < ${keyOf(sql`((part.span + 1) << ${length})`)}
      ${isSettled ? sql`and ${key} < ${untilOf(list, own)}` : sql``})`
    return [
      sql<{ total: number }>`${countIn(list, span, bits, sql`is_divided`)}
        on conflict (list, scope, bits, span) do update set counts = excluded.counts, total = excluded.total
          where (${storedCounts(sql`list_span_parts`)}, list_span_parts.total) <> (excluded.counts, excluded.total)
        returning 1 as total`,
      ...(isSettled || isQuiet(span, now) ? [divide(list, span, bits)] : []),
      sql<{ total: number }>`delete from list_span_parts as part where list = ${name} and scope = ${span.scope}
        and bits = ${length} and span >= ${span.span * size} and span < ${(span.span + 1) * size} and not ${hasRows}
        returning total`,
    ]
  })
}

/** The counts of a row as a recount writes them. */
export const storedCounts = (table: SQL): SQL => storedNumbers(sql`${table}.counts`)
export const storedNumbers = (column: SQL): SQL => sql`(select json_group_object(key, value) from (
  select key, value from json_each(${column}) where value <> 0 order by key))`
