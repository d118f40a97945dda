import type { JobCtx } from '../../context.ts'
import type { Claim } from '../../domain/webhook-sender.ts'
import { DeliveryRun } from './delivery-run.ts'

/** Delivers claims of one endpoint and what else is due of it, apart from all others. Resolves when all is recorded. */
export function deliverClaims(job: JobCtx, claims: readonly Claim[]): Promise<void> {
  const run = new DeliveryRun(job, { lane: null })
  run.take(claims)
  return run.finished()
}
