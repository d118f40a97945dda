import { type Column, eq, type GetColumnData, gte, lt, type SQL, sql } from 'drizzle-orm'
import { containsFolded } from './search.ts'

/**
 * The filters of a list by their names in the query, each with the condition that it builds from its value. Leave out
 * of `Query` what the list handles elsewhere: every other filter needs its line to compile.
 */
export type FilterTable<Query> = {
  readonly [Name in Exclude<keyof Query, 'ordering'>]-?: (value: NonNullable<Query[Name]>) => SQL
}

/** Builds the conditions of the filters that the query has. */
export const buildConditions = <Query extends object>(
  filters: FilterTable<Query>,
  query: NoInfer<Omit<Query, 'ordering'>>,
): SQL[] =>
  Object.entries<(value: never) => SQL>(filters).flatMap(([name, buildCondition]) => {
    const value = query[name as keyof typeof query]
    return value === undefined ? [] : [buildCondition(value as never)]
  })

/** Compares the column with the value of the filter. */
export const equals =
  <C extends Column>(column: C) =>
  (value: GetColumnData<C, 'raw'>): SQL =>
    eq(column, value)

/** True for times from that of the filter on. */
export const isFrom =
  (column: Column) =>
  (time: number): SQL =>
    gte(column, time)

/** True for times before that of the filter. */
export const isBefore =
  (column: Column) =>
  (time: number): SQL =>
    lt(column, time)

/** True if the column, which holds folded text, contains the text of the filter. */
export const contains =
  (column: Column) =>
  (text: string): SQL =>
    containsFolded(sql`${column}`, text)
