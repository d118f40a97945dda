import { type SQL, sql } from 'drizzle-orm'
import { firstIdAt, type IdKind } from '../domain/ids.ts'
import { maxCounted, type WorkKind } from '../domain/system.ts'

/** Work of a kind that waits. Both counts end at `maxCounted`. */
export interface WorkCount {
  kind: WorkKind
  due: number
  planned: number
  /** Milliseconds UTC. Null: nothing is due, or only what is due at once, whose time is 0. */
  oldest_due_at: number | null
}

interface Work {
  kind: WorkKind
  /** The table with the index that has `dueAt` as its first column. */
  from: SQL
  dueAt: SQL
  /** The condition of the index. */
  where: SQL
}

/** Counts the rows of an index that are due at `now`, and those that are due later. */
export const selectWork = (now: number, { kind, from, dueAt, where }: Work): SQL<WorkCount> =>
  sql<WorkCount>`select ${kind} as kind,
    (select count(*) from (select 1 from ${from} where ${where} and ${dueAt} <= ${now} limit ${maxCounted})) as due,
    (select count(*) from (select 1 from ${from} where ${where} and ${dueAt} > ${now} limit ${maxCounted})) as planned,
    (select nullif(${dueAt}, 0) from ${from} where ${where} and ${dueAt} <= ${now} order by ${dueAt} limit 1) as oldest_due_at`

/** The number of rows of one status that were stored since a time. */
export interface RecentCount {
  kind: string
  status: string
  count: number
}

/** Counts the newest rows of a table by the time in their ids, at most `maxCounted`. */
export const countRecent = (since: number, table: string, idKind: IdKind): SQL<RecentCount> =>
  sql<RecentCount>`select ${table} as kind, status, count(*) as count
    from (select status from ${sql.identifier(table)} where id >= ${firstIdAt(idKind, since)}
      order by id desc limit ${maxCounted})
    group by status order by status`
