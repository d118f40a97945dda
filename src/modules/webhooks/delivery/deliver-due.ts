import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
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

/**
 * What follows when events are committed. A request claims and posts what is due of few endpoints itself, after its
 * answer, as a consumer would; all else is left to the consumers of the queue. What is lost on the way is found by the
 * sweep.
 */
export async function deliverDue(job: JobCtx, eventIds: readonly string[]): Promise<void> {
  const own = eventIds.length <= maxEvents ? job.afterAnswer?.() : undefined
  if (!own) {
    await enqueueLanes(job, await job.db.all(dueOfEvents(job, eventIds)))
    return
  }
  const chosen = areFewAndQuick(eventIds)
  const [claims, others] = await own.db.batch([claimStatement(own, chosen), dueOfEvents(own, eventIds, chosen)])
  await enqueueLanes(own, others)
  const run = new DeliveryRun(own, { lane: 'fast', ...consumerLimits })
  run.take(claimsOf(claims))
  await run.leave()
  await run.finished()
}
