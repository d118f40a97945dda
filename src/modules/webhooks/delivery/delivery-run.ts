import type { JobCtx } from '../../../context.ts'
import type { DeliveryClaim, Lane } from '../../../domain/webhooks/webhook-sender.ts'
import { maxInFlight, timeoutMs } from '../../../domain/webhooks/webhooks.ts'
import { attempt, type AttemptOutcome } from './attempt.ts'
import { BatchWriter } from './batch-writer.ts'
import { conclude } from './conclude.ts'
import { WorkerPool } from './worker-pool.ts'

/** A run claims deliveries for this long. Then another run goes on. */
const runMs = 20_000
/**
 * The platform ends background work 30 s after the handler has returned. In the background, a run claims for a third of
 * this, and its longest post fits into the rest.
 */
const backgroundMs = 10_000
const longestSharedPostMs = 17_000
/** About the most attempts of a run: the platform allows it 10,000 subrequests. */
const attemptsARun = 5000
/**
 * Posts of one run at once. The platform opens six connections and lets further requests wait while their timeouts run.
 * One connection is left for the database and the queues.
 */
const postsAtOnce = 5
/** While more claims than this wait for a slot, results are gathered into one round trip, for at most so long. */
const reserve = 2 * postsAtOnce
const gatherManyMs = 80
/** The same while nothing more is due: no claim waits for these results. */
const gatherFewMs = 12
/** How often the pool looks for posts that hang. A claim behind such posts waits two to three times this. */
const lookEveryMs = 30

/** When no post has ended for so long, the consumer takes the next messages and the run goes on in the background. */
const momentMs = 12

/** So many claims of an endpoint leave more of it that may be due. */
const isAnyFull = (claims: readonly DeliveryClaim[]): boolean =>
  [...Map.groupBy(claims, ({ endpoint_id }) => endpoint_id).values()].some(({ length }) => length >= maxInFlight)

interface DeliveryOptions {
  lane: Lane
  /** Claims of endpoints with longer timeouts are handed over at once. */
  longestPostMs: number
}

/**
 * Limits of a run inside a consumer, whose background work the platform ends, and inside an object, which exists as
 * long as it posts.
 */
export const consumerLimits = { longestPostMs: longestSharedPostMs }
const objectLimits = { longestPostMs: Number.POSITIVE_INFINITY }

/**
 * Posts claims and goes on with the next deliveries of their endpoints. One round trip records results and claims the
 * next deliveries. Claims that wait behind posts that hang are handed over to new objects, which have connections of
 * their own: one object for the endpoints that hang, one for all others. A crash loses no delivery: leases run out and
 * the sweep finds them.
 */
export class DeliveryRun {
  readonly #job: JobCtx
  readonly #lane: Lane
  readonly #longestPostMs: number
  readonly #pool: WorkerPool<DeliveryClaim>
  readonly #writer: BatchWriter<AttemptOutcome>
  readonly #faults: unknown[] = []
  #endsAt: number
  #begun = 0
  #posting = 0
  /** Whether more may be due of the endpoints than was claimed. */
  #isMoreDue = false
  /** Claims whose result is not recorded yet. */
  #open = 0
  readonly #ended = Promise.withResolvers<void>()
  /** Resolves when the consumer may take its next messages. */
  readonly #left = Promise.withResolvers<void>()

