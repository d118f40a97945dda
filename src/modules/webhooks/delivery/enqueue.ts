import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { webhookEndpoints } from '../../../db/schema/messaging/webhooks.ts'
import { decodeAs, type Query, type RowOf, select } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import type { Lane } from '../../../domain/webhooks/webhook-sender.ts'
import { isLeased, isWaiting } from './open-deliveries.ts'

const endpointsASweep = 1000

const queues = { fast: 'webhooks', slow: 'webhooks-slow' } as const

const dueFields = { endpoint_id: webhookEndpoints.id, is_slow: webhookEndpoints.is_slow }

type Due = RowOf<typeof dueFields>

const isDue = (now: number): SQL => sql`next_retry_at <= ${now} and (lease_until is null or lease_until <= ${now})`

export async function enqueueLanes(job: JobCtx, lanes: readonly Due[]): Promise<number> {
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

/** The endpoints of the events' organisations, so that the cost does not depend on what else is due. */
const ofEvents = (eventIds: readonly string[]): SQL =>
  sql`organization_id in (select organization_id from webhook_events where ${inList(sql`id`, eventIds)})`

/** Endpoints with due deliveries of these events. */
export const dueOfEvents = (job: JobCtx, eventIds: readonly string[]): Query<Due> =>
  select(dueFields).from(webhookEndpoints).where(sql`${ofEvents(eventIds)}
      and exists (select 1 from webhook_deliveries where endpoint_id = webhook_endpoints.id
        and ${inList(sql`event_id`, eventIds)} and ${isDue(job.now())})`)

/** Enqueues all due deliveries, because messages get lost and leases run out. Answers the number of endpoints. */
export const sweepDeliveries = async (job: JobCtx): Promise<number> =>
  enqueueLanes(
    job,
    await job.db.all(
      decodeAs(
        dueFields,
        sql<Due>`select distinct endpoint_id, is_slow from (
            select endpoint_id from webhook_deliveries indexed by webhook_deliveries_due
              where ${isWaiting} and next_retry_at <= ${job.now()}
            union all
            select endpoint_id from webhook_deliveries indexed by webhook_deliveries_leased
              where ${isLeased} and lease_until <= ${job.now()} and next_retry_at <= ${job.now()}) as due
          join webhook_endpoints on webhook_endpoints.id = endpoint_id limit ${endpointsASweep}`,
      ),
    ),
  )
