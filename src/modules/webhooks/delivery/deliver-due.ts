import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { followedBy } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { addClaimed, addDeliveries, isClaimed, type NewDeliveries } from './add-deliveries.ts'
import { claimsOf } from './claim.ts'
import { consumerLimits, DeliveryRun } from './delivery-run.ts'
import { dueOfEvents, enqueueLanes } from './enqueue.ts'

/** More events, or more endpoints of their organisation, go through the queue, whose consumers share the work. */
const maxEvents = 20
const maxEndpoints = 4

/** The endpoints that a request may post to: not those that answer late. */
const areFewAndQuick = sql`(webhook_endpoints.is_slow = 0 and (select count(*) from webhook_endpoints as others
  where others.organization_id = webhook_endpoints.organization_id and others.is_active = 1) <= ${maxEndpoints})`

/** Enqueues the endpoints with due deliveries of the events, except the chosen ones. */
const enqueueDue = async (job: JobCtx, eventIds: readonly string[], areChosen: SQL): Promise<number> =>
  enqueueLanes(job, await job.db.all(dueOfEvents(job, eventIds, areChosen)))

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
  if (!afterAnswer || eventIds.length > maxEvents)
    return [followedBy(addDeliveries(job, deliveries), () => enqueueDue(job, eventIds, sql`0`)), ...guards]
  const added = followedBy(addClaimed(job, deliveries, areFewAndQuick), async (all) => {
    const own = afterAnswer()
    const claims = all.filter(isClaimed)
    const isAnyLeft = all.some((one) => !isClaimed(one) && one.next_retry_at <= own.now())
    const works = await Promise.allSettled([
      post(own, claims),
      ...(isAnyLeft ? [enqueueDue(own, eventIds, areFewAndQuick)] : []),
    ])
    for (const work of works) if (work.status === 'rejected') throw work.reason
  })
  return [added, ...guards]
}
