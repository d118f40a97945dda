import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList, inWords } from '../../../db/visibility.ts'
import { openStatuses } from '../../../domain/webhooks/webhooks.ts'
import type { Lane } from '../../../domain/webhooks/webhook-sender.ts'

const endpointsASweep = 1000

const queues = { fast: 'webhooks', slow: 'webhooks-slow' } as const

interface Due {
  endpoint_id: string
  is_slow: number
}

const isDue = (now: number): SQL => sql`next_retry_at <= ${now} and (lease_until is null or lease_until <= ${now})`

export async function enqueueLanes(job: JobCtx, lanes: readonly Due[]): Promise<number> {
  for (const lane of ['fast', 'slow'] as const) {
    const ids = lanes.filter(({ is_slow }) => (lane === 'slow') === (is_slow === 1)).map((row) => row.endpoint_id)
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

/** The endpoints of the events' organisations: however much else is due, no other is looked at. */
export const ofEvents = (eventIds: readonly string[]): SQL =>
  sql`organization_id in (select organization_id from webhook_events where ${inList(sql`id`, eventIds)})`

/** Endpoints that have something due of these events, but for those of the condition. */
export const dueOfEvents = (job: JobCtx, eventIds: readonly string[], but: SQL): SQL<Due> =>
  sql<Due>`select id as endpoint_id, is_slow from webhook_endpoints
    where ${ofEvents(eventIds)} and not (${but})
      and exists (select 1 from webhook_deliveries where endpoint_id = webhook_endpoints.id
        and ${inList(sql`event_id`, eventIds)} and ${isDue(job.now())})`

/** Enqueues all that is due: what a lost message, a crash or an expired lease left behind. Answers how many endpoints. */
export const sweepDeliveries = async (job: JobCtx): Promise<number> =>
  enqueueLanes(
    job,
    await job.db.all(
      sql<Due>`select distinct endpoint_id, is_slow
        from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id
        where ${inWords(sql`status`, openStatuses)} and ${isDue(job.now())} limit ${endpointsASweep}`,
    ),
  )
