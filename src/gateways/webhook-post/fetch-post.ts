import { toPlainText } from '../../domain/text/text.ts'
import { readContentLength } from '../provider-api/call-api.ts'
import { SharedTimeLimits, isTimeout } from '../time-limit/time-limit.ts'
import { faultOf, platformFaultOf } from './network-faults.ts'
import type { PostRequest, PostResult, WebhookPost } from './webhook-post.ts'

const maxResponseBytes = 8192
const maxTextBytes = 1024

const nothing = new Uint8Array()

/**
 * Reads what a receiver sends up to the limit, so that the connection can be used again; the rest is cut off. Answers
 * the first bytes of it.
 */
async function beginningOf(response: Response): Promise<Uint8Array> {
  const announced = readContentLength(response)
  // What is announced as nothing leaves nothing to be read, and the connection is free.
  if (announced === 0) return nothing
  // Announced and short, it is read at one go, which takes a fraction of the time.
  if (announced !== null && announced <= maxResponseBytes) return new Uint8Array(await response.arrayBuffer())
  const kept = new Uint8Array(maxTextBytes)
  const reader = response.body?.getReader()
  let size = 0
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    if (size < maxTextBytes) kept.set(part.value.subarray(0, maxTextBytes - size), size)
    size += part.value.byteLength
    if (size <= maxResponseBytes) continue
    await reader?.cancel()
    break
  }
  return kept.subarray(0, size)
}

function errorOf(status: number, text: string): PostResult['error'] {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : (platformFaultOf(status, text) ?? 'http_error')
}

/** Posts of one invocation. The timeout covers the headers and the body; redirects are answers and are not followed. */
export class FetchPost implements WebhookPost {
  readonly #limits = new SharedTimeLimits()

  async post({ url, headers, body, timeoutMs }: PostRequest): Promise<PostResult> {
    const started = performance.now()
    let hasAnswer = false
    const done = (result: Omit<PostResult, 'durationMs'>): PostResult => ({
      ...result,
      durationMs: Math.round(performance.now() - started),
    })
    try {
      return await this.#limits.run(timeoutMs, async (signal) => {
        const response = await fetch(url, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/json', 'user-agent': 'event-commerce-webhooks/1', ...headers },
          body,
          signal,
        })
        hasAnswer = true
        const { status } = response
        const text = toPlainText(await beginningOf(response), maxTextBytes)
        const error = errorOf(status, text)
        return done({ status, error, retryAfter: error === null ? null : response.headers.get('retry-after'), text })
      })
    } catch (error) {
      const fault = isTimeout(error) ? 'timeout' : faultOf(error, hasAnswer)
      return done({ status: null, error: fault, retryAfter: null, text: null })
    }
  }
}
