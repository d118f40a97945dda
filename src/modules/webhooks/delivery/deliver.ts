import type { JobCtx } from '../../../context.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { maxInFlight } from '../../../domain/webhooks/webhooks.ts'
import { type Attempt, makeAttempt } from './attempt.ts'
import { claimDueDeliveries } from './claim.ts'
import { recordAttempts } from './record.ts'

/** The platform gives an invocation six connections. One is left for the database and the queues. */
const connections = 5

/** A run claims more deliveries for this long. A request has 30 s after its answer, and its last post takes up to 17 s. */
const claimForMs = 10_000

/** A run makes about this many posts, because the platform allows an invocation 10,000 subrequests. */
const maxPosts = 5000

/** While posts are under way, results wait this long for others: a write of many costs little more than one of few. */
const gatherMs = 12

/** The deliveries of one endpoint in a run. */
interface Lane {
  waiting: DeliveryClaim[]
  posting: number
  /** Claims whose results are not stored. */
  open: number
}

/**
 * Posts the claimed deliveries of at most five endpoints over five connections. Every endpoint always has a connection,
 * so one that hangs delays no other. Endpoints that are done leave their connections to the rest.
 */
class DeliveryRun {
  readonly #job: JobCtx
  readonly #lanes = new Map<string, Lane>()
  readonly #faults: unknown[] = []
  readonly #attempts: Attempt[] = []
  #posts = 0
  #posting = 0
  #postEnded = Promise.withResolvers<void>()
  #allEnded = Promise.withResolvers<void>()

  constructor(job: JobCtx) {
    this.#job = job
  }

  /** Resolves when every result is stored. Throws then if attempts failed by an error of this service. */
  async deliver(claims: readonly DeliveryClaim[]): Promise<void> {
    const endsAt = this.#job.now() + claimForMs
    this.#add(claims)
    while (this.#lanes.size > 0) {
      await this.#waitForAttempts()
      const attempts = this.#attempts.splice(0)
      if (attempts.length === 0) continue
      try {
        const claimMore = this.#job.now() < endsAt && this.#posts < maxPosts
        this.#add(await recordAttempts(this.#job, attempts, { claimMore }))
      } catch (error) {
        this.#faults.push(error)
      }
      for (const { claim } of attempts) this.#close(claim)
      this.#postNext()
    }
    if (this.#faults.length > 0) throw new Error('attempts could not be made', { cause: this.#faults[0] })
  }

  async #waitForAttempts(): Promise<void> {
    if (this.#attempts.length === 0) await this.#postEnded.promise
    if (this.#posting === 0) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const gathered = new Promise<void>((resolve) => (timer = setTimeout(resolve, gatherMs)))
    await Promise.race([this.#allEnded.promise, gathered])
    clearTimeout(timer)
  }

  #add(claims: readonly DeliveryClaim[]): void {
    for (const claim of claims) {
      const lane = this.#lanes.get(claim.endpoint_id) ?? { waiting: [], posting: 0, open: 0 }
      this.#lanes.set(claim.endpoint_id, lane)
      lane.waiting.push(claim)
      lane.open++
    }
    this.#postNext()
  }

  #postNext(): void {
    const share = Math.min(maxInFlight, Math.floor(connections / this.#lanes.size))
    for (const lane of this.#lanes.values()) {
      while (lane.posting < share) {
        const claim = lane.waiting.shift()
        if (!claim) break
        void this.#post(lane, claim)
      }
    }
  }

  async #post(lane: Lane, claim: DeliveryClaim): Promise<void> {
    this.#posts++
    this.#posting++
    lane.posting++
    try {
      const attempt = await makeAttempt(this.#job, claim)
      this.#attempts.push(attempt)
    } catch (error) {
      // The delivery is claimed again when this claim is over.
      this.#faults.push(error)
      this.#close(claim)
    }
    this.#posting--
    lane.posting--
    this.#postNext()
    this.#postEnded.resolve()
    this.#postEnded = Promise.withResolvers()
    if (this.#posting > 0) return
    this.#allEnded.resolve()
    this.#allEnded = Promise.withResolvers()
  }

  #close({ endpoint_id }: DeliveryClaim): void {
    const lane = this.#lanes.get(endpoint_id)
    if (lane && --lane.open === 0) this.#lanes.delete(endpoint_id)
  }
}

/** Makes the attempts, stores their results, and goes on with what is due next at these endpoints, of which five at most. */
export const deliverClaims = (job: JobCtx, claims: readonly DeliveryClaim[]): Promise<void> =>
  new DeliveryRun(job).deliver(claims)

/** Groups of claims with few enough endpoints for a run. */
export function groupForRuns(claims: readonly DeliveryClaim[]): DeliveryClaim[][] {
  const byEndpoint = [...Map.groupBy(claims, ({ endpoint_id }) => endpoint_id).values()]
  const groups: DeliveryClaim[][] = []
  for (let start = 0; start < byEndpoint.length; start += connections)
    groups.push(byEndpoint.slice(start, start + connections).flat())
  return groups
}

/** Hands each group to a new object. A consumer so takes its next messages at once, whatever the endpoints do. */
export async function handOver(job: JobCtx, groups: readonly DeliveryClaim[][]): Promise<void> {
  await Promise.all(groups.map((claims) => job.webhookSenders.create().deliver(claims)))
}

/** Claims what is due of these endpoints and hands it over. */
export async function deliverDue(job: JobCtx, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await handOver(job, groupForRuns(await claimDueDeliveries(job, endpointIds)))
}
