import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/visibility.ts'
import { firstIdAt } from '../../../domain/ids.ts'
import { deliveryLifecycle } from '../../../domain/webhooks/webhooks.ts'

/** The rows of one statement, and the transactions of one sweep. The next sweep deletes the rest. */
const eventsABatch = 200
const deliveriesABatch = 200
const batchesASweep = 20

/** Deliveries whose attempts may be under way or due. */
const openStatuses = deliveryLifecycle.sourcesOf('success')

/**
 * Deletes events whose time is over with their deliveries and attempts, the oldest first. An event with a delivery that
 * is still tried waits until the delivery has ended.
 */
export async function sweepEvents(job: Pick<JobCtx, 'db' | 'now' | 'config'>): Promise<void> {
  const { db, now, config } = job
  const oldest = sql`select id from webhook_events
    where id < ${firstIdAt('webhook_event', now() - config.kept.webhooks)} order by id limit ${eventsABatch}`
  for (let batch = 0; batch < batchesASweep; batch++) {
    const [deliveries, events] = await db.batch([
      sql`delete from webhook_deliveries where id in (select deliveries.id from (${oldest}) as old
          cross join webhook_deliveries as deliveries on deliveries.event_id = old.id
          where not ${inList(sql`deliveries.status`, openStatuses)} limit ${deliveriesABatch})
        returning 1`,
      sql`delete from webhook_events where id in (${oldest})
          and not exists (select 1 from webhook_deliveries where event_id = webhook_events.id)
        returning 1`,
    ])
    if (deliveries.length < deliveriesABatch && events.length < eventsABatch) return
  }
}
