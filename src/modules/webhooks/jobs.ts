import { sql } from 'drizzle-orm'
import type { DeliverMessage, JobCtx } from '../../context.ts'
import { isClaimable } from '../../db/claims.ts'
import { isInProgress, isWaiting } from './delivery/claim.ts'
import { enqueueEndpoints } from './delivery/enqueue.ts'

export { deliverDue } from './delivery/deliver.ts'
export { sweepEvents } from './events/sweep-events.ts'

export const isDeliverMessage = (body: unknown): body is DeliverMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<DeliverMessage>).type === 'webhook.deliver' &&
  typeof (body as Partial<DeliverMessage>).endpoint_id === 'string'

const endpointsPerSweep = 1000

/** Enqueues all due deliveries, because messages get lost and workers die. Returns the number of endpoints. */
export async function sweepDeliveries(job: JobCtx): Promise<number> {
  const now = job.now()
  const endpoints = await job.db.all(sql<{ endpoint_id: string }>`select distinct endpoint_id from (
      select endpoint_id from webhook_deliveries indexed by webhook_deliveries_due
        where ${isWaiting} and next_retry_at <= ${now}
      union all
      select endpoint_id from webhook_deliveries indexed by webhook_deliveries_claimed
        where ${isInProgress} and ${isClaimable(now)} and next_retry_at <= ${now})
    limit ${endpointsPerSweep}`)
  await enqueueEndpoints(
    job,
    endpoints.map(({ endpoint_id }) => endpoint_id),
  )
  return endpoints.length
}
