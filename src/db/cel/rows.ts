import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/cel/index.ts'
import type { BoundScope } from './columns.ts'
import type { Json } from './json.ts'
import { failingValue, guardValue, buildConjunction, plainValue, type Value } from './values.ts'

/** The variable of a macro: a row of a table, a value, or a metadata value. */
export type ElementSql = { row: SQL } | { value: Value } | { json: Json }

/** Parts of the lowering of the whole expression that the lowering of lists needs. */
export interface ListLowering {
  readonly scope: BoundScope
  /** `errorIsFalse`: an error in this position counts as false, so the SQL need not tell them apart. */
  lower: (expression: Expression, errorIsFalse?: boolean) => Value
  lowerJson: (expression: Expression) => Json
  /** The row of a macro variable. */
  findRow: (name: string) => SQL
  /**
   * The row of the purchase when the expression is its product name, otherwise null. It is null for packed constants
   * too: they read a joined row, on which the subquery of the product would then depend.
   */
  findPurchaseOfProductName: (expression: Expression) => SQL | null
  withVariable: <T>(name: string, element: ElementSql, work: () => T) => T
  /** Notes a list whose length does not depend on the outer element, such as all orders of the person. */
  noteUnlimitedList: () => void
}

/** A list in SQL. */
export interface Rows {
  from: SQL
  /** Conditions that are never an error. */
  where: SQL[]
  element: ElementSql
  /** A condition on the rows of the list; null for all rows. An error here is an error of the whole list. */
  filter: Value | null
  /** Holds when the value is a list at all. Null when it always is. */
  guard: SQL | null
}

const buildWhere = (conditions: SQL[]): SQL =>
  conditions.length ? sql`where ${buildConjunction('and', conditions)}` : sql``

export function filterRows(rows: Rows, condition: Value): Rows {
  const { filter } = rows
  if (!filter?.fails && !condition.fails)
    return { ...rows, where: [...rows.where, ...(filter ? [filter.sql] : []), condition.sql], filter: null }
  return {
    ...rows,
    filter: filter ? failingValue(sql`case ${filter.sql} when 1 then ${condition.sql} when 0 then 0 end`) : condition,
  }
}

export function mapRows(rows: Rows, value: Value, alias: SQL): Rows {
  const isOk = sql`case when ${value.ok ?? sql`${value.sql} is not null`} then 1 end`
  const mappedValue = value.fails ? failingValue(isOk) : plainValue(sql`1`)
  const filter = rows.filter
    ? {
        ...mappedValue,
        sql: sql`case ${rows.filter.sql} when 1 then ${mappedValue.sql} when 0 then 0 end`,
        fails: mappedValue.fails || rows.filter.fails,
      }
    : mappedValue
  // `limit -1` stops SQLite from flattening the subquery, which would compute the value again at each use.
  const from = sql`(select ${filter.sql} as k, ${value.sql} as v
    from ${rows.from} ${buildWhere(rows.where)} limit -1) ${alias}`
  return {
    from,
    where: [],
    element: { value: { sql: sql`${alias}.v`, nullable: value.nullable, fails: false } },
    filter: filter.fails || rows.filter ? { sql: sql`${alias}.k`, nullable: false, fails: filter.fails } : null,
    guard: rows.guard,
  }
}

/**
 * Selects for each row `k`, whether it is in the list, and `r`, the result of the condition. For rows outside the list,
 * `r` is `otherwise`.
 */
const selectResults = (rows: Rows, condition: Value, otherwise: 0 | 1): SQL => {
  const k = rows.filter?.sql ?? sql`1`
  const r = rows.filter
    ? sql`case when ${k} then ${condition.sql} else ${sql.raw(String(otherwise))} end`
    : condition.sql
  return sql`(select ${k} as k, ${r} as r from ${rows.from} ${buildWhere(rows.where)})`
}

const buildFilterError = (rows: Rows): SQL => (rows.filter?.fails ? sql`when count(k) < count(*) then null` : sql``)

const buildResult = (rows: Rows, expression: SQL, condition: Value | null = null): Value => ({
  sql: guardValue([rows.guard], expression),
  nullable: false,
  fails: rows.guard !== null || [rows.filter, condition].some((value) => value?.fails ?? false),
})

/** Tests whether a row meets the condition. This is correct only where errors count as false. */
const matchesAny = (rows: Rows, condition: SQL): SQL =>
  sql`exists (select 1 from ${rows.from}
    ${buildWhere([...rows.where, ...(rows.filter ? [rows.filter.sql] : []), condition])})`

/** `errorIsFalse`: an error in this position counts as false, so the SQL need not tell them apart. */
export function lowerExists(rows: Rows, condition: Value, errorIsFalse: boolean): Value {
  if (!rows.filter?.fails && (errorIsFalse || !condition.fails))
    return buildResult(rows, matchesAny(rows, condition.sql), condition)
  return buildResult(
    rows,
    sql`(select case ${buildFilterError(rows)} when max(r) = 1 then 1 when count(r) < count(*) then null else 0 end
      from ${selectResults(rows, condition, 0)})`,
    condition,
  )
}

export function lowerAll(rows: Rows, condition: Value, errorIsFalse: boolean): Value {
  if (!rows.filter?.fails && (errorIsFalse || !condition.fails))
    return buildResult(rows, sql`(not ${matchesAny(rows, sql`${condition.sql} is not true`)})`, condition)
  return buildResult(
    rows,
    sql`(select case ${buildFilterError(rows)} when min(r) = 0 then 0 when count(r) < count(*) then null else 1 end
      from ${selectResults(rows, condition, 1)})`,
    condition,
  )
}

export const lowerExistsOne = (rows: Rows, condition: Value): Value =>
  buildResult(
    rows,
    sql`(select case ${buildFilterError(rows)} when count(r) < count(*) then null else coalesce(sum(r), 0) = 1 end
      from ${selectResults(rows, condition, 0)})`,
    condition,
  )

export const countElements = (rows: Rows): Value =>
  buildResult(
    rows,
    sql`(select case ${buildFilterError(rows)} when 1 then coalesce(sum(r), 0) end
      from ${selectResults(rows, plainValue(sql`1`), 0)})`,
  )
