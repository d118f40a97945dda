import { Webhook } from 'standardwebhooks'
import { describeError } from '../errors.ts'

export interface LocalEvent {
  id: string
  kind: string
  /** The body that endpoints receive, byte for byte. */
  payload: string
}

export interface PostResult {
  isDelivered: boolean
  /** Null if no answer came. */
  status: number | null
  ms: number
  /** The reason for which no answer came. Null if one came. */
  error: string | null
}

export interface Target {
  url: string
  secret: string
  timeoutMs: number
}

const maxAnswerBytes = 8192

/** Reads the beginning of an answer, as the service does, so that a receiver that never ends it counts as hanging. */
async function readBeginning({ body }: Response, signal: AbortSignal): Promise<void> {
  const reader = body?.getReader()
  // Node forgets the signal of a request once its answer has begun and memory is collected.
  const end = () => void reader?.cancel().catch(() => undefined)
  signal.addEventListener('abort', end, { once: true })
  try {
    let size = 0
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      size += part.value.byteLength
      if (size > maxAnswerBytes) break
    }
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

/** Posts an event with the headers and the body that endpoints receive from the service. */
export async function postEvent(
  { id, payload }: LocalEvent,
  { url, secret, timeoutMs }: Target,
  signal: AbortSignal,
): Promise<PostResult> {
  const startedAt = performance.now()
  const at = new Date()
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'event-commerce-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, payload),
  }
  const measure = (result: Omit<PostResult, 'ms'>): PostResult => ({
    ...result,
    ms: Math.round(performance.now() - startedAt),
  })
  const stop = new AbortController()
  const end = () => stop.abort()
  const timer = setTimeout(end, timeoutMs)
  signal.addEventListener('abort', end, { once: true })
  try {
    const request = { method: 'POST', headers, body: payload, redirect: 'manual' as const }
    const response = await fetch(url, { ...request, signal: stop.signal })
    await readBeginning(response, stop.signal)
    const { ok: isDelivered, status } = response
    return measure({ isDelivered, status, error: null })
  } catch (error) {
    const isTimeout = stop.signal.aborted && !signal.aborted
    const reason = isTimeout ? `no answer in ${timeoutMs / 1000} s` : describeError(error)
    return measure({ isDelivered: false, status: null, error: reason })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
