import { type SQL, sql } from 'drizzle-orm'
import { firstIdAt } from '../domain/ids.ts'
import { retentionDays, dayMs } from '../domain/time/instants.ts'
import type { Database } from './database.ts'

/** The position of a sweep that reads a part of a table each time. */
export interface SweepPosition {
  /** The last key that was read. Empty: the sweep starts from the first row. */
  after: string
  begun_at: number
}

export async function findSweepPosition(db: Database, name: string): Promise<SweepPosition | null> {
  const row = await db.first(
    sql<SweepPosition>`select after_key as after, begun_at from sweep_positions where name = ${name}`,
  )
  return row ?? null
}

/** Stores the position in the transaction that did the work before it. */
export const storeSweepPosition = (name: string, { after, begun_at }: SweepPosition): SQL =>
  sql`insert into sweep_positions (name, after_key, begun_at) values (${name}, ${after}, ${begun_at})
    on conflict (name) do update set after_key = excluded.after_key, begun_at = excluded.begun_at`

const messagesPerSweep = 500

/** Deletes expired messages of dead-letter queues, a few at a time. */
export const deleteDeadMessages = (db: Database, now: number): Promise<unknown> =>
  db.all(sql`delete from dead_messages where id in (select id from dead_messages
    where id < ${firstIdAt('dead_message', now - retentionDays.deadMessages * dayMs)} order by id limit ${messagesPerSweep})`)
