import { type SQL, sql } from 'drizzle-orm'
import type { Json } from './json.ts'
import { chain, failing, guarded, total, type Value } from './values.ts'

/** The value of the variable of a macro: a row of a table, a value, or a value of metadata. */
export type ElementSql = { row: SQL } | { value: Value } | { json: Json }

/** A list: the rows that it has. */
export interface Rows {
  from: SQL
  where: SQL[]
  element: ElementSql
  /** The condition of the rows in the list; all rows without one. An error here is an error of the list. */
  keep: Value | null
  /** Holds when the list exists. */
  guard: SQL | null
}

const whereOf = (conditions: SQL[]): SQL => (conditions.length ? sql`where ${chain('and', conditions)}` : sql``)

/** The list with a further condition. */
export function kept(rows: Rows, condition: Value): Rows {
  if (!rows.keep?.fails && !condition.fails)
    return { ...rows, where: [...rows.where, ...(rows.keep ? [rows.keep.sql] : []), condition.sql], keep: null }
  const keep = rows.keep
    ? failing(sql`case ${rows.keep.sql} when 1 then ${condition.sql} when 0 then 0 end`)
    : condition
  return { ...rows, keep }
}

/** The list with each element mapped. */
export function mapped(rows: Rows, value: Value, alias: SQL): Rows {
  const one = value.ok ? sql`case when ${value.ok} then 1 end` : sql`case when ${value.sql} is not null then 1 end`
  const made = value.fails ? failing(one) : total(sql`1`)
  const keep = rows.keep
    ? {
        ...made,
        sql: sql`case ${rows.keep.sql} when 1 then ${made.sql} when 0 then 0 end`,
        fails: made.fails || rows.keep.fails,
      }
    : made
  const inner = sql`(select ${keep.sql} as k, ${value.sql} as v from ${rows.from} ${whereOf(rows.where)}) ${alias}`
  return {
    from: inner,
    where: [],
    element: { value: { sql: sql`${alias}.v`, nullable: value.nullable, fails: false } },
    keep: keep.fails || rows.keep ? { sql: sql`${alias}.k`, nullable: false, fails: keep.fails } : null,
    guard: rows.guard,
  }
}

/** One row with `k`, whether an element is kept, and `r`, the condition, or what counts as it for the others. */
const judged = (rows: Rows, condition: Value, dropped: 0 | 1): SQL => {
  const k = rows.keep?.sql ?? sql`1`
  const r = rows.keep ? sql`case when ${k} then ${condition.sql} else ${sql.raw(String(dropped))} end` : condition.sql
  return sql`(select ${k} as k, ${r} as r from ${rows.from} ${whereOf(rows.where)})`
}

const keepFails = (rows: Rows): SQL => (rows.keep?.fails ? sql`when count(k) < count(*) then null` : sql``)

const result = (rows: Rows, expression: SQL, ...others: readonly (Value | null)[]): Value => ({
  sql: guarded([rows.guard], expression),
  nullable: false,
  fails: rows.guard !== null || [rows.keep, ...others].some((value) => value?.fails ?? false),
})

/** With the conditions of the list and `condition` in the where clause. Only where errors count as false. */
const found = (rows: Rows, condition: SQL): SQL =>
  sql`exists (select 1 from ${rows.from} ${whereOf([...rows.where, ...(rows.keep ? [rows.keep.sql] : []), condition])})`

/** `positive`: an error in this position counts as false. */
export function existsIn(rows: Rows, condition: Value, positive: boolean): Value {
  if (!rows.keep?.fails && (positive || !condition.fails)) return result(rows, found(rows, condition.sql), condition)
  const all = judged(rows, condition, 0)
  return result(
    rows,
    sql`(select case ${keepFails(rows)} when max(r) = 1 then 1 when count(r) < count(*) then null else 0 end from ${all})`,
    condition,
  )
}

export function allIn(rows: Rows, condition: Value, positive: boolean): Value {
  if (!rows.keep?.fails && (positive || !condition.fails))
    return result(rows, sql`(not ${found(rows, sql`${condition.sql} is not true`)})`, condition)
  const all = judged(rows, condition, 1)
  return result(
    rows,
    sql`(select case ${keepFails(rows)} when min(r) = 0 then 0 when count(r) < count(*) then null else 1 end from ${all})`,
    condition,
  )
}

export function existsOneIn(rows: Rows, condition: Value): Value {
  const all = judged(rows, condition, 0)
  return result(
    rows,
    sql`(select case ${keepFails(rows)} when count(r) < count(*) then null else coalesce(sum(r), 0) = 1 end from ${all})`,
    condition,
  )
}

export function sizeOf(rows: Rows): Value {
  const all = judged(rows, total(sql`1`), 0)
  return result(rows, sql`(select case ${keepFails(rows)} when 1 then coalesce(sum(r), 0) end from ${all})`)
}
