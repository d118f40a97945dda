import { isRecord } from '../../domain/text/json.ts'
import { asciiAddress, formatMailbox, type Mailbox } from '../../domain/messaging/mailbox.ts'
import { failure, type SendFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { parseRetryAfter } from '../../domain/webhooks/webhooks.ts'
import { findEmailRefusal, sendAcceptable } from '../acceptable/acceptable.ts'
import {
  callApi,
  type ProviderAnswer,
  failureWithoutAnswer,
  readText,
  type ProviderOptions,
} from '../provider-api/post-json.ts'
import { releaseMemory, reserveMemory } from './body-memory.ts'
import type { EmailGateway, OutboundEmail } from './email.ts'
import { resendDomains } from './resend-domains.ts'

const standardBase = 'https://api.resend.com'
const quotaRestMs = 3_600_000
/** Less than a campaign leaves to a call before its claim is over. */
const standardTimeoutMs = 20_000

/** Codes whose meaning differs from that of their status. */
const kindOfCode: Record<string, SendFailure> = {
  // The same call is still being worked on: it may be repeated a little later.
  concurrent_idempotent_requests: 'transient',
  // The key has sent something else before, so what became of this message is not known.
  invalid_idempotent_request: 'unknown',
  monthly_quota_exceeded: 'configuration',
  invalid_access: 'configuration',
  invalid_idempotency_key: 'configuration',
  invalid_from_address: 'sender',
}

function kindOf(status: number, code: string): SendFailure {
  const known = Object.hasOwn(kindOfCode, code) ? kindOfCode[code] : undefined
  if (known) return known
  // The domain of an organisation's own address is not verified. Other senders can send.
  if (status === 403 && code === 'validation_error') return 'sender'
  if (status === 429) return 'rate_limited'
  // A call with a key can be repeated safely after any result.
  if (status >= 500 || status === 408 || status === 409) return 'transient'
  // Keys, domains and addresses of the API: every message would be answered like this.
  return [400, 413, 422, 451].includes(status) ? 'permanent' : 'configuration'
}

function restOf({ header }: ProviderAnswer & { came: true }, code: string, now: number): number | null {
  const said = parseRetryAfter(header('retry-after') ?? header('ratelimit-reset'), now)
  // The headers only contain the wait for the next second, but the quota lasts until the next day.
  return code === 'daily_quota_exceeded' ? Math.max(said ?? 0, quotaRestMs) : said
}

function failureOf(answer: ProviderAnswer, now: number): SendResult {
  if (!answer.came) return failureWithoutAnswer(answer.code)
  const said = isRecord(answer.body) ? answer.body : {}
  const code = readText(said['name']) || `http_${answer.status}`
  return failure(kindOf(answer.status, code), code, readText(said['message']), restOf(answer, code, now))
}

/** Ids come for what was taken, in order; what was not is named by its index. */
function resultsOf(body: unknown, count: number): SendResult[] {
  const { data, errors } = isRecord(body) ? body : {}
  const refused = new Map(
    (Array.isArray(errors) ? errors : []).map((error: unknown) =>
      isRecord(error) ? [error['index'], readText(error['message'])] : [null, ''],
    ),
  )
  const ids = (Array.isArray(data) ? data : []).map((entry: unknown) => (isRecord(entry) ? readText(entry['id']) : ''))
  const isIndex = (index: unknown) => Number.isInteger(index) && Number(index) >= 0 && Number(index) < count
  const isWhole =
    ids.length + refused.size === count && !ids.includes('') && [...refused.keys()].every((index) => isIndex(index))
  let at = 0
  return Array.from({ length: count }, (_, index): SendResult => {
    const refusal = refused.get(index)
    if (refusal !== undefined) return failure('permanent', 'validation_error', refusal)
    if (!isWhole) return failure('unknown', 'unreadable_answer', 'The answer does not say what became of it.')
    return { ok: true, providerId: ids[at++] ?? '' }
  })
}

const mailboxOf = ({ name, address }: Mailbox): string => formatMailbox({ name, address: asciiAddress(address) })

const presentLetter = ({ from, to, replyTo, subject, html, text, headers, reference }: OutboundEmail) => ({
  from: mailboxOf(from),
  to: [mailboxOf(to)],
  ...(replyTo === null ? {} : { reply_to: asciiAddress(replyTo) }),
  subject,
  html,
  text,
  headers,
  tags: [{ name: 'reference', value: reference }],
})

const encoder = new TextEncoder()
const maxBytesPerCharacter = 3

function encodeBody(messages: readonly OutboundEmail[]): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(messages.map(presentLetter))
  const memory = reserveMemory(json.length * maxBytesPerCharacter)
  return memory.subarray(0, encoder.encodeInto(json, memory).written)
}

/** One call, or where the provider finds it too large, one of each half: the same halves under the same keys each time. */
async function call(messages: readonly OutboundEmail[], key: string, options: ProviderOptions): Promise<SendResult[]> {
  const { apiBase, apiKey, now, timeoutMs = standardTimeoutMs } = options
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${apiKey}`,
    'idempotency-key': key,
    // One bad address must not keep the others back.
    'x-batch-validation': 'permissive',
  }
  const body = encodeBody(messages)
  const answer = await callApi(`${apiBase || standardBase}/emails/batch`, { method: 'POST', headers, body }, timeoutMs)
  if (answer.came && answer.status >= 200 && answer.status < 300) {
    releaseMemory(body)
    return resultsOf(answer.body, messages.length)
  }
  if (answer.came && answer.status === 413 && messages.length > 1) {
    const half = Math.ceil(messages.length / 2)
    const first = await call(messages.slice(0, half), `${key}-1`, options)
    return [...first, ...(await call(messages.slice(half), `${key}-2`, options))]
  }
  const failed = failureOf(answer, now())
  return messages.map(() => failed)
}

/** The HTTP API of Resend, and of what is compatible with it. */
export const resendGateway = (options: ProviderOptions): EmailGateway => ({
  name: 'resend',
  batch: 100,
  deduplicates: true,
  bulk: true,
  reportsDelivery: true,
  domains: resendDomains({ base: options.apiBase || standardBase, apiKey: options.apiKey }),
  send: (messages, idempotencyKey) =>
    sendAcceptable(messages, findEmailRefusal, async (acceptable) =>
      options.apiKey
        ? call(acceptable, idempotencyKey, options)
        : acceptable.map(() => failure('configuration', 'missing_api_key', 'EMAIL_API_KEY is not set.')),
    ),
})
