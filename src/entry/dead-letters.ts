import type { JobCtx } from '../context.ts'
import { deadMessages } from '../db/schema/messaging/webhooks.ts'
import { insertAll } from '../db/write.ts'

/** Keeps messages that failed too often, for analysis. Their work is still in the tables. */
export async function recordDead(job: JobCtx, queue: string, bodies: readonly unknown[]): Promise<void> {
  const rows = bodies.map((body) => ({
    id: job.newId('dead_message'),
    queue,
    body: JSON.stringify(body) ?? 'undefined',
    created_at: job.now(),
  }))
  if (rows.length) await job.db.batch(insertAll(deadMessages, rows))
}
