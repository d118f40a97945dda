import type { JobCtx } from '../../context.ts'
import type { Claim } from '../../domain/webhook-sender.ts'
import { timeoutMs } from '../../domain/webhooks.ts'
import { attempt, type Outcome } from './attempt.ts'
import { BatchWriter } from './batch-writer.ts'
import { conclude } from './conclude.ts'
import type { Lane } from './ring.ts'
import { WorkerPool } from './worker-pool.ts'

/** A run claims this long before it leaves the rest to the next. */
const runMs = 20_000
/**
 * The platform ends what goes on in the background 30 s after the handler has returned. A run that is left claims for a
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
/** A claim waits about twice this for a slot beside a post that hangs. */
const lookEveryMs = 20

interface Options {
  /** The queue whose endpoints the run shares; null in the object of one endpoint. */
  lane: Lane | null
}

/**
 * Posts claims and goes on with what is due of their endpoints. Each ending is recorded in the round trip that claims
 * the endpoint's next. A run that many endpoints share gives claims away to the objects of their endpoints when a post
 * that hangs keeps them waiting, and posts that may last too long at once. A crash loses no delivery: leases run out
 * and the sweep finds them.
 */
export class DeliveryRun {
  readonly #job: JobCtx
  readonly #lane: Lane | null
  readonly #pool: WorkerPool<Claim>
  readonly #writer: BatchWriter<Outcome>
  readonly #faults: unknown[] = []
  #endsAt: number
  #begun = 0
  /** Claims without a recorded ending. */
  #open = 0
  #finish = () => {}

  constructor(job: JobCtx, { lane }: Options) {
    this.#job = job
    this.#lane = lane
    this.#endsAt = job.now() + runMs
    this.#pool = new WorkerPool({
      size: postsAtOnce,
      run: (claim) => this.#post(claim),
      giveAway: (claims) => (lane === null ? this.#pool.add(claims) : void this.#handOver(claims)),
      lookEveryMs,
    })
    this.#writer = new BatchWriter({
      write: (outcomes) => this.#conclude(outcomes),
      isUrgent: () => this.#pool.waiting <= reserve,
      gatherMs,
    })
  }

  take(claims: readonly Claim[]): void {
    this.#open += claims.length
    const isShared = (claim: Claim) =>
      this.#lane === null || timeoutMs(claim.endpoint.timeout_seconds) <= longestSharedPostMs
    this.#pool.add(claims.filter(isShared))
    void this.#handOver(claims.filter((claim) => !isShared(claim)))
  }

  /** Resolves as soon as no claim waits for a slot. The run goes on in the background, for a shorter time. */
  async leave(): Promise<void> {
    await this.#pool.noneWaits()
    this.#endsAt = Math.min(this.#endsAt, this.#job.now() + backgroundMs)
  }

  /** Resolves when every ending is recorded; rejects then, if attempts failed by our own fault. */
  async finished(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#finish = resolve))
    if (this.#faults.length > 0) throw new Error('attempts could not be made', { cause: this.#faults[0] })
  }

  async #post(claim: Claim): Promise<void> {
    this.#begun++
    try {
      this.#writer.add(await attempt(this.#job, claim))
    } catch (error) {
      // Our own fault: the lease keeps the delivery for a later try, and the others go on.
      this.#close(1, error)
    }
  }

  async #conclude(outcomes: Outcome[]): Promise<void> {
    const goOn = this.#job.now() < this.#endsAt && this.#begun < attemptsARun
    try {
      this.take(await conclude(this.#job, this.#lane, outcomes, goOn))
      this.#close(outcomes.length)
    } catch (error) {
      this.#close(outcomes.length, error)
    }
  }

  async #handOver(claims: readonly Claim[]): Promise<void> {
    const groups = Map.groupBy(claims, ({ endpoint_id }) => endpoint_id)
    await Promise.all(
      groups.entries().map(([id, group]) =>
        this.#job.webhookSenders
          .of(id)
          .deliver(group)
          .then(
            () => this.#close(group.length),
            (error: unknown) => this.#close(group.length, error),
          ),
      ),
    )
  }

  #close(claims: number, fault?: unknown): void {
    if (fault !== undefined) this.#faults.push(fault)
    this.#open -= claims
    if (this.#open === 0) this.#finish()
  }
}
