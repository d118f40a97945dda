export interface RetryOptions {
  /** The number of tries after the first; 5 by default. */
  maxRetries?: number
  /** The longest pause that `Retry-After` may ask for, in milliseconds: 2 minutes by default. */
  maxPauseMs?: number
  /** The longest wait for an answer to begin, and for each part of its body, in milliseconds: 90 seconds by default. */
  timeoutMs?: number
}

type Send = (request: Request) => Promise<Response>

const firstPauseMs = 500
const longestPauseMs = 30_000
/** A timer with a longer time fires at once. */
const longestTimerMs = 2 ** 31 - 1
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Without a key, a repeated POST could do its work twice. */
const isRepeatable = ({ method, headers }: Request): boolean => repeatable.has(method) || headers.has('idempotency-key')

/**
 * Sends requests again after lost connections, 429 and 503, with growing pauses. A connection can be lost in the body
 * of an answer, so the body is read here, unless it is streamed.
 */
export function withRetries(send: Send, options: RetryOptions = {}, { isStreamed = false } = {}): Send {
  const { maxRetries = 5, maxPauseMs = 120_000, timeoutMs = 90_000 } = options
  return async (request) => {
    for (let retries = 0; ; retries++) {
      const isLast = retries >= maxRetries || !isRepeatable(request)
      let pause = choosePause(retries)
      try {
        // A request can be sent once, because sending uses up its body.
        const response = await sendWithin(send, isLast ? request : request.clone(), { timeoutMs, isStreamed })
        if (isLast || !(await isTemporary(response))) return response
        pause = Math.max(pause, readRetryAfter(response))
        if (pause > maxPauseMs) return response
        await response.body?.cancel()
      } catch (error) {
        if (isLast || request.signal.aborted) throw error
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

interface SendOptions {
  timeoutMs: number
  isStreamed: boolean
}

/** Sends a request, and gives up when nothing comes for too long. */
async function sendWithin(send: Send, request: Request, { timeoutMs, isStreamed }: SendOptions): Promise<Response> {
  const timeout = new AbortController()
  const reason = new DOMException(`Nothing came within ${timeoutMs} ms.`, 'TimeoutError')
  const signal = AbortSignal.any([request.signal, timeout.signal])
  const startTimer = () => setTimeout(() => timeout.abort(reason), Math.min(timeoutMs, longestTimerMs))
  let timer = startTimer()
  try {
    const response = await send(new Request(request, { signal }))
    const hasBody = response.body !== null && !bodilessStatuses.has(response.status)
    if (isStreamed || !hasBody) return response
    return await readWhole(response, signal, () => {
      clearTimeout(timer)
      timer = startTimer()
    })
  } finally {
    clearTimeout(timer)
  }
}

const bodilessStatuses = new Set([204, 205, 304])

async function readWhole(response: Response, signal: AbortSignal, onPart: () => void): Promise<Response> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  for await (const part of readParts(response.body as ReadableStream<Uint8Array<ArrayBuffer>>, signal)) {
    parts.push(part)
    onPart()
  }
  const { status, statusText, headers, url } = response
  const copy = new Response(new Blob(parts), { status, statusText, headers })
  return Object.defineProperty(copy, 'url', { value: url })
}

/** Yields the parts of a body, and throws the reason of the signal. */
export async function* readParts<Part>(
  body: ReadableStream<Part>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Part, void, undefined> {
  const reader = body.getReader()
  // Node forgets the signal of a request once its answer has begun and memory is collected.
  const end = () => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', end, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal?.throwIfAborted()
      if (done) return
      yield value
    }
  } finally {
    signal?.removeEventListener('abort', end)
    await reader.cancel().catch(() => undefined)
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
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', end)
        resolve()
      },
      Math.min(ms, longestTimerMs),
    )
    signal?.addEventListener('abort', end, { once: true })
  })
}
