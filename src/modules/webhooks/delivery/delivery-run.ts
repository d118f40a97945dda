import type { JobCtx } from '../../../context.ts'
import type { DeliveryClaim, Lane } from '../../../domain/webhooks/webhook-sender.ts'
import { timeoutMs } from '../../../domain/webhooks/webhooks.ts'
import { attempt, type AttemptOutcome } from './attempt.ts'
import { BatchWriter } from './batch-writer.ts'
import { conclude } from './conclude.ts'
import { WorkerPool } from './worker-pool.ts'

/** A run claims this long before it leaves the rest to the next. */
const runMs = 20_000
/**
 * The platform ends background work 30 s after the handler has returned. A run that is left claims for a
 * third of this, and its longest post ends before the rest is over.
 */
const backgroundMs = 10_000
const longestSharedPostMs = 17_000
/** A run makes at most about so many attempts: the platform counts its subrequests, and ends it at 10,000. */
const attemptsARun = 5000
/**
 * Posts of one run at once. The platform opens six connections for it and lets the others wait while their time
 * runs; one is left for the database and the queues.
 */
const postsAtOnce = 5
/** Endings share a round trip while more than these wait for a slot, but no longer than `gatherMs`. */
const reserve = 2 * postsAtOnce
const gatherMs = 80
/** Beside a post that hangs, a claim waits two to three times this for a slot. */
const lookEveryMs = 30

/** Without an ending for so long, a consumer leaves its posts to themselves and makes way for the next messages. */
const momentMs = 12

interface DeliveryOptions {
  lane: Lane
  /** Claims of endpoints with longer timeouts are handed over at once. */
  longestPostMs: number
}

/** For a run in the background of a consumer, and for one in an object, which exists while it posts. */
export const consumerLimits = { longestPostMs: longestSharedPostMs }
export const objectLimits = { longestPostMs: Number.POSITIVE_INFINITY }

/**
 * Posts claims and continues with what is due of their endpoints. Each result is recorded in the round trip that claims
 * the endpoint's next. When posts that hang keep claims waiting, these are handed over to new objects with connections
 * of their own: those of the endpoints that hang to one, all others to another. A crash loses no delivery: leases run
 * out and the sweep finds them.
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
  /** Claims without a recorded ending. */
  #open = 0
  #finish = () => {}

  constructor(job: JobCtx, { lane, longestPostMs }: DeliveryOptions) {
    this.#job = job
    this.#lane = lane
    this.#longestPostMs = longestPostMs
    this.#endsAt = job.now() + runMs
    this.#pool = new WorkerPool({
      size: postsAtOnce,
      run: (claim) => this.#post(claim),
      giveAway: (claims, heldUpBy) => this.#separate(claims, heldUpBy),
      lookEveryMs,
    })
    this.#writer = new BatchWriter({
      write: (outcomes) => this.#conclude(outcomes),
      isUrgent: () => this.#pool.waiting <= reserve,
      gatherMs,
    })
  }

  take(claims: readonly DeliveryClaim[]): void {
    this.#open += claims.length
    const isShort = ({ endpoint }: DeliveryClaim) => timeoutMs(endpoint.timeout_seconds) <= this.#longestPostMs
    this.#pool.add(claims.filter(isShort))
    void this.#handOver(claims.filter((claim) => !isShort(claim)))
  }

  /**
   * Resolves when all is recorded, or when nothing but posts is under way and none has ended for a moment. The run goes
   * on in the background, for a shorter time.
   */
  async leave(): Promise<void> {
    for (let seen = -1; !this.#isAwaitingPosts || this.#pool.changes !== seen;) {
      if (this.#open === 0) return
      seen = this.#pool.changes
      await new Promise((resolve) => setTimeout(resolve, momentMs))
    }
    this.#endsAt = Math.min(this.#endsAt, this.#job.now() + backgroundMs)
  }

  /** Resolves when every ending is recorded; rejects then, if attempts failed by our own fault. */
  async finished(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#finish = resolve))
    if (this.#faults.length > 0) throw new Error('attempts could not be made', { cause: this.#faults[0] })
  }

  get #isAwaitingPosts(): boolean {
    return this.#pool.waiting === 0 && this.#writer.isIdle
  }

  async #post(claim: DeliveryClaim): Promise<void> {
    this.#begun++
    try {
      this.#writer.add(await attempt(this.#job, claim))
    } catch (error) {
      // Our own fault: the lease keeps the delivery for a later try, and the others go on.
      this.#close(1, error)
    }
  }

  async #conclude(outcomes: AttemptOutcome[]): Promise<void> {
    const goOn = this.#job.now() < this.#endsAt && this.#begun < attemptsARun
    try {
      this.take(await conclude(this.#job, this.#lane, outcomes, goOn))
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
    if (this.#open === 0) this.#finish()
  }
}
