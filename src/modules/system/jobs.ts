import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { deadMessages } from '../../db/schema/dead-messages.ts'
import { insertAll } from '../../db/write.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { dayMs, retentionDays } from '../../domain/time/instants.ts'

export { sweepAlarms } from './alarms.ts'
export { sweepOutages, type SweepNotice } from './outages.ts'

/** Stores messages that failed. `error` is that of their consumer. Null: the platform moved them, and says no reason. */
export async function recordDeadMessages(
  job: Pick<JobCtx, 'db' | 'now' | 'newId'>,
  queue: string,
  bodies: readonly unknown[],
  error: string | null,
): Promise<void> {
  const rows = bodies.map((body) => ({
    id: job.newId('dead_message'),
    queue,
    body: JSON.stringify(body ?? null),
    error,
    created_at: job.now(),
  }))
  if (rows.length) await job.db.batch(insertAll(deadMessages, rows))
}

const messagesPerSweep = 500

/** Deletes expired messages, a few at a time. */
export const sweepDeadMessages = ({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<unknown> =>
  db.all(sql`delete from dead_messages where id in (select id from dead_messages
    where id < ${firstIdAt('dead_message', now() - retentionDays.deadMessages * dayMs)}
    order by id limit ${messagesPerSweep})`)
