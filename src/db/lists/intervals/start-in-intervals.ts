import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import { inWords } from '../../visibility.ts'
import type { PageStart } from '../page-by-number.ts'
import {
  comparedWith,
  firstKey,
  isKnown,
  isOfFacets,
  keyOf,
  lastKey,
  namesOfKey,
  numberOf,
  waysToCount,
} from './interval-columns.ts'
import { type ChosenFacets, type IntervalList, type IntervalOrdering, youngRows } from './interval-list.ts'

/**
 * So many rows that are not settled are read one by one for a page, up to twelve times each. More are where the page would
 * else read more, because it is far from both ends.
 */
const mostYoung = (nearest: number): number => Math.max(400, Math.floor(nearest / 12))

/** The rows of a list that intervals lead through. */
export interface IntervalRows {
  scope: string
  /** What they are in the facets of the list. */
  facets: ChosenFacets
  /** Read one after the other. */
  orderings: readonly IntervalOrdering[]
  isDesc: boolean
}

/** The number of rows that are not settled and meet a condition, which leads no index: `+` sees to it. */
const youngOf = (list: IntervalList, { scope, facets }: IntervalRows, condition: SQL): SQL =>
  sql`(select count(*) from ${youngRows(list, scope, [isOfFacets(list, facets), sql`+(${condition})`])})`

/**
 * Defines `start`: the key of the last interval that stands certainly before the row behind `skipped` others, whichever
 * rows that are not settled stand before it; the exact number of rows before this key; and how many settled rows the
 * ordering has. In a descending order intervals are read from their ends, which are the keys of the next ones.
 */
function startOfRun(
  list: IntervalList,
  rows: IntervalRows,
  ordering: IntervalOrdering,
  { start, skipped }: { start: SQL; skipped: SQL },
): SQL {
  const { scope, facets, isDesc } = rows
  const key = keyOf(list)
  const edge = isDesc ? lastKey(list) : firstKey(list, ordering)
  const begin = namesOfKey(list).map((name, index) => {
    const column = sql.raw(name)
    return sql`iif(ahead is null, ${edge[index]}, ${column}) as ${column}`
  })
  const inOrder = sql.raw(
    namesOfKey(list)
      .map((name) => `${name} ${isDesc ? 'desc' : 'asc'}`)
      .join(', '),
  )
  const before = comparedWith(list, ordering, isDesc ? '>=' : '<', sql`select * from found_${start}`)
  return sql`found_${start} as materialized (
      select ${sql.join(begin, sql`, `)}, coalesce(ahead, 0) as ahead, settled
      from (select ${key}, max(iif(ahead <= ${skipped} - (select n from young), ahead, null)) as ahead, sum(n) as settled
        from (select ${key}, n, sum(n) over (order by ${inOrder}
            rows between unbounded preceding and current row) ${isDesc ? sql`` : sql`- n`} as ahead
          from (select ${key}, ${numberOf(list, facets)} as n from ${list.intervals}
            where scope = ${scope} and ordering = ${sql.raw(`'${ordering.name}'`)})))),
    ${start} as materialized (
      select ${key}, ahead + ${youngOf(list, rows, sql`${ordering.where} and ${before}`)} as ahead, settled
      from found_${start})`
}

/** Where a page begins. An ordering that stands before the page as a whole is passed by its size. */
function startInIntervals(list: IntervalList, rows: IntervalRows, offset: number): PageStart {
  const { orderings, isDesc } = rows
  const ctes = [sql`young (n) as materialized (select ${youngOf(list, rows, sql`1`)})`]
  const where: SQL[] = []
  let skipped = sql`${offset}`
  let rest = skipped
  for (const [run, ordering] of orderings.entries()) {
    const [start, passed] = [sql.raw(`start${run}`), sql.raw(`passed${run}`)]
    ctes.push(startOfRun(list, rows, ordering, { start, skipped }))
    const compared = comparedWith(list, ordering, isDesc ? '<' : '>=', sql`select * from ${start}`)
    const ahead = sql`(select ahead from ${start})`
    if (run === orderings.length - 1) {
      where.push(compared)
      rest = sql`${rest} - ${ahead}`
    } else {
      const young = youngOf(list, rows, ordering.where)
      ctes.push(sql`${passed} (size) as materialized (
        select size from (select settled + ${young} as size from ${start}) where size <= ${skipped})`)
      const size = sql`(select size from ${passed})`
      where.push(sql`not exists ${size} and ${compared}`)
      rest = sql`${rest} - coalesce(${size}, ${ahead})`
      skipped = sql`coalesce(${skipped} - ${size}, 0)`
    }
  }
  return { ctes: sql.join(ctes, sql`, `), where, offset: sql`(${rest})` }
}

/**
 * Where a page begins, if the list has intervals and few of its rows are not settled. `skipped` rows are before it, `nearest` between
 * it and the nearer end.
 */
export async function findStartInIntervals(
  db: Database,
  list: IntervalList,
  rows: IntervalRows,
  { skipped, nearest = 0 }: { skipped: number; nearest?: number },
): Promise<PageStart | null> {
  const { scope, facets, orderings } = rows
  const most = mostYoung(nearest)
  const { canCount, isByCombinations } = waysToCount(list, facets)
  if (!canCount) return null
  const names = orderings.map(({ name }) => name)
  const isUnknown = sql`exists (select 1 from ${list.intervals}
    where scope = ${scope} and ${inWords(sql`ordering`, names)} and not ${isKnown(list)})`
  const state = await db.first(sql<{ is_counted: number; young: number }>`
    select exists (select 1 from ${list.intervals} where scope = ${scope}) ${isByCombinations ? sql`and not ${isUnknown}` : sql``} as is_counted,
      (select count(*) from (select 1 from ${youngRows(list, scope)} limit ${most + 1})) as young`)
  return state?.is_counted && state.young <= most ? startInIntervals(list, rows, skipped) : null
}
