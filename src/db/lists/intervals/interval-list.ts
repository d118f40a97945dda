import { type SQL, sql } from 'drizzle-orm'
import { and } from '../order-keys.ts'
import { readBy } from '../page-statement.ts'
import { inAnyRange, inOrderOf, type Ranges } from '../ranges.ts'

/** An index that begins with the column `part` of a list. */
export interface PartIndex {
  index: SQL
  /** The ranges behind `part` in which it has the rows, where these are in several. */
  ranges?: Ranges
}

/** The rows of an index that meet a condition. */
export interface RowsOfIndex extends PartIndex {
  where: SQL
  /** Leads the index to the settled rows of a `part` between the keys `this` and `next`, where their order does not. */
  between?: SQL
}

/** An order of lists in which intervals count rows: those that meet a condition, as one index has them. */
export interface IntervalOrdering extends RowsOfIndex {
  name: string
  /** What its keys begin with. Null where only the other keys order its rows. */
  value: SQL | null
  /** A value before all others. */
  least: number | string
  /** Names of keys that its rows are not ordered by. */
  without?: readonly string[]
  /** The indexes that have its rows together, where no index has all of them. */
  divided?: readonly RowsOfIndex[]
}

/** A key behind the value, which orderings share. */
interface IntervalKey {
  /** As the table of intervals names it. */
  name: string
  column: SQL
  /** A value that is behind none. */
  least: number | string
}

/** A list whose rows are counted in intervals. A scope has parts; each is a scope too, and its rows are settled by themselves. */
export interface IntervalList {
  /** As `settled_lists` names it. */
  name: string
  table: SQL
  /** Keys may say who somebody is: they are in no log, and kept nowhere but with the intervals. Triggers see that they go. */
  arePersonal?: boolean
  /** The table of intervals: it has `scope`, `ordering`, `value`, the keys and the counts. */
  intervals: SQL
  orderings: Readonly<Record<string, IntervalOrdering>>
  /** Together they tell all rows apart. */
  keys: readonly IntervalKey[]
  /** A query of the parts of a scope: `id`, and `key`, which rows have in the column `part`. */
  partsOf: (scope: string) => SQL
  part: SQL
  /** A row is settled if this moment (milliseconds UTC) is before `settled_lists.until` of its part. The index has rows in its order. */
  settled: PartIndex & { at: SQL }
  /** Rows are young for so long, where that is not two minutes. */
  settledAfterMs?: number
  /** The columns by whose values rows are counted separately. */
  facets: readonly SQL[]
  /** The columns of intervals that count rows, with the words that these have in the facets, the first of them at least. */
  counts: readonly { name: string; facets: readonly string[] }[]
  /**
   * The column of intervals that has the numbers of all combinations of facets as JSON, where code does not know all values of
   * the last facet. Null where they are not known: the version before counts without it.
   */
  combinations?: string
}

/** The values that are asked for of each facet: one, any of some, or undefined for all. */
export type ChosenFacets = readonly (string | readonly string[] | undefined)[]

export function orderingOf({ name, orderings }: IntervalList, ordering: string): IntervalOrdering {
  const found = orderings[ordering]
  if (!found) throw new Error(`Intervals of ${name} have no ordering ${ordering}.`)
  return found
}

/** The parts of a scope: `id`, `key`, and `until`. Rows of this moment and later are young. */
export const settledPartsOf = ({ name, partsOf }: IntervalList, scope: string): SQL =>
  sql`select part.id, part.key, coalesce(settled_lists.until, 0) as until
    from (${partsOf(scope)}) as part left join settled_lists on settled_lists.list = ${name} and settled_lists.scope = part.id`

/** Rows of a part that meet conditions, through an index and in no order: the end of a `from`, with its `where`. */
export const rowsOfPart = (list: IntervalList, by: PartIndex, key: SQL, where: readonly SQL[]): SQL =>
  sql`${readBy({ from: list.table, index: by.index })}
    where ${and([sql`${list.part} = ${key}`, ...(by.ranges ? [inAnyRange(by.ranges)] : []), ...where])}`

/** Rows of a scope that are not settled and meet conditions, as `rowsOfPart`. */
export const youngRows = (list: IntervalList, scope: string, where: readonly SQL[] = []): SQL =>
  sql`(${settledPartsOf(list, scope)}) as part
    cross join ${rowsOfPart(list, list.settled, sql`part.key`, [sql`${list.settled.at} >= part.until`, ...where])}`

/** The moments of rows of a part, in their order. */
export function momentsOfPart({ table, part, settled }: IntervalList, key: string, where: readonly SQL[]): SQL {
  const { at, index, ranges } = settled
  const moments = (range: readonly SQL[]): SQL =>
    sql`select ${at} as at from ${readBy({ from: table, index })} where ${and([sql`${part} = ${key}`, ...range, ...where])}`
  return inOrderOf(ranges, moments, ranges ? sql`at` : at)
}
