import { type SQL, sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { firstIdAt } from '../domain/ids.ts'
import { retentionDays, dayMs } from '../domain/time/instants.ts'

/** The position of a sweep that reads a part of a table each time. */
export interface SweepPosition {
  /** Empty before the first row and after the last. */
  after: string
  begun_at: number
}

/** Null for a sweep without a stored position. */
export async function findSweepPosition(db: Database, name: string): Promise<SweepPosition | null> {
  const row = await db.first(
    sql<SweepPosition>`select after_key as after, begun_at from storage_sweeps where name = ${name}`,
  )
  return row ?? null
}

/** The statement that stores the position, for the transaction that did the work before it. */
export const sweepPositionStatement = (name: string, { after, begun_at }: SweepPosition): SQL =>
  sql`insert into storage_sweeps (name, after_key, begun_at) values (${name}, ${after}, ${begun_at})
    on conflict (name) do update set after_key = excluded.after_key, begun_at = excluded.begun_at`

const messagesASweep = 500

/** Deletes some of the messages that are too old. */
export const deleteDeadMessages = (db: Database, now: number): Promise<unknown> =>
  db.all(sql`delete from dead_messages where id in (select id from dead_messages
    where id < ${firstIdAt('dead_message', now - retentionDays.deadMessages * dayMs)} order by id limit ${messagesASweep})`)
