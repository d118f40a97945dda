import { createFailure, type SendFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { isRecord } from '../../domain/text/json.ts'
import { parseRetryAfter } from '../../domain/webhooks/webhooks.ts'
import { findSmsFault, sendValid } from '../message-checks/message-checks.ts'
import {
  callApi,
  type ProviderResponse,
  describeMissingResponse,
  readText,
  type ProviderOptions,
} from '../provider-api/call-api.ts'
import { SharedTimeLimits } from '../time-limit/time-limit.ts'
import type { OutboundSms, SmsGateway } from './sms.ts'

const standardBase = 'https://messaging.gatewayapi.eu'
/**
 * A batch makes two calls one after another, which end before the claim of a chunk even when they are slow. They are
 * not made at once: a consumer sends four chunks over six connections, and a call that waits for a connection would
 * time out with an unknown result.
 */
const callsPerBatch = 2

function classifyStatus(status: number): SendFailure {
  if (status === 429) return 'rate_limited'
  if (status === 503) return 'transient'
  // There is no idempotency key, and the SMS may have been sent before the error.
  if (status >= 500 || status === 408) return 'unknown'
  // The account has a fault, such as a wrong token or no balance, so every message would get this response.
  return [400, 413, 422].includes(status) ? 'permanent' : 'configuration'
}

function readResult(response: ProviderResponse, now: number): SendResult {
  if (!response.isComplete) return describeMissingResponse(response.code)
  const body = isRecord(response.body) ? response.body : {}
  if (response.status >= 200 && response.status < 300) {
    const providerId = readText(body['msg_id'])
    return providerId
      ? { ok: true, providerId }
      : createFailure('unknown', 'unreadable_answer', 'The answer does not say whether the message was sent.')
  }
  const code = readText(body['code']) || readText(body['error_code']) || `http_${response.status}`
  const detail = readText(body['message']) || readText(body['detail']) || readText(body['error'])
  const { status } = response
  const retryAfterMs = parseRetryAfter(response.header('retry-after'), now)
  return { ...createFailure(classifyStatus(status), code, detail, retryAfterMs), status }
}

const toWire = ({ from, to, body, reference }: OutboundSms) => ({
  sender: from,
  message: body,
  recipient: Number(to.slice(1)),
  reference,
})

/** Creates a function that makes the call of one message. All calls share their time limits. */
function createCaller({ apiBase, apiKey, timeoutMs = 12_000 }: ProviderOptions) {
  const url = `${apiBase || standardBase}/mobile/single`
  const headers = { 'content-type': 'application/json', authorization: `Token ${apiKey}`, accept: 'application/json' }
  const limits = new SharedTimeLimits()
  const runWithLimit: typeof limits.run = (milliseconds, work) => limits.run(milliseconds, work)
  return (message: OutboundSms): Promise<ProviderResponse> =>
    callApi(url, { method: 'POST', headers, body: JSON.stringify(toWire(message)) }, timeoutMs, runWithLimit)
}

/**
 * Creates a gateway to GatewayAPI, with one call for each recipient: each has its own id and reference, and one bad
 * number fails alone, whereas the bulk call of the older API refuses all. GatewayAPI has no idempotency keys.
 */
export function createGatewayApi(options: ProviderOptions): SmsGateway {
  const call = createCaller(options)
  return {
    name: 'gatewayapi',
    batch: callsPerBatch,
    limits: { messagesPerCall: 1, callsPerSecond: null },
    deduplicates: false,
    reportsDelivery: true,
    send: (messages) =>
      sendValid(messages, findSmsFault, async (validMessages) => {
        if (!options.apiKey)
          return validMessages.map(() => createFailure('configuration', 'missing_api_key', 'SMS_API_KEY is not set.'))
        const results: SendResult[] = []
        for (const message of validMessages) {
          const result = readResult(await call(message), options.now())
          results.push(result)
          // The other messages would get the same response, so they are not sent.
          if (!result.ok && (result.kind === 'rate_limited' || result.kind === 'configuration'))
            return validMessages.map((_, index) => results[index] ?? result)
        }
        return results
      }),
  }
}
