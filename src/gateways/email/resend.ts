import { toAsciiAddress, formatMailbox, type Mailbox } from '../../domain/messaging/mailbox.ts'
import { createFailure, type SendFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { isRecord } from '../../domain/text/json.ts'
import { parseRetryAfter } from '../../domain/webhooks/webhooks.ts'
import { findEmailFault, sendValid } from '../message-checks/message-checks.ts'
import {
  callApi,
  type ProviderResponse,
  describeMissingResponse,
  readText,
  type ProviderOptions,
} from '../provider-api/call-api.ts'
import type { EmailGateway, OutboundEmail } from './email.ts'
import { createResendDomains } from './resend-domains.ts'

const standardBase = 'https://api.resend.com'
const quotaRetryMs = 3_600_000
/** A call must end before its chunk's claim. Campaigns start no call with less than 25 s left. */
const standardTimeoutMs = 20_000

/**
 * Bodies of calls are long, and the runtime frees their memory late. So their memory is reused once the provider has
 * received the whole body.
 */
const freeBuffers: Uint8Array<ArrayBuffer>[] = []
const maxFreeBuffers = 4
const maxFreeBufferBytes = 4_000_000
/** Bodies of one campaign differ by little. Buffers are rounded up, so that a slightly longer body fits too. */
const bufferStepBytes = 262_144

const reserveMemory = (bytes: number): Uint8Array<ArrayBuffer> => {
  const buffer = freeBuffers.pop()
  const size = Math.ceil(bytes / bufferStepBytes) * bufferStepBytes
  return buffer && buffer.length >= bytes ? buffer : new Uint8Array(size)
}

/** A body that may still be on its way must not be released, because the next one would overwrite it. */
function releaseMemory({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (freeBuffers.length < maxFreeBuffers && buffer.byteLength <= maxFreeBufferBytes)
    freeBuffers.push(new Uint8Array(buffer))
}

/** Error codes that mean something else than their HTTP status. */
const kindsByCode: Record<string, SendFailure> = {
  // The same call is still being processed, so it can be repeated a little later.
  concurrent_idempotent_requests: 'transient',
  // The key was used for another call, so it is unknown whether this message was sent.
  invalid_idempotent_request: 'unknown',
  monthly_quota_exceeded: 'configuration',
  invalid_access: 'configuration',
  invalid_idempotency_key: 'configuration',
  invalid_from_address: 'sender',
}

function classifyFailure(status: number, code: string): SendFailure {
  const kindByCode = Object.hasOwn(kindsByCode, code) ? kindsByCode[code] : undefined
  if (kindByCode) return kindByCode
  // The domain of this sender is not verified. Other senders can send.
  if (status === 403 && code === 'validation_error') return 'sender'
  if (status === 429) return 'rate_limited'
  // A call with an idempotency key can be repeated safely.
  if (status >= 500 || status === 408 || status === 409) return 'transient'
  // The API key, the domain or the address of the API is wrong, so every message would get this response.
  return [400, 413, 422, 451].includes(status) ? 'permanent' : 'configuration'
}

function readRetryAfter({ header }: ProviderResponse & { isComplete: true }, code: string, now: number): number | null {
  const headerMs = parseRetryAfter(header('retry-after') ?? header('ratelimit-reset'), now)
  // The headers give the wait of the per-second limit, but the daily quota lasts until the next day.
  return code === 'daily_quota_exceeded' ? Math.max(headerMs ?? 0, quotaRetryMs) : headerMs
}

function toFailure(response: ProviderResponse, now: number): SendResult {
  if (!response.isComplete) return describeMissingResponse(response.code)
  const body = isRecord(response.body) ? response.body : {}
  const code = readText(body['name']) || `http_${response.status}`
  const { status } = response
  const kind = classifyFailure(status, code)
  return { ...createFailure(kind, code, readText(body['message']), readRetryAfter(response, code, now)), status }
}

/** The response has the ids of accepted messages in order, and the index of each refused message. */
function readResults(body: unknown, count: number): SendResult[] {
  const { data, errors } = isRecord(body) ? body : {}
  const refusals = new Map(
    (Array.isArray(errors) ? errors : []).map((error: unknown) =>
      isRecord(error) ? [error['index'], readText(error['message'])] : [null, ''],
    ),
  )
  const ids = (Array.isArray(data) ? data : []).map((entry: unknown) => (isRecord(entry) ? readText(entry['id']) : ''))
  const isIndex = (index: unknown) => Number.isInteger(index) && Number(index) >= 0 && Number(index) < count
  const isComplete =
    ids.length + refusals.size === count && !ids.includes('') && [...refusals.keys()].every((index) => isIndex(index))
  let nextId = 0
  return Array.from({ length: count }, (_, index): SendResult => {
    const refusal = refusals.get(index)
    if (refusal !== undefined) return createFailure('permanent', 'validation_error', refusal)
    if (!isComplete)
      return createFailure('unknown', 'unreadable_answer', 'The answer does not say whether the message was sent.')
    return { ok: true, providerId: ids[nextId++] ?? '' }
  })
}

const formatWireMailbox = ({ name, address }: Mailbox): string =>
  formatMailbox({ name, address: toAsciiAddress(address) })

const toWire = ({ from, to, replyTo, subject, html, text, headers, reference }: OutboundEmail) => ({
  from: formatWireMailbox(from),
  to: [formatWireMailbox(to)],
  ...(replyTo === null ? {} : { reply_to: toAsciiAddress(replyTo) }),
  subject,
  html,
  text,
  headers,
  tags: [{ name: 'reference', value: reference }],
})

const encoder = new TextEncoder()
const maxBytesPerCharacter = 3

function encodeBody(messages: readonly OutboundEmail[]): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(messages.map(toWire))
  const memory = reserveMemory(json.length * maxBytesPerCharacter)
  return memory.subarray(0, encoder.encodeInto(json, memory).written)
}

/** Makes one call. When it is too large, it makes a call for each half, always with the same halves and keys. */
async function callBatch(
  messages: readonly OutboundEmail[],
  key: string,
  options: ProviderOptions,
): Promise<SendResult[]> {
  const { apiBase, apiKey, now, timeoutMs = standardTimeoutMs } = options
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${apiKey}`,
    'idempotency-key': key,
    // One bad address must not stop the other messages.
    'x-batch-validation': 'permissive',
  }
  const body = encodeBody(messages)
  const response = await callApi(
    `${apiBase || standardBase}/emails/batch`,
    { method: 'POST', headers, body },
    timeoutMs,
  )
  if (response.isComplete && response.status >= 200 && response.status < 300) {
    releaseMemory(body)
    return readResults(response.body, messages.length)
  }
  if (response.isComplete && response.status === 413 && messages.length > 1) {
    const half = Math.ceil(messages.length / 2)
    const firstResults = await callBatch(messages.slice(0, half), `${key}-1`, options)
    return [...firstResults, ...(await callBatch(messages.slice(half), `${key}-2`, options))]
  }
  const failure = toFailure(response, now())
  return messages.map(() => failure)
}

/** Creates a gateway to the HTTP API of Resend, or to a compatible one. */
export const createResendGateway = (options: ProviderOptions): EmailGateway => ({
  name: 'resend',
  batch: 100,
  // The standard limit of a team. Resend raises it on request.
  limits: { messagesPerCall: 100, callsPerSecond: 5 },
  deduplicates: true,
  bulk: true,
  reportsDelivery: true,
  domains: createResendDomains({ base: options.apiBase || standardBase, apiKey: options.apiKey }),
  send: (messages, idempotencyKey) =>
    sendValid(messages, findEmailFault, async (validMessages) =>
      options.apiKey
        ? callBatch(validMessages, idempotencyKey, options)
        : validMessages.map(() => createFailure('configuration', 'missing_api_key', 'EMAIL_API_KEY is not set.')),
    ),
})
