import type { JobCtx } from '../../../context.ts'
import type { DeliveryClaim, Lane } from '../../../domain/webhooks/webhook-sender.ts'
import { DeliveryRun, objectLimits } from './delivery-run.ts'

/**
 * Delivers claims and the next deliveries of their endpoints, inside a Durable Object. Resolves when all is recorded.
 */
export function deliverClaims(job: JobCtx, lane: Lane, claims: readonly DeliveryClaim[]): Promise<void> {
  const run = new DeliveryRun(job, { lane, ...objectLimits })
  run.take(claims)
  return run.finished()
}
