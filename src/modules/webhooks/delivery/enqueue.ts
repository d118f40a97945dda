import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { isClaimable } from '../../../db/claims.ts'
import { inList } from '../../../db/conditions.ts'
import { isInProgress, isWaiting } from './claim.ts'

const endpointsPerSweep = 1000

/** A message says only that an endpoint has something due. The consumer reads from the table what it is. */
export const enqueueEndpoints = (job: JobCtx, endpointIds: readonly string[], delayMs = 0): Promise<void> =>
  job.jobQueue.enqueue(
    'webhooks',
    endpointIds.map((endpoint_id) => ({ type: 'webhook.deliver', endpoint_id })),
    delayMs / 1000,
  )

/**
 * Enqueues the endpoints with due deliveries of these events. Only the events' organisations are read, so that the cost
 * does not depend on what else is due.
 */
export async function enqueueEvents(job: JobCtx, eventIds: readonly string[]): Promise<void> {
  const now = job.now()
  const endpoints = await job.db.all(sql<{ id: string }>`select id from webhook_endpoints
    where organization_id in (select organization_id from webhook_events where ${inList(sql`id`, eventIds)})
      and exists (select 1 from webhook_deliveries where endpoint_id = webhook_endpoints.id
        and ${inList(sql`event_id`, eventIds)} and next_retry_at <= ${now} and ${isClaimable(now)})`)
  await enqueueEndpoints(
    job,
    endpoints.map(({ id }) => id),
  )
}

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
