import { setTimeout as wait } from 'node:timers/promises'
import { type LocalEvent, postEvent, type PostResult, type Target } from './post.ts'

export interface Attempt extends PostResult {
  event: LocalEvent
  /** Counts the posts of the event from 1. Null if a person sent it again. */
  number: number | null
  /** Seconds until the next attempt. Null if there is none. */
  retryInSeconds: number | null
}

export interface Report {
  attempt: (attempt: Attempt) => void
  skip: (event: LocalEvent) => void
}

/** Posts one event at a time, and repeats each until it succeeds or is skipped. */
export class Forwarder {
  readonly #target: Target
  readonly #retrySeconds: readonly number[]
  readonly #report: Report
  readonly #quit: AbortSignal
  #last: LocalEvent | null = null
  /** Ends the work on the current event. Null while there is none. */
  #skip: AbortController | null = null
  /** Ends the pause before the next attempt. Null while there is none. */
  #pause: AbortController | null = null
  #repetition: Promise<void> | null = null

  constructor(target: Target, retrySeconds: readonly number[], report: Report, quit: AbortSignal) {
    this.#target = target
    this.#retrySeconds = retrySeconds
    this.#report = report
    this.#quit = quit
    quit.addEventListener('abort', () => this.skip(), { once: true })
  }

  /** Resolves when the event was delivered or skipped, and throws when the command ends. */
  async deliver(event: LocalEvent): Promise<void> {
    await this.#repetition
    this.#last = event
    const skip = (this.#skip = new AbortController())
    const { signal } = skip
    try {
      for (let number = 1; ; number++) {
        const result = await postEvent(event, this.#target, signal)
        if (!result.isDelivered) this.#quit.throwIfAborted()
        if (!result.isDelivered && signal.aborted) return this.#report.skip(event)
        const retryInSeconds = result.isDelivered ? null : this.#choosePause(number)
        this.#report.attempt({ ...result, event, number, retryInSeconds })
        if (retryInSeconds === null) return
        await this.#waitForRetry(retryInSeconds)
        this.#quit.throwIfAborted()
        if (signal.aborted) return this.#report.skip(event)
      }
    } finally {
      this.#skip = null
    }
  }

  /** Gives the current event up. Returns false if there is none. */
  skip(): boolean {
    this.#skip?.abort()
    this.#pause?.abort()
    return this.#skip !== null
  }

  /** Sends the last event again: at once if it waits to be repeated. Returns false if nothing was sent yet. */
  repeat(): boolean {
    const event = this.#last
    if (event === null) return false
    if (this.#skip === null) this.#repetition ??= this.#repeat(event)
    else this.#pause?.abort()
    return true
  }

  async #repeat(event: LocalEvent): Promise<void> {
    const result = await postEvent(event, this.#target, this.#quit)
    this.#repetition = null
    if (!this.#quit.aborted) this.#report.attempt({ ...result, event, number: null, retryInSeconds: null })
  }

  #choosePause(failures: number): number {
    return this.#retrySeconds[Math.min(failures, this.#retrySeconds.length) - 1] ?? 0
  }

  async #waitForRetry(seconds: number): Promise<void> {
    const { signal } = (this.#pause = new AbortController())
    await wait(seconds * 1000, undefined, { signal }).catch(() => null)
    this.#pause = null
  }
}
