import { toPlainText } from '../../domain/text/text.ts'
import { readContentLength } from '../provider-api/call-api.ts'
import { isTimeout, SharedTimeLimits } from '../time-limit/time-limit.ts'
import { classifyNetworkError, findPlatformError } from './network-faults.ts'
import type { PostRequest, PostResult, WebhookPost } from './webhook-post.ts'

const maxResponseBytes = 8192
const maxTextBytes = 1024

/** A time limit that ends so much later than it should was delayed by this service, which was busy. */
const delayMs = 1000

const noBytes = new Uint8Array()

/** Reads up to 8 kB of the body, so that the connection can be used again, and returns the first bytes of it. */
async function readBeginning(response: Response): Promise<Uint8Array> {
  const contentLength = readContentLength(response)
  if (contentLength === 0) return noBytes
  // Reading the body in one go takes a fraction of the time.
  if (contentLength !== null && contentLength <= maxResponseBytes) return new Uint8Array(await response.arrayBuffer())
  const firstBytes = new Uint8Array(maxTextBytes)
  const reader = response.body?.getReader()
  let size = 0
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    if (size < maxTextBytes) firstBytes.set(part.value.subarray(0, maxTextBytes - size), size)
    size += part.value.byteLength
    if (size <= maxResponseBytes) continue
    await reader?.cancel()
    break
  }
  return firstBytes.subarray(0, size)
}

function classifyResponse(status: number, text: string): PostResult['error'] {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : (findPlatformError(status, text) ?? 'http_error')
}

/** Makes the posts of one invocation. The timeout covers the headers and the body. Redirects are not followed. */
export class FetchPost implements WebhookPost {
  readonly #limits = new SharedTimeLimits()

  async post({ url, headers, body, timeoutMs }: PostRequest): Promise<PostResult> {
    const startedAt = performance.now()
    let hasResponse = false
    const addDuration = (result: Omit<PostResult, 'durationMs' | 'isDelayed'>): PostResult => {
      const durationMs = Math.round(performance.now() - startedAt)
      return { ...result, durationMs, isDelayed: result.error === 'timeout' && durationMs >= timeoutMs + delayMs }
    }
    try {
      return await this.#limits.run(timeoutMs, async (signal) => {
        const response = await fetch(url, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/json', 'user-agent': 'event-commerce-webhooks/1', ...headers },
          body,
          signal,
        })
        hasResponse = true
        const { status } = response
        const text = toPlainText(await readBeginning(response), maxTextBytes)
        const error = classifyResponse(status, text)
        return addDuration({
          status,
          error,
          retryAfter: error === null ? null : response.headers.get('retry-after'),
          text,
        })
      })
    } catch (error) {
      const reason = isTimeout(error) ? 'timeout' : classifyNetworkError(error, hasResponse)
      return addDuration({ status: null, error: reason, retryAfter: null, text: null })
    }
  }
}
