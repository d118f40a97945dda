import { isTimeout, withTimeLimit } from '../time-limit/time-limit.ts'
import type { PostResult, WebhookPost } from './webhook-post.ts'

const maxResponseBytes = 8192

/** Reads what a receiver sends up to the limit, so that the connection can be used again; the rest is cut off. */
async function drain(response: Response, headers: Headers): Promise<void> {
  const length = headers.get('content-length')
  // Told and short, it is read at one go, which takes a fraction of the time.
  if (length !== null && Number(length) <= maxResponseBytes) return void (await response.arrayBuffer())
  const reader = response.body?.getReader()
  if (!reader) return
  let size = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength
    if (size > maxResponseBytes) return reader.cancel()
  }
}

const errorOf = (status: number): PostResult['error'] => {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'http_error'
}

/** The timeout covers the headers and the body; redirects are answers and are not followed. */
export const fetchPost: WebhookPost = {
  async post({ url, headers, body, timeoutMs }) {
    const started = performance.now()
    const done = (result: Omit<PostResult, 'durationMs'>): PostResult => ({
      ...result,
      durationMs: Math.round(performance.now() - started),
    })
    try {
      return await withTimeLimit(timeoutMs, async (signal) => {
        const response = await fetch(url, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/json', 'user-agent': 'event-commerce-webhooks/1', ...headers },
          body,
          signal,
        })
        const { status, headers: told } = response
        await drain(response, told)
        const error = errorOf(status)
        return done({ status, error, retryAfter: error === null ? null : told.get('retry-after') })
      })
    } catch (error) {
      return done({ status: null, error: isTimeout(error) ? 'timeout' : 'network_error', retryAfter: null })
    }
  },
}
