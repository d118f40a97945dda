import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { type AddedDelivery, addClaimed, addDeliveries, isClaimed, type NewDeliveries } from './add-deliveries.ts'
import { claimsOf } from './claim.ts'
import { consumerLimits, DeliveryRun } from './delivery-run.ts'
import { dueOfEvents, enqueueEndpoints, enqueueLanes } from './enqueue.ts'

/** More events, or more endpoints of their organisation, go through the queue, whose consumers share the work. */
const maxEvents = 20
const maxEndpoints = 4

/** The endpoints that a request may post to: not those that answer late. */
const areFewAndQuick = sql`(webhook_endpoints.is_slow = 0 and (select count(*) from (select 1 from webhook_endpoints as others
  where others.organization_id = webhook_endpoints.organization_id and others.is_active = 1
  limit ${sql.raw(String(maxEndpoints + 1))})) <= ${maxEndpoints})`

/** Leaves what was not claimed to the consumers of the queues. */
async function enqueueLeft(job: JobCtx, added: readonly AddedDelivery[]): Promise<void> {
  for (const lane of ['fast', 'slow'] as const) {
    const ids = added.flatMap((one) => (isClaimed(one) || one.lane !== lane ? [] : one.endpoint_id))
    await enqueueEndpoints(job, lane, [...new Set(ids)])
  }
}

async function post(job: JobCtx, claims: readonly DeliveryClaim[]): Promise<void> {
  const run = new DeliveryRun(job, { lane: 'fast', ...consumerLimits })
  run.take(claimsOf(claims))
  await run.leave()
  await run.finished()
}

/**
 * The statement that adds deliveries, with the guards behind it. A request claims deliveries to few endpoints as it adds
 * them, and posts them after its answer, as a consumer would. Consumers of the queue post all others. The sweep finds
 * deliveries that a crash left behind.
 */
export function addAndDeliver(job: JobCtx, deliveries: NewDeliveries, guards: readonly Statement[] = []): Statement[] {
  const { afterAnswer } = job
  const { eventIds } = deliveries
  if (!afterAnswer || eventIds.length > maxEvents) {
    const enqueueDue = async () => enqueueLanes(job, await job.db.all(dueOfEvents(job, eventIds)))
    return [addAfterCommit(addDeliveries(job, deliveries), enqueueDue), ...guards]
  }
  const added = addAfterCommit(addClaimed(job, deliveries, areFewAndQuick), async (all) => {
    const own = afterAnswer()
    const works = await Promise.allSettled([post(own, all.filter(isClaimed)), enqueueLeft(own, all)])
    for (const work of works) if (work.status === 'rejected') throw work.reason
  })
  return [added, ...guards]
}
