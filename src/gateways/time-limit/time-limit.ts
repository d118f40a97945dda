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
  /** The number of tasks that still run under this limit. */
  taskCount: number
  end: () => void
}

/** Tasks that start within this time share a limit. */
const sharedMs = 50

/**
 * Time limits for many tasks of one invocation. Tasks that start at about the same time share a signal and a timer,
 * which otherwise cost a tenth of the time of a webhook request. The signal aborts up to 50 ms late and never early.
 */
export class SharedTimeLimits {
  /** The newest limit of each timeout. */
  readonly #limits = new Map<number, SharedLimit>()

  async run<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = this.#findOrCreate(timeoutMs)
    limit.taskCount++
    try {
      return await work(limit.signal)
    } finally {
      if (--limit.taskCount === 0) {
        limit.end()
        if (this.#limits.get(timeoutMs) === limit) this.#limits.delete(timeoutMs)
      }
    }
  }

  #findOrCreate(timeoutMs: number): SharedLimit {
    const now = performance.now()
    const newestLimit = this.#limits.get(timeoutMs)
    if (newestLimit && now - newestLimit.startedAt <= sharedMs) return newestLimit
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(createTimeout()), timeoutMs + sharedMs)
    const limit = { signal: controller.signal, startedAt: now, taskCount: 0, end: () => clearTimeout(timer) }
    this.#limits.set(timeoutMs, limit)
    return limit
  }
}
