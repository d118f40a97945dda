import { failure, type SendResult } from '../../domain/messaging/messaging.ts'
import { readContentLength } from '../answers/announced-bytes.ts'
import { isTimeout, withTimeLimit } from '../time-limit/time-limit.ts'

/** The response of a provider, or the reason why there is none. The provider may still have received the request. */
export type ProviderAnswer =
  | { came: true; status: number; header: (name: string) => string | null; body: unknown }
  | { came: false; code: 'timeout' | 'network_error' | 'unreadable_answer' | 'impossible_call' }

export interface ProviderOptions {
  /** Without a slash at the end. */
  apiBase: string
  apiKey: string
  now: () => number
  timeoutMs?: number
}

const maxBytes = 500_000

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/** Most responses are shorter, so they need one read. A read takes longer than parsing. */
const bytesPerRead = 1024

/** The body as JSON. Null: it is not JSON, or longer than any known response. */
async function readCapped(response: Response): Promise<unknown> {
  const contentLength = readContentLength(response)
  // This avoids a stream reader, which is the slowest part of reading a response.
  if (contentLength !== null && contentLength <= maxBytes) return parseJson(await response.text())
  const reader = response.body?.getReader({ mode: 'byob' })
  if (!reader) return null
  const decoder = new TextDecoder()
  let text = ''
  let hasMore = true
  for (let size = 0; hasMore;) {
    const { value } = await reader.readAtLeast(bytesPerRead, new Uint8Array(bytesPerRead))
    const length = value?.byteLength ?? 0
    hasMore = length === bytesPerRead
    size += length
    if (size > maxBytes) {
      await reader.cancel()
      return null
    }
    text += decoder.decode(value, { stream: hasMore })
  }
  return parseJson(text)
}

/** False if the configured URL or key is invalid. */
function isPossible(url: string, headers: Readonly<Record<string, string>>): boolean {
  const isAscii = Object.values(headers).every((value) => /^[\t\x20-\x7e]*$/.test(value.trim()))
  return isAscii && /^\s*https?:/i.test(url) && URL.canParse(url)
}

/** Without a response it is unknown whether the message was sent, unless the request was never made. */
export const failureWithoutAnswer = (code: (ProviderAnswer & { came: false })['code']): SendResult =>
  code === 'impossible_call'
    ? failure('configuration', code, 'The URL or the key of the API is invalid.')
    : failure('unknown', code, 'The provider did not respond.')

/** Calls an API. The timeout covers the response body too, and redirects are not followed. */
export async function callApi(
  url: string,
  init: {
    method: 'GET' | 'PATCH' | 'POST'
    headers: Readonly<Record<string, string>>
    body?: string | Uint8Array<ArrayBuffer>
  },
  timeoutMs: number,
  runLimited: typeof withTimeLimit = withTimeLimit,
): Promise<ProviderAnswer> {
  // Providers refuse requests without a user agent, and the runtime adds none.
  const headers = { 'user-agent': 'event-commerce/1', ...init.headers }
  if (!isPossible(url, headers)) return { came: false, code: 'impossible_call' }
  try {
    return await runLimited(timeoutMs, async (signal): Promise<ProviderAnswer> => {
      const response = await fetch(url, { ...init, redirect: 'manual', headers, signal })
      const { status } = response
      const body = await readCapped(response)
      if (response.ok && body === null) return { came: false, code: 'unreadable_answer' }
      return { came: true, status, header: (name) => response.headers.get(name), body }
    })
  } catch (error) {
    return { came: false, code: isTimeout(error) ? 'timeout' : 'network_error' }
  }
}

const callWithJson =
  (method: 'PATCH' | 'POST') =>
  (url: string, headers: Readonly<Record<string, string>>, body: unknown, timeoutMs: number): Promise<ProviderAnswer> =>
    callApi(
      url,
      { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) },
      timeoutMs,
    )

export const postJson = callWithJson('POST')
export const patchJson = callWithJson('PATCH')

export const getJson = (
  url: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<ProviderAnswer> => callApi(url, { method: 'GET', headers }, timeoutMs)

/** A text in a response or an event, cut to a length that can be stored. Empty: it is not a text. */
export const readText = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 500) : '')
