import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/visibility.ts'
import { firstIdAt } from '../../../domain/ids.ts'
import { deliveryLifecycle } from '../../../domain/webhooks/webhooks.ts'

/** The events and the deliveries of one statement, and the transactions of one sweep. The next sweep deletes the rest. */
const rowsABatch = 200
const batchesASweep = 20

/** Deliveries whose attempts may be under way or due. */
const openStatuses = deliveryLifecycle.sourcesOf('success')

/**
 * Deletes events whose time is over with their deliveries and attempts, the oldest first. An event with a delivery that
 * is still tried waits until the delivery has ended.
 */
export async function sweepEvents(job: Pick<JobCtx, 'db' | 'now' | 'config'>): Promise<void> {
  const { db, now, config } = job
  const before = firstIdAt('webhook_event', now() - config.retentionMs.webhooks)
  const ended = (deliveries: SQL): SQL => sql`not ${inList(sql`${deliveries}.status`, openStatuses)}`
  for (let batch = 0; batch < batchesASweep; batch++) {
    const found = await db.all(sql<{ event_id: string; id: string | null }>`select old.id as event_id, deliveries.id
      from (select id from webhook_events where id < ${before} order by id limit ${rowsABatch}) as old
        left join webhook_deliveries as deliveries on deliveries.event_id = old.id and ${ended(sql`deliveries`)}
      limit ${rowsABatch}`)
    if (found.length === 0) return
    const deliveryIds = found.flatMap(({ id }) => id ?? [])
    const eventIds = found.map(({ event_id }) => event_id)
    const [deliveries, events] = await db.batch([
      sql`delete from webhook_deliveries
        where ${inList(sql`webhook_deliveries.id`, deliveryIds)} and ${ended(sql`webhook_deliveries`)} returning 1`,
      sql`delete from webhook_events where ${inList(sql`id`, eventIds)}
        and not exists (select 1 from webhook_deliveries where event_id = webhook_events.id) returning 1`,
    ])
    if (found.length < rowsABatch || deliveries.length + events.length === 0) return
  }
}
