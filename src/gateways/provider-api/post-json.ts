import { createFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { readContentLength } from '../answers/announced-bytes.ts'
import { isTimeout, withTimeLimit } from '../time-limit/time-limit.ts'

/** The provider's answer, or a failure without a whole answer: the provider may still have received the call. */
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

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/** Most answers are shorter, and so read at one go: each read of a stream takes longer than the parsing. */
const partBytes = 1024

/** The body as JSON; null for another body, or one that is longer than any known answer. */
async function readCapped(response: Response): Promise<unknown> {
  const announced = readContentLength(response)
  // Without a reader of a stream, which takes longer than all else of an answer.
  if (announced !== null && announced <= maxBytes) return parseJsonOrNull(await response.text())
  const reader = response.body?.getReader({ mode: 'byob' })
  if (!reader) return null
  const decoder = new TextDecoder()
  let text = ''
  let hasMore = true
  for (let size = 0; hasMore;) {
    const { value } = await reader.readAtLeast(partBytes, new Uint8Array(partBytes))
    const length = value?.byteLength ?? 0
    hasMore = length === partBytes
    size += length
    if (size > maxBytes) {
      await reader.cancel()
      return null
    }
    text += decoder.decode(value, { stream: hasMore })
  }
  return parseJsonOrNull(text)
}

/** Whether the call can be made: the address or the key of the configuration may be invalid. */
function isPossible(url: string, headers: Readonly<Record<string, string>>): boolean {
  const isAscii = Object.values(headers).every((value) => /^[\t\x20-\x7e]*$/.test(value.trim()))
  return isAscii && /^\s*https?:/i.test(url) && URL.canParse(url)
}

/** Without a whole answer it is unknown whether the message was sent, unless no call was made. */
export const describeMissingAnswer = (code: (ProviderAnswer & { came: false })['code']): SendResult =>
  code === 'impossible_call'
    ? createFailure('configuration', code, 'The address of the API, or its key, is none.')
    : createFailure('unknown', code, 'No answer came.')

/**
 * One call of an API; the timeout covers the answer's body too, and redirects are answers. A gateway of many calls shares
 * its time limits.
 */
export async function callApi(
  url: string,
  init: {
    method: 'GET' | 'PATCH' | 'POST'
    headers: Readonly<Record<string, string>>
    body?: string | Uint8Array<ArrayBuffer>
  },
  timeoutMs: number,
  limited: typeof withTimeLimit = withTimeLimit,
): Promise<ProviderAnswer> {
  // Providers refuse calls without a user agent, and the runtime adds none.
  const headers = { 'user-agent': 'event-commerce/1', ...init.headers }
  if (!isPossible(url, headers)) return { came: false, code: 'impossible_call' }
  try {
    return await limited(timeoutMs, async (signal): Promise<ProviderAnswer> => {
      const response = await fetch(url, { ...init, redirect: 'manual', headers, signal })
      const { status } = response
      const read = await readCapped(response)
      if (response.ok && read === null) return { came: false, code: 'unreadable_answer' }
      return { came: true, status, header: (name) => response.headers.get(name), body: read }
    })
  } catch (error) {
    return { came: false, code: isTimeout(error) ? 'timeout' : 'network_error' }
  }
}

const createJsonCall =
  (method: 'PATCH' | 'POST') =>
  (url: string, headers: Readonly<Record<string, string>>, body: unknown, timeoutMs: number): Promise<ProviderAnswer> =>
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
): Promise<ProviderAnswer> => callApi(url, { method: 'GET', headers }, timeoutMs)

/** A text of an answer or event, short enough to be kept; empty when there is none. */
export const readShortText = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 500) : '')
