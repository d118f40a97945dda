const createTimeout = (): DOMException => new DOMException('The time limit has passed.', 'TimeoutError')

/**
 * Runs work with a signal that aborts with a `TimeoutError`. Unlike the timer of `AbortSignal.timeout`, this one ends
 * with the work: an invocation can have 10,000 timers, and each would keep its request in memory.
 */
export async function withTimeLimit<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(createTimeout()), timeoutMs)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

interface SharedLimit {
  signal: AbortSignal
  startedAt: number
  /** How much work still runs under this limit. */
  running: number
  end: () => void
}

/** Works that start within this time share a limit. */
const sharedMs = 50

/**
 * Time limits for many works of one invocation. Works that start at about the same time share a signal and a timer,
 * which otherwise cost a tenth of the time of a webhook request. The signal aborts up to 50 ms late and never early.
 */
export class SharedTimeLimits {
  readonly #newest = new Map<number, SharedLimit>()

  async run<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const shared = this.#join(timeoutMs)
    shared.running++
    try {
      return await work(shared.signal)
    } finally {
      if (--shared.running === 0) {
        shared.end()
        if (this.#newest.get(timeoutMs) === shared) this.#newest.delete(timeoutMs)
      }
    }
  }

  #join(timeoutMs: number): SharedLimit {
    const now = performance.now()
    const newest = this.#newest.get(timeoutMs)
    if (newest && now - newest.startedAt <= sharedMs) return newest
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(createTimeout()), timeoutMs + sharedMs)
    const shared = { signal: controller.signal, startedAt: now, running: 0, end: () => clearTimeout(timer) }
    this.#newest.set(timeoutMs, shared)
    return shared
  }
}