  constructor(job: JobCtx, { lane, longestPostMs }: DeliveryOptions) {
    this.#job = job
    this.#lane = lane
    this.#longestPostMs = longestPostMs
    this.#endsAt = job.now() + runMs
    this.#pool = new WorkerPool({
      size: postsAtOnce,
      ownerOf: ({ endpoint_id }) => endpoint_id,
      run: (claim) => this.#post(claim),
      giveAway: (claims, heldUpBy) => this.#separate(claims, heldUpBy),
      lookEveryMs,
    })
    this.#writer = new BatchWriter({
      write: (outcomes) => this.#conclude(outcomes),
      gatherMs: () => this.#gatherMs,
    })
  }

  /** Takes the claims over that a consumer or a request made. */
  take(claims: readonly DeliveryClaim[]): void {
    this.#isMoreDue = isAnyFull(claims)
    this.#add(claims)
  }

  /**
   * Resolves when all is recorded, when all that is due is being posted, or when only posts are under way and none of
   * them has ended for a moment. The run then goes on in the background, for a shorter time.
   */
  async leave(): Promise<void> {
    let seen = -1
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      if (this.#pool.waiting === 0 && this.#writer.isIdle && this.#pool.changes === seen) return this.#left.resolve()
      seen = this.#pool.changes
      timer = setTimeout(look, momentMs)
    }
    if (this.#open === 0) return
    if (!this.#hasBegunAll) {
      look()
      await this.#left.promise
      clearTimeout(timer)
    }
    this.#endsAt = Math.min(this.#endsAt, this.#job.now() + backgroundMs)
  }

  /** Resolves when every result is recorded. Rejects then if attempts failed by an error of our own. */
  async finished(): Promise<void> {
    if (this.#open > 0) await this.#ended.promise
    if (this.#faults.length > 0) throw new Error('attempts could not be made', { cause: this.#faults[0] })
  }

  get #hasBegunAll(): boolean {
    return this.#pool.waiting === 0 && !this.#isMoreDue
  }

  /** The last result of all waits for no other. */
  get #gatherMs(): number {
    if (this.#pool.waiting > reserve) return gatherManyMs
    return this.#isMoreDue || this.#pool.waiting + this.#posting === 0 ? 0 : gatherFewMs
  }

  #add(claims: readonly DeliveryClaim[]): void {
    this.#open += claims.length
    const isShort = ({ endpoint }: DeliveryClaim) => timeoutMs(endpoint.timeout_seconds) <= this.#longestPostMs
    this.#pool.add(claims.filter(isShort))
    void this.#handOver(claims.filter((claim) => !isShort(claim)))
    if (this.#hasBegunAll) this.#left.resolve()
  }

  async #post(claim: DeliveryClaim): Promise<void> {
    this.#begun++
    this.#posting++
    if (this.#hasBegunAll) this.#left.resolve()
    const outcome = await attempt(this.#job, claim).catch((error: unknown) => {
      // An error of our own: the delivery is tried again after its lease, and the others go on.
      this.#close(1, error)
    })
    this.#posting--
    if (outcome) this.#writer.add(outcome)
  }

  async #conclude(outcomes: AttemptOutcome[]): Promise<void> {
    const goOn = this.#job.now() < this.#endsAt && this.#begun < attemptsARun
    try {
      const next = await conclude(this.#job, this.#lane, outcomes, goOn)
      this.#isMoreDue = next.length > 0
      this.#add(next)
      this.#close(outcomes.length)
    } catch (error) {
      this.#close(outcomes.length, error)
    }
  }

  #separate(claims: readonly DeliveryClaim[], heldUpBy: readonly DeliveryClaim[]): void {
    const hanging = new Set(heldUpBy.map(({ endpoint_id }) => endpoint_id))
    void this.#handOver(claims.filter(({ endpoint_id }) => hanging.has(endpoint_id)))
    void this.#handOver(claims.filter(({ endpoint_id }) => !hanging.has(endpoint_id)))
  }

  async #handOver(claims: readonly DeliveryClaim[]): Promise<void> {
    if (claims.length === 0) return
    try {
      await this.#job.webhookSenders.create().deliver(this.#lane, claims)
      this.#close(claims.length)
    } catch (error) {
      this.#close(claims.length, error)
    }
  }

  #close(claims: number, fault?: unknown): void {
    if (fault !== undefined) this.#faults.push(fault)
    this.#open -= claims
    if (this.#open > 0) return
    this.#ended.resolve()
    this.#left.resolve()
  }
}

/** Delivers claims and the next deliveries of their endpoints, inside a Durable Object. Resolves when all is recorded. */
export function deliverClaims(job: JobCtx, lane: Lane, claims: readonly DeliveryClaim[]): Promise<void> {
  const run = new DeliveryRun(job, { lane, ...objectLimits })
  run.take(claims)
  return run.finished()
}
