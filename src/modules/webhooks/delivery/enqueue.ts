import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { webhookEndpoints } from '../../../db/schema/messaging/webhooks.ts'
import { answering, type Query, type RowOf, select } from '../../../db/select.ts'
import { inList, inWords } from '../../../db/visibility.ts'
import { openStatuses } from '../../../domain/webhooks/webhooks.ts'
import type { Lane } from '../../../domain/webhooks/webhook-sender.ts'

const endpointsASweep = 1000

const queues = { fast: 'webhooks', slow: 'webhooks-slow' } as const

const dueFields = { endpoint_id: webhookEndpoints.id, is_slow: webhookEndpoints.is_slow }

type Due = RowOf<typeof dueFields>

const isDue = (now: number): SQL => sql`next_retry_at <= ${now} and (lease_until is null or lease_until <= ${now})`

async function enqueueLanes(job: JobCtx, query: Query<Due>): Promise<number> {
  const lanes = await job.db.all(query)
  for (const lane of ['fast', 'slow'] as const) {
    const ids = lanes.filter(({ is_slow }) => (lane === 'slow') === is_slow).map((row) => row.endpoint_id)
    await enqueueEndpoints(job, lane, ids)
  }
  return lanes.length
}

/** A message says only that work is due. The consumer reads from the table what it is. */
export const enqueueEndpoints = (job: JobCtx, lane: Lane, endpointIds: readonly string[], delayMs = 0): Promise<void> =>
  job.jobQueue.enqueue(
    queues[lane],
    endpointIds.map((endpoint_id) => ({ type: 'webhook.deliver', endpoint_id })),
    delayMs / 1000,
  )

/**
 * Enqueues due deliveries of these events. It reads only endpoints of their organisations, so that its cost does not
 * depend on what else is due.
 */
export const enqueueDue = (job: JobCtx, eventIds: readonly string[]): Promise<number> =>
  enqueueLanes(
    job,
    select(dueFields).from(webhookEndpoints)
      .where(sql`organization_id in (select organization_id from webhook_events where ${inList(sql`id`, eventIds)})
        and exists (select 1 from webhook_deliveries where endpoint_id = webhook_endpoints.id
          and ${inList(sql`event_id`, eventIds)} and ${isDue(job.now())})`),
  )

/** Enqueues all due deliveries, because messages get lost and leases run out. Answers the number of endpoints. */
export const sweepDeliveries = (job: JobCtx): Promise<number> =>
  enqueueLanes(
    job,
    answering(
      dueFields,
      sql<Due>`select distinct endpoint_id, is_slow
        from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id
        where ${inWords(sql`status`, openStatuses)} and ${isDue(job.now())} limit ${endpointsASweep}`,
    ),
  )
