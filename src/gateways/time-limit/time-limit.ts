export const timeIsOver = (): DOMException => new DOMException('The time is over.', 'TimeoutError')

/**
 * Hands out a signal that aborts with a `TimeoutError` after so many milliseconds. Unlike that of
 * `AbortSignal.timeout` its timer ends with the work: an invocation may have 10,000, and each would keep its request.
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
