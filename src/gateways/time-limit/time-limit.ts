const timeIsOver = (): DOMException => new DOMException('The time is over.', 'TimeoutError')

/**
 * Runs `work` with a signal that aborts with a `TimeoutError` after `timeoutMs`. The timer ends with the work. That of
 * `AbortSignal.timeout` would keep the request in memory, and an invocation may make 10,000 requests.
 */
export async function withTimeLimit<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(timeIsOver()), timeoutMs)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

interface SharedLimit {
  signal: AbortSignal
  begunAt: number
  /** How many calls use the limit now. */
  users: number
  end: () => void
}

/** Calls that begin within this time share a limit. */
const sharedMs = 50

/**
 * Time limits for many calls of one invocation. Calls that begin at about the same time share a signal and a timer, which
 * would otherwise cost a tenth of a webhook post. The signal aborts up to 50 ms late and never early.
 */
export class SharedTimeLimits {
  readonly #newest = new Map<number, SharedLimit>()

  async run<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const shared = this.#join(timeoutMs)
    shared.users++
    try {
      return await work(shared.signal)
    } finally {
      if (--shared.users === 0) {
        shared.end()
        if (this.#newest.get(timeoutMs) === shared) this.#newest.delete(timeoutMs)
      }
    }
  }

  #join(timeoutMs: number): SharedLimit {
    const now = performance.now()
    const newest = this.#newest.get(timeoutMs)
    if (newest && now - newest.begunAt <= sharedMs) return newest
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(timeIsOver()), timeoutMs + sharedMs)
    const shared = { signal: controller.signal, begunAt: now, users: 0, end: () => clearTimeout(timer) }
    this.#newest.set(timeoutMs, shared)
    return shared
  }
}
