import { createFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { isTimeout, withTimeLimit } from '../time-limit/time-limit.ts'

/**
 * The provider's response. Without a complete one, the provider may have received the call all the same.
 */
export type ProviderResponse =
  | { isComplete: true; status: number; header: (name: string) => string | null; body: unknown }
  | { isComplete: false; code: 'timeout' | 'network_error' | 'unreadable_answer' | 'impossible_call' }

export interface ProviderOptions {
  /** Without a slash at the end. */
  apiBase: string
  apiKey: string
  now: () => number
  timeoutMs?: number
}

const maxBytes = 500_000

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/**
 * Reads the length of a body from its header. Returns null without the header, and for a compressed body: the header
 * gives its compressed length, and a few kilobytes can unpack to any length.
 */
export function readContentLength({ headers }: Response): number | null {
  const length = headers.get('content-length')
  return length === null || headers.has('content-encoding') ? null : Number(length)
}

/** Most responses are shorter than this, so one read suffices. A read takes longer than the parsing. */
const readBytes = 1024

/** Reads the body as JSON. Returns null for any other body, and for one that is longer than every known response. */
async function readCapped(response: Response): Promise<unknown> {
  const contentLength = readContentLength(response)
  // A stream reader takes longer than everything else, so it is used only when the length is unknown.
  if (contentLength !== null && contentLength <= maxBytes) return parseJsonOrNull(await response.text())
  const reader = response.body?.getReader({ mode: 'byob' })
  if (!reader) return null
  const decoder = new TextDecoder()
  let text = ''
  let hasMore = true
  for (let size = 0; hasMore;) {
    const { value } = await reader.readAtLeast(readBytes, new Uint8Array(readBytes))
    const length = value?.byteLength ?? 0
    hasMore = length === readBytes
    size += length
    if (size > maxBytes) {
      await reader.cancel()
      return null
    }
    text += decoder.decode(value, { stream: hasMore })
  }
  return parseJsonOrNull(text)
}

/** True if the call can be made. The configured address or key may be invalid. */
function isPossible(url: string, headers: Readonly<Record<string, string>>): boolean {
  const isAscii = Object.values(headers).every((value) => /^[\t\x20-\x7e]*$/.test(value.trim()))
  return isAscii && /^\s*https?:/i.test(url) && URL.canParse(url)
}

/** Without a complete response it is unknown whether the message was sent, unless no call was made. */
export const describeMissingResponse = (code: (ProviderResponse & { isComplete: false })['code']): SendResult =>
  code === 'impossible_call'
    ? createFailure('configuration', code, 'The address or the key of the API is invalid.')
    : createFailure('unknown', code, 'The provider did not answer.')

/**
 * Makes one call of an API. The timeout covers the body of the response, and redirects are not followed. A gateway that
 * makes many calls passes `runWithLimit` of its shared time limits.
 */
export async function callApi(
  url: string,
  init: {
    method: 'GET' | 'PATCH' | 'POST'
    headers: Readonly<Record<string, string>>
    body?: string | Uint8Array<ArrayBuffer>
  },
  timeoutMs: number,
  runWithLimit: typeof withTimeLimit = withTimeLimit,
): Promise<ProviderResponse> {
  // Providers refuse calls without a user agent, and the runtime adds none.
  const headers = { 'user-agent': 'event-commerce/1', ...init.headers }
  if (!isPossible(url, headers)) return { isComplete: false, code: 'impossible_call' }
  try {
    return await runWithLimit(timeoutMs, async (signal): Promise<ProviderResponse> => {
      const response = await fetch(url, { ...init, redirect: 'manual', headers, signal })
      const { status } = response
      const body = await readCapped(response)
      if (response.ok && body === null) return { isComplete: false, code: 'unreadable_answer' }
      return { isComplete: true, status, header: (name) => response.headers.get(name), body }
    })
  } catch (error) {
    return { isComplete: false, code: isTimeout(error) ? 'timeout' : 'network_error' }
  }
}

const createJsonCall =
  (method: 'PATCH' | 'POST') =>
  (
    url: string,
    headers: Readonly<Record<string, string>>,
    body: unknown,
    timeoutMs: number,
  ): Promise<ProviderResponse> =>
    callApi(
      url,
      { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) },
      timeoutMs,
    )

export const postJson = createJsonCall('POST')
export const patchJson = createJsonCall('PATCH')

export const getJson = (
  url: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<ProviderResponse> => callApi(url, { method: 'GET', headers }, timeoutMs)

/** Reads a text of a response or event, shortened so that it can be stored. Anything else is empty. */
export const readText = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 500) : '')
