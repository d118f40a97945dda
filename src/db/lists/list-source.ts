import { type SQL, sql } from 'drizzle-orm'
import type { Counting, PageStart } from './page-by-number.ts'
import type { Fields } from '../select.ts'
import type { Ranges } from './ranges.ts'

/** Rows with or without a value in a column, and the ranges in which an index has them. */
interface RowsInRanges {
  where: SQL
  ranges?: Ranges | undefined
}

/**
 * A column that may be NULL. NULL is last in both directions. `indexed` says that an index has the column as it is:
 * an order that begins with it reads the rows with a value, then those without one, each through an index.
 */
export interface NullableKey {
  column: SQL
  indexed: boolean
  /** Rows with a value, and groups of rows without one in their order. Only what an index serves is used of them. */
  present: RowsInRanges
  absent: readonly RowsInRanges[]
}

/**
 * A column of few values, in ascending order. An order that begins with it reads one value after the other, each through
 * an index of the column and of the keys behind it, so that a condition on these keys is a part of the index too.
 */
export interface ListedKey {
  listed: SQL
  values: readonly string[]
}

/** One key of an order. An expression by itself never answers NULL, so that keys compare. */
export interface OldSortKey {
  by: SQL | NullableKey | ListedKey
  desc: boolean
}

export const nullable = (
  column: SQL,
  { indexed = false, ranges }: { indexed?: boolean; ranges?: Ranges | undefined } = {},
): NullableKey => ({
  column,
  indexed,
  present: { where: sql`${column} is not null`, ranges },
  absent: [{ where: sql`${column} is null`, ranges }],
})

/**
 * The rows of few owners: those that have one of the `ids`, a query of one column with that name, in `column`. Where an
 * index has the rows of each owner in the order of the list, they are merged, and read no further than a page needs.
 */
export interface Owners {
  column: SQL
  ids: SQL
  isOrdered: boolean
  /** `ids` has a value more of each in `shown`. Rows that are merged have that of their owner as `shown`. */
  areShown?: boolean
}

/**
 * A list: `key` is the unique row key of the table `from` and ends every order; `columns` and `joins` are looked up
 * for the rows of the page only, through `page.key`; the first join is a cross join, since the planner does not know how
 * short the page is.
 */
export interface ListSource<Columns extends SQL | Fields = SQL> {
  from: SQL
  /** The index to read, where SQLite would choose another. */
  index?: SQL | undefined
  key: SQL
  where: readonly SQL[]
  sort: readonly OldSortKey[]
  columns: Columns
  joins: SQL
  /**
   * The table of the rows, and the joins behind it. Where an index leads to a page, its rows are read with their keys then,
   * and not looked up through `page.key`. `more` are columns that they have then beside those of the table.
   */
  read?: { table: SQL; joins: SQL; more?: SQL } | undefined
  /** Columns that a page has of its rows beside their keys, where these are not read whole. */
  carried?: SQL | undefined
  /** A value that all rows have as `shown`, from queries that are read once. It may name columns of rows that are read whole. */
  shown?: SQL | undefined
  /** The owners of the rows, in addition to `where`. */
  owners?: Owners | undefined
  /** The ranges in which an index has the rows, or those of each value of a listed key; none of a column that may be NULL. */
  ranges?: Ranges | undefined
  /** Whether there are rows at all, where counts say so: nothing is looked for in vain. */
  some?: SQL | undefined
  /** The count of the whole list, where it is known without counting, or a better way to count. */
  count?: number | Counting | null
  /** Where the page behind so many rows begins, for lists that need not read these rows. Null where it cannot be said now. */
  startOf?: ((skipped: number) => PageStart | Promise<PageStart | null>) | undefined
  /** So many rows before a page are not read one by one, where these are not 200. */
  shortSkip?: number | undefined
  /**
   * As `startOf`, for pages that are far from both ends: `nearest` is the number of rows between a page and the end that is
   * nearer. Null where it cannot be said at present, or would be no nearer.
   */
  findStart?: ((skipped: number, nearest: number) => Promise<PageStart | null>) | undefined
}
