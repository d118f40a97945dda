import { isRecord } from '../../domain/text/json.ts'
import { failure, type SendFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { parseRetryAfter } from '../../domain/webhooks/webhooks.ts'
import { findSmsRefusal, sendAcceptable } from '../acceptable/acceptable.ts'
import {
  callApi,
  type ProviderAnswer,
  failureWithoutAnswer,
  readText,
  type ProviderOptions,
} from '../provider-api/post-json.ts'
import { SharedTimeLimits } from '../time-limit/time-limit.ts'
import type { OutboundSms, SmsGateway } from './sms.ts'

const standardBase = 'https://messaging.gatewayapi.eu'
/**
 * The calls of a batch are made one after another, and so few that they end before the claim of a campaign's chunk. Parallel
 * calls could exceed the six connections of an invocation, and a call that waits for a connection would time out with an
 * unknown result.
 */
const callsPerBatch = 2

function classifyStatus(status: number): SendFailure {
  if (status === 429) return 'rate_limited'
  if (status === 503) return 'transient'
  // The API has no idempotency keys, and it may have sent the message before it failed.
  if (status >= 500 || status === 408) return 'unknown'
  // The token or the balance of the account is at fault, so every message would fail.
  return [400, 413, 422].includes(status) ? 'permanent' : 'configuration'
}

function readResult(answer: ProviderAnswer, now: number): SendResult {
  if (!answer.came) return failureWithoutAnswer(answer.code)
  const fields = isRecord(answer.body) ? answer.body : {}
  if (answer.status >= 200 && answer.status < 300) {
    const providerId = readText(fields['msg_id'])
    return providerId
      ? { ok: true, providerId }
      : failure('unknown', 'unreadable_answer', 'The response does not say whether the message was sent.')
  }
  const code = readText(fields['code']) || readText(fields['error_code']) || `http_${answer.status}`
  const detail = readText(fields['message']) || readText(fields['detail']) || readText(fields['error'])
  return failure(classifyStatus(answer.status), code, detail, parseRetryAfter(answer.header('retry-after'), now))
}

const toWire = ({ from, to, body, reference }: OutboundSms) => ({
  sender: from,
  message: body,
  recipient: Number(to.slice(1)),
  reference,
})

/** Returns a function that sends one message. Its calls share their time limits. */
function createSender({ apiBase, apiKey, timeoutMs = 12_000 }: ProviderOptions) {
  const url = `${apiBase || standardBase}/mobile/single`
  const headers = { 'content-type': 'application/json', authorization: `Token ${apiKey}`, accept: 'application/json' }
  const limits = new SharedTimeLimits()
  const runLimited: typeof limits.run = (milliseconds, work) => limits.run(milliseconds, work)
  return (message: OutboundSms): Promise<ProviderAnswer> =>
    callApi(url, { method: 'POST', headers, body: JSON.stringify(toWire(message)) }, timeoutMs, runLimited)
}

/**
 * Sends SMS with GatewayAPI, one call per recipient: each has its own result, and a bad number fails alone, while the bulk
 * call of the older API would refuse all. The API has no idempotency keys.
 */
export function gatewayApi(options: ProviderOptions): SmsGateway {
  const send = createSender(options)
  return {
    name: 'gatewayapi',
    batch: callsPerBatch,
    deduplicates: false,
    reportsDelivery: true,
    send: (messages) =>
      sendAcceptable(messages, findSmsRefusal, async (acceptable) => {
        if (!options.apiKey)
          return acceptable.map(() => failure('configuration', 'missing_api_key', 'SMS_API_KEY is not set.'))
        const results: SendResult[] = []
        for (const message of acceptable) {
          const result = readResult(await send(message), options.now())
          results.push(result)
          // The other messages would fail in the same way, so they are not sent.
          if (!result.ok && (result.kind === 'rate_limited' || result.kind === 'configuration'))
            return acceptable.map((_, index) => results[index] ?? result)
        }
        return results
      }),
  }
}
