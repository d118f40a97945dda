import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import type { DeliveryClaim, Lane } from '../../../domain/webhooks/webhook-sender.ts'
import { breakerUntil, disableAfterMs } from '../../../domain/webhooks/webhooks.ts'
import type { AttemptOutcome } from './attempt.ts'
import { claimsOf, claimStatement, isOneOf } from './claim.ts'
import {
  endWaiting,
  type EndpointHealth,
  logLate,
  openBreaker,
  recordStatements,
  switchOff,
  waitFor,
} from './record.ts'
import { enqueueEndpoints } from './enqueue.ts'

/** Retries further ahead than this are left to the sweep of each minute. */
const enqueueAheadMs = 900_000

/** Records results and claims the next deliveries of endpoints that stay in this lane. */
export async function conclude(
  job: JobCtx,
  lane: Lane,
  outcomes: readonly AttemptOutcome[],
  goOn: boolean,
): Promise<DeliveryClaim[]> {
  const ids = [...new Set(outcomes.map((outcome) => outcome.claim.endpoint_id))]
  const otherLane = ids.filter((id) =>
    outcomes.some(({ claim, result, slow }) => claim.endpoint_id === id && result && slow !== (lane === 'slow')),
  )
  const staying = goOn ? ids.filter((id) => !otherLane.includes(id)) : []
  // Only a requested attempt passes an open breaker. Its success closes the breaker.
  const closing = ids.filter((id) =>
    outcomes.some(({ claim, result }) => claim.endpoint_id === id && claim.manual !== null && result?.error === null),
  )
  if (closing.length) await job.db.batch([endWaiting(closing, job.now())])
  const isWell = outcomes.every(({ result }) => result?.error === null)
  const {
    recorded = [],
    health = [],
    next = [],
  } = await job.db.batchNamed({
    ...recordStatements(outcomes),
    next: isWell && staying.length > 0 ? claimStatement(job, isOneOf(staying)) : null,
  })
  const late = outcomes.filter(({ claim }) => !recorded.some(({ id }) => id === claim.id))
  if (late.length > 0) await job.db.batch([logLate(late)])
  const judged = healthStatements(job, outcomes, health)
  const claimed = [...next, ...(await judgeAndClaim(job, judged, isWell ? [] : staying))]
  await enqueueRetries(job, outcomes)
  await enqueueEndpoints(job, lane === 'slow' ? 'fast' : 'slow', otherLane)
  if (!goOn)
    await enqueueEndpoints(
      job,
      lane,
      ids.filter((id) => !otherLane.includes(id)),
    )
  return claimsOf(claimed)
}

/** Opens breakers, and switches off endpoints that are gone or have failed for days. */
function healthStatements(
  job: JobCtx,
  outcomes: readonly AttemptOutcome[],
  health: readonly EndpointHealth[],
): Statement[] {
  const now = job.now()
  return health.flatMap((endpoint) => {
    const isGone = outcomes.some(({ claim, result }) => claim.endpoint_id === endpoint.id && result?.status === 410)
    if (isGone) return switchOff(endpoint.id, 'gone', now)
    if (
      endpoint.failing_since !== null &&
      endpoint.failures_in_row > 0 &&
      now - endpoint.failing_since >= disableAfterMs
    )
      return switchOff(endpoint.id, 'failing', now)
    const own = outcomes.filter(({ claim }) => claim.endpoint_id === endpoint.id).map(({ claim }) => claim)
    const open = endpoint.breaker_until !== null && endpoint.breaker_until > now ? endpoint.breaker_until : null
    // A requested attempt that fails does not extend an open breaker.
    if (open !== null && own.every(({ manual }) => manual !== null))
      return waitFor(
        own.map(({ id }) => id),
        open,
      )
    const until = breakerUntil(endpoint.failures_in_row, now)
    return until === null ? [] : openBreaker(endpoint.id, until)
  })
}

/** A breaker may open, so what comes next after failures is claimed behind that, in the same round trip. */
async function judgeAndClaim(
  job: JobCtx,
  judged: readonly Statement[],
  endpointIds: readonly string[],
): Promise<DeliveryClaim[]> {
  const claims = endpointIds.length > 0 ? [claimStatement(job, isOneOf(endpointIds))] : []
  if (judged.length + claims.length === 0) return []
  const rows: unknown[][] = await job.db.batch([...judged, ...claims])
  return claims.length > 0 ? (rows.at(-1) as DeliveryClaim[]) : []
}

/** Sends messages for retries that are near, so that they need not wait for the sweep. */
async function enqueueRetries(job: JobCtx, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const messages = new Map<string, { lane: Lane; seconds: number; ids: Set<string> }>()
  for (const { claim, result, verdict, slow } of outcomes) {
    const wait = result && verdict.next ? Math.max(0, verdict.next.at - job.now()) : Number.POSITIVE_INFINITY
    if (wait > enqueueAheadMs) continue
    const [lane, seconds]: [Lane, number] = [slow ? 'slow' : 'fast', Math.ceil(wait / 1000)]
    const message = messages.get(`${lane} ${seconds}`) ?? { lane, seconds, ids: new Set() }
    messages.set(`${lane} ${seconds}`, message)
    message.ids.add(claim.endpoint_id)
  }
  for (const { lane, seconds, ids } of messages.values()) await enqueueEndpoints(job, lane, [...ids], seconds * 1000)
}
