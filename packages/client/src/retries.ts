export interface RetryOptions {
  /** How often a call is tried again; 5 by default, 0 for never. */
  maxRetries?: number
  /** The longest pause that `Retry-After` may ask for, in milliseconds: 2 minutes by default. */
  maxPauseMs?: number
  /** How long to wait for the beginning of an answer, in milliseconds: 90 seconds by default. */
  timeoutMs?: number
}

type Send = (request: Request) => Promise<Response>

const firstPauseMs = 500
const longestPauseMs = 30_000
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Without a key, a repeated POST could do its work twice. */
const isRepeatable = ({ method, headers }: Request): boolean => repeatable.has(method) || headers.has('idempotency-key')

/** Sends requests again after lost connections, 429 and 503, with growing pauses. */
export function withRetries(send: Send, options: RetryOptions = {}): Send {
  const { maxRetries = 5, maxPauseMs = 120_000, timeoutMs = 90_000 } = options
  return async (request) => {
    for (let retries = 0; ; retries++) {
      const isLast = retries >= maxRetries
      let pause = choosePause(retries)
      try {
        // A request can be sent once, because sending uses up its body.
        const response = await sendWithin(send, isLast ? request : request.clone(), timeoutMs)
        if (isLast || !(await isTemporary(response))) return response
        pause = Math.max(pause, readRetryAfter(response))
        if (pause > maxPauseMs) return response
        await response.body?.cancel()
      } catch (error) {
        if (isLast || request.signal.aborted || !isRepeatable(request)) throw error
      }
      await wait(pause, request.signal)
    }
  }
}

/** Half of the pause is random, so that clients that failed together do not come back together. */
const choosePause = (retries: number): number =>
  Math.min(firstPauseMs * 2 ** retries, longestPauseMs) * (0.5 + Math.random() / 2)

async function isTemporary(response: Response): Promise<boolean> {
  const { status } = response
  if (status !== 409) return status === 429 || status === 503
  // The first try still runs, although its connection was lost.
  const text = await response.clone().text()
  return text.includes('"idempotency_in_progress"')
}

/** The pause that the answer asks for, in milliseconds. */
function readRetryAfter({ headers }: Response): number {
  const text = headers.get('retry-after') ?? '0'
  const seconds = Number(text)
  return Number.isNaN(seconds) ? Math.max(0, Date.parse(text) - Date.now()) || 0 : seconds * 1000
}

/** Ends the wait for an answer after the timeout. Its body may take longer. */
async function sendWithin(send: Send, request: Request, timeoutMs: number): Promise<Response> {
  const timeout = new AbortController()
  const timer = setTimeout(() => {
    timeout.abort(new DOMException(`No answer came within ${timeoutMs} ms.`, 'TimeoutError'))
  }, timeoutMs)
  try {
    return await send(new Request(request, { signal: AbortSignal.any([request.signal, timeout.signal]) }))
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for so many milliseconds, or throws the reason of the signal. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
