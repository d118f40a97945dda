import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { isClaimable } from '../../../db/claims.ts'
import { inList } from '../../../db/conditions.ts'

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
  const endpointIds = endpoints.map(({ id }) => id)
  if (endpointIds.length > 0) await enqueueEndpoints(job, endpointIds)
}
