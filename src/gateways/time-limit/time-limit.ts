export const timeIsOver = (): DOMException => new DOMException('The time is over.', 'TimeoutError')

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
