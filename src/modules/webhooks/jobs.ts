import type { DeliverMessage, JobCtx } from '../../context.ts'
import type { Lane } from '../../domain/webhooks/webhook-sender.ts'
import { claimsOf, claimStatement, isOneOf } from './delivery/claim.ts'
import { consumerLimits, DeliveryRun } from './delivery/delivery-run.ts'

export type { Lane } from '../../domain/webhooks/webhook-sender.ts'
export { sweepDeliveries } from './delivery/enqueue.ts'
export { sweepEvents } from './events/sweep-events.ts'

export const isDeliverMessage = (body: unknown): body is DeliverMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<DeliverMessage>).type === 'webhook.deliver' &&
  typeof (body as Partial<DeliverMessage>).endpoint_id === 'string'

/**
 * Delivers what is due of these endpoints. Resolves when that is done, or when only slow posts are left, so that the
 * next messages do not wait for them. `rest` resolves when everything is recorded.
 */
export async function deliver(
  job: JobCtx,
  lane: Lane,
  endpointIds: readonly string[],
): Promise<{ rest: () => Promise<void> }> {
  const run = new DeliveryRun(job, { lane, ...consumerLimits })
  if (endpointIds.length > 0) run.take(claimsOf(await job.db.all(claimStatement(job, isOneOf(endpointIds)))))
  await run.leave()
  return { rest: () => run.finished() }
}
