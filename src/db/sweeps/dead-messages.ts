import { sql } from 'drizzle-orm'
import { firstIdAt } from '../../domain/ids.ts'
import { retentionDays } from '../../domain/retention.ts'
import { dayMs } from '../../domain/time/instants.ts'
import type { Database } from '../database.ts'

const messagesASweep = 500

/** Deletes some of the messages that are too old. */
export const deleteDeadMessages = (db: Database, now: number): Promise<unknown> =>
  db.all(sql`delete from dead_messages where id in (select id from dead_messages
    where id < ${firstIdAt('dead_message', now - retentionDays.deadMessages * dayMs)} order by id limit ${messagesASweep})`)
