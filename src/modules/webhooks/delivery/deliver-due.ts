import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { followedBy } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { claimsOf, claimStatement } from './claim.ts'
import { consumerLimits, DeliveryRun } from './delivery-run.ts'
import { dueOfEvents, enqueueLanes, ofEvents } from './enqueue.ts'

/** More events, or more endpoints of their organisation, go through the queue, whose consumers share the work. */
const maxEvents = 20
const maxEndpoints = 4

/** The endpoints that a request may post to: not those that answer late. */
const areFewAndQuick = (eventIds: readonly string[]): SQL => {
  const areActive = sql`${ofEvents(eventIds)} and is_active = 1`
  return sql`(${areActive} and is_slow = 0
    and (select count(*) from webhook_endpoints where ${areActive}) <= ${maxEndpoints})`
}

/** Enqueues the endpoints that have something due of the events, but for those that are chosen already. */
const enqueueDue = async (job: JobCtx, eventIds: readonly string[], areChosen: SQL): Promise<number> =>
  enqueueLanes(job, await job.db.all(dueOfEvents(job, eventIds, areChosen)))

async function post(job: JobCtx, claims: readonly DeliveryClaim[]): Promise<void> {
  const run = new DeliveryRun(job, { lane: 'fast', ...consumerLimits })
  run.take(claimsOf(claims))
  await run.leave()
  await run.finished()
}

/**
 * The statement that adds deliveries of these events and the guards behind it, with what brings the deliveries on their
 * way. A request claims what is due of few endpoints in its own transaction and posts it after its answer, as a consumer
 * would. All else is left to the consumers of the queue. What is lost on the way is found by the sweep.
 */
export function onTheirWay(
  job: JobCtx,
  deliveries: Statement,
  eventIds: readonly string[],
  guards: readonly Statement[] = [],
): Statement[] {
  const { afterAnswer } = job
  if (!afterAnswer || eventIds.length > maxEvents)
    return [followedBy(deliveries, () => enqueueDue(job, eventIds, sql`0`)), ...guards]
  const chosen = areFewAndQuick(eventIds)
  const claimed = followedBy(claimStatement(job, chosen), async (claims) => {
    const own = afterAnswer()
    const works = await Promise.allSettled([post(own, claims), enqueueDue(own, eventIds, chosen)])
    for (const work of works) if (work.status === 'rejected') throw work.reason
  })
  return [deliveries, ...guards, claimed]
}
