import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { firstIdAt } from '../../../domain/ids.ts'
import { openDeliveryStatuses } from '../../../domain/webhooks/webhooks.ts'

/** Events and deliveries of one statement. */
const rowsPerBatch = 200
/** Transactions of one sweep. The next sweep deletes the rest. */
const batchesPerSweep = 20

const hasNoDelivery = sql`not exists (select 1 from webhook_deliveries where event_id = webhook_events.id)`

/** Stores how far events are deleted, with their deletion, so that no client reads on without noticing. */
const rememberDeleted = (isDeleted: SQL): SQL => sql`insert into webhook_event_expiries (organization_id, seq)
  select organization_id, max(seq) from webhook_events where ${isDeleted} and seq is not null group by organization_id
  on conflict do update set seq = max(seq, excluded.seq)`

/**
 * Deletes events after their retention time, with their deliveries and attempts, the oldest first. An event with an open
 * delivery stays until the delivery has ended.
 */
export async function sweepEvents(job: Pick<JobCtx, 'db' | 'now' | 'config'>): Promise<void> {
  const { db, now, config } = job
  const before = firstIdAt('webhook_event', now() - config.retentionMs.webhooks)
  const hasEnded = (deliveries: SQL): SQL => sql`not ${inList(sql`${deliveries}.status`, openDeliveryStatuses)}`
  for (let batch = 0; batch < batchesPerSweep; batch++) {
    const expiredRows = await db.all(sql<{
      event_id: string
      id: string | null
    }>`select old.id as event_id, deliveries.id
      from (select id from webhook_events where id < ${before} order by id limit ${rowsPerBatch}) as old
        left join webhook_deliveries as deliveries on deliveries.event_id = old.id and ${hasEnded(sql`deliveries`)}
      limit ${rowsPerBatch}`)
    if (expiredRows.length === 0) return
    const deliveryIds = expiredRows.flatMap(({ id }) => id ?? [])
    const eventIds = expiredRows.map(({ event_id }) => event_id)
    const [deliveries, , events] = await db.batch([
      sql`delete from webhook_deliveries
        where ${inList(sql`webhook_deliveries.id`, deliveryIds)} and ${hasEnded(sql`webhook_deliveries`)} returning 1`,
      rememberDeleted(sql`${inList(sql`webhook_events.id`, eventIds)} and ${hasNoDelivery}`),
      sql`delete from webhook_events where ${inList(sql`id`, eventIds)} and ${hasNoDelivery} returning 1`,
    ])
    if (expiredRows.length < rowsPerBatch || deliveries.length + events.length === 0) return
  }
}
