import type { DeliverMessage, JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { breakerUntil, disableAfterMs } from '../../domain/webhooks.ts'
import { attempt, type Outcome } from './attempt.ts'
import { type Claim, claimsOf, claimStatement } from './claim.ts'
import { endWaiting, type EndpointHealth, openBreaker, recordStatements, switchOff, waitFor } from './record.ts'
import { type Lane, ring } from './ring.ts'

export { type Lane, sweepDeliveries } from './ring.ts'

/** A consumer works this long on what it finds before it leaves the rest to the next. */
const shiftMs = 20_000
/** And makes at most about so many attempts: the platform counts its subrequests, and ends it at 10,000. */
const attemptsAShift = 5000
/**
 * Posts of one consumer at once. The platform opens six connections for it and lets the others wait while their time
 * runs; one is left for the database and the queues.
 */
const postsAtOnce = 5
/** Endings share a round trip while more than these wait for their turn, but no longer than `gatherMs`. */
const reserve = 2 * postsAtOnce
const gatherMs = 80
/** Further ahead than this the sweep of each minute is near enough. */
const ringAheadMs = 900_000

export const isDeliverMessage = (body: unknown): body is DeliverMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<DeliverMessage>).type === 'webhook.deliver' &&
  typeof (body as Partial<DeliverMessage>).endpoint_id === 'string'

/**
 * Delivers what is due of these endpoints until nothing is. Each ending is recorded in the round trip that claims the
 * endpoint's next, so nobody waits for the slowest. A crash loses no delivery: leases run out and the sweep rings again.
 * Throws, after all that could be done, when an attempt failed by our own fault.
 */
export async function deliver(job: JobCtx, lane: Lane, endpointIds: readonly string[]): Promise<void> {
  const endsAt = job.now() + shiftMs
  const waiting: Claim[] = []
  const endings: Outcome[] = []
  const faults: unknown[] = []
  let held = 0
  let begun = 0
  let posting = 0
  let isDue = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let wake = () => {}
  const fall = () => {
    isDue = true
    wake()
  }
  const end = () => {
    if (waiting.length <= reserve) fall()
    else timer ??= setTimeout(fall, gatherMs)
  }
  const turn = () => {
    for (; posting < postsAtOnce; posting++) {
      const claim = waiting.shift()
      if (!claim) return
      begun++
      void attempt(job, claim)
        .then(
          (outcome) => endings.push(outcome),
          // Our own fault: the lease keeps the delivery for a later try, and the others go on.
          (error: unknown) => {
            held--
            faults.push(error)
          },
        )
        .finally(() => {
          posting--
          turn()
          end()
        })
    }
  }
  const start = (claims: readonly Claim[]) => {
    held += claims.length
    waiting.push(...claims)
    turn()
  }
  const woken = () => new Promise<void>((resolve) => (wake = resolve))
  if (endpointIds.length === 0) return
  start(claimsOf(await job.db.all(claimStatement(job, endpointIds))))
  while (held > 0) {
    if (!isDue) await woken()
    isDue = false
    clearTimeout(timer)
    timer = undefined
    const outcomes = endings.splice(0)
    if (outcomes.length === 0) continue
    held -= outcomes.length
    start(await conclude(job, lane, outcomes, job.now() < endsAt && begun < attemptsAShift))
  }
  if (faults.length) throw new Error('attempts could not be made', { cause: faults[0] })
}

/** Records the endings and claims what comes next of endpoints that stay in this lane. */
async function conclude(job: JobCtx, lane: Lane, outcomes: readonly Outcome[], goOn: boolean): Promise<Claim[]> {
  const ids = [...new Set(outcomes.map((outcome) => outcome.claim.endpoint_id))]
  const turned = ids.filter((id) =>
    outcomes.some(({ claim, result, slow }) => claim.endpoint_id === id && result && slow !== (lane === 'slow')),
  )
  const staying = goOn ? ids.filter((id) => !turned.includes(id)) : []
  // Only what was asked for gets through an open breaker. Its success closes it.
  const closing = ids.filter((id) =>
    outcomes.some(({ claim, result }) => claim.endpoint_id === id && claim.manual !== null && result?.error === null),
  )
  if (closing.length) await job.db.batch([endWaiting(closing, job.now())])
  const [attempts, deliveries, endpoints] = recordStatements(outcomes)
  const isWell = outcomes.every(({ result }) => result?.error === null)
  const [, , health, next] = await job.db.batch([
    attempts,
    deliveries,
    endpoints,
    claimStatement(job, isWell ? staying : []),
  ])
  await care(job, outcomes, health)
  // After a failure the breaker may have opened, so what comes next is claimed only now.
  const claimed = isWell || staying.length === 0 ? next : await job.db.all(claimStatement(job, staying))
  await ringNext(job, outcomes)
  await ring(job, lane === 'slow' ? 'fast' : 'slow', turned)
  if (!goOn)
    await ring(
      job,
      lane,
      ids.filter((id) => !turned.includes(id)),
    )
  return claimsOf(claimed)
}

/** Opens breakers, and switches off what is gone or has failed for days. */
async function care(job: JobCtx, outcomes: readonly Outcome[], health: readonly EndpointHealth[]): Promise<void> {
  const now = job.now()
  const statements: Statement[] = health.flatMap((endpoint) => {
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
    // What was asked for behind an open breaker does not make it longer, however often it fails.
    if (open !== null && own.every(({ manual }) => manual !== null))
      return waitFor(
        own.map(({ id }) => id),
        open,
      )
    const until = breakerUntil(endpoint.failures_in_row, now)
    return until === null ? [] : openBreaker(endpoint.id, until)
  })
  if (statements.length) await job.db.batch(statements)
}

/** Rings ahead of time for retries that are near, so that they need not wait for the sweep. */
async function ringNext(job: JobCtx, outcomes: readonly Outcome[]): Promise<void> {
  const rings = new Map<string, { lane: Lane; seconds: number; ids: Set<string> }>()
  for (const { claim, result, verdict, slow } of outcomes) {
    const wait = result && verdict.next ? Math.max(0, verdict.next.at - job.now()) : Number.POSITIVE_INFINITY
    if (wait > ringAheadMs) continue
    const [lane, seconds]: [Lane, number] = [slow ? 'slow' : 'fast', Math.ceil(wait / 1000)]
    const rung = rings.get(`${lane} ${seconds}`) ?? { lane, seconds, ids: new Set() }
    rings.set(`${lane} ${seconds}`, rung)
    rung.ids.add(claim.endpoint_id)
  }
  for (const { lane, seconds, ids } of rings.values()) await ring(job, lane, [...ids], seconds * 1000)
}
