import type { JobCtx } from '../../../context.ts'
import { isHeld } from '../../../domain/waiting.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { maxInFlight } from '../../../domain/webhooks/webhooks.ts'
import { type Attempt, makeAttempt } from './attempt.ts'
import { claimDueDeliveries } from './claim.ts'
import { recordAttempts } from './record.ts'

/** The platform gives an invocation six connections. One is left for the database and the queues. */
const connections = 5

/** A run claims more deliveries for this long. A request has 30 s after its response, and its last post takes up to 17 s. */
const claimForMs = 10_000

/** A run makes about this many posts, because the platform allows an invocation 10,000 subrequests. */
const maxPosts = 5000

/** Results wait until no other has come for this long, because a write of many costs little more than one of few. */
const gatherMs = 40

/** Endpoints that have no connection after this long get connections of other objects. */
const handOverAfterMs = 100

/** The deliveries of one endpoint in a run. */
interface Lane {
  waitingClaims: DeliveryClaim[]
  /** Posts that run now. */
  runningPosts: number
  /** Claims whose results are not stored. */
  unstoredClaims: number
}

const hasNoConnection = ({ waitingClaims, runningPosts }: Lane): boolean =>
  runningPosts === 0 && waitingClaims.length > 0

/**
 * Posts claimed deliveries over five connections. An endpoint keeps a connection of its own once it has one, so one that
 * hangs delays no other. Endpoints that are done leave their connections to the rest.
 */
class DeliveryRun {
  readonly #job: JobCtx
  readonly #lanes = new Map<string, Lane>()
  readonly #faults: unknown[] = []
  readonly #attempts: Attempt[] = []
  #postCount = 0
  #runningPosts = 0
  readonly #handOvers: Promise<void>[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
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
        const claimMore = !isHeld(this.#job.config) && this.#job.now() < endsAt && this.#postCount < maxPosts
        this.#add(await recordAttempts(this.#job, attempts, { claimMore }))
      } catch (error) {
        this.#faults.push(error)
      }
      for (const { claim } of attempts) this.#close(claim)
      this.#postNext()
    }
    clearTimeout(this.#timer)
    await Promise.all(this.#handOvers)
    if (this.#faults.length > 0) throw new Error('attempts could not be made', { cause: this.#faults[0] })
  }

  /** Waits for a result, and for others as long as they follow one another. */
  async #waitForAttempts(): Promise<void> {
    if (this.#attempts.length === 0) await this.#postEnded.promise
    let count = 0
    while (this.#runningPosts > 0 && this.#attempts.length > count) {
      count = this.#attempts.length
      let timer: ReturnType<typeof setTimeout> | undefined
      const pause = new Promise<void>((resolve) => (timer = setTimeout(resolve, gatherMs)))
      await Promise.race([this.#allEnded.promise, pause])
      clearTimeout(timer)
    }
  }

  #add(claims: readonly DeliveryClaim[]): void {
    for (const claim of claims) {
      const lane = this.#lanes.get(claim.endpoint_id) ?? { waitingClaims: [], runningPosts: 0, unstoredClaims: 0 }
      this.#lanes.set(claim.endpoint_id, lane)
      lane.waitingClaims.push(claim)
      lane.unstoredClaims++
    }
    this.#postNext()
  }

  #postNext(): void {
    const share = Math.min(maxInFlight, Math.max(1, Math.floor(connections / this.#lanes.size)))
    for (const lane of this.#lanes.values()) {
      while (lane.runningPosts < share && this.#runningPosts < connections) {
        const claim = lane.waitingClaims.shift()
        if (!claim) break
        void this.#post(lane, claim)
      }
    }
    if (this.#lanes.values().some(hasNoConnection))
      this.#timer ??= setTimeout(() => this.#handOverWaiting(), handOverAfterMs)
  }

  async #post(lane: Lane, claim: DeliveryClaim): Promise<void> {
    this.#postCount++
    this.#runningPosts++
    lane.runningPosts++
    try {
      const attempt = await makeAttempt(this.#job, claim)
      this.#attempts.push(attempt)
    } catch (error) {
      // The delivery is claimed again when this claim is over.
      this.#faults.push(error)
      this.#close(claim)
    }
    this.#runningPosts--
    lane.runningPosts--
    this.#postNext()
    this.#postEnded.resolve()
    this.#postEnded = Promise.withResolvers()
    if (this.#runningPosts > 0) return
    this.#allEnded.resolve()
    this.#allEnded = Promise.withResolvers()
  }

  /** Endpoints that wait for a connection may wait for ones that hang. */
  #handOverWaiting(): void {
    this.#timer = undefined
    const claims: DeliveryClaim[] = []
    for (const [endpointId, lane] of [...this.#lanes].filter(([, candidate]) => hasNoConnection(candidate))) {
      claims.push(...lane.waitingClaims)
      lane.unstoredClaims -= lane.waitingClaims.length
      lane.waitingClaims = []
      if (lane.unstoredClaims === 0) this.#lanes.delete(endpointId)
    }
    const work = handOver(this.#job, claims)
    this.#handOvers.push(work.catch((error: unknown) => void this.#faults.push(error)))
  }

  #close({ endpoint_id }: DeliveryClaim): void {
    const lane = this.#lanes.get(endpoint_id)
    if (lane && --lane.unstoredClaims === 0) this.#lanes.delete(endpoint_id)
  }
}

/** Makes the attempts, stores their results, and goes on with what is due next at these endpoints. */
export const deliverClaims = (job: JobCtx, claims: readonly DeliveryClaim[]): Promise<void> =>
  new DeliveryRun(job).deliver(claims)

/** Hands the claims to new objects, five endpoints to each, so that every endpoint has a connection. */
async function handOver(job: JobCtx, claims: readonly DeliveryClaim[]): Promise<void> {
  const byEndpoint = [...Map.groupBy(claims, ({ endpoint_id }) => endpoint_id).values()]
  const works: Promise<void>[] = []
  for (let start = 0; start < byEndpoint.length; start += connections)
    works.push(job.webhookSenders.create().deliver(byEndpoint.slice(start, start + connections).flat()))
  await Promise.all(works)
}

/**
 * Claims what is due of these endpoints and hands it to new objects, so that a consumer takes its next messages at once,
 * whatever the endpoints do.
 */
export async function deliverDue(job: JobCtx, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await handOver(job, await claimDueDeliveries(job, endpointIds))
}
