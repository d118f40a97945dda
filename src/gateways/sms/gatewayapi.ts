import { isRecord } from '../../domain/text/json.ts'
import { failure, type SendFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { parseRetryAfter } from '../../domain/webhooks/webhooks.ts'
import { refusalOfSms, sendAcceptable } from '../acceptable/acceptable.ts'
import {
  callApi,
  type ProviderAnswer,
  failureWithoutAnswer,
  textOf,
  type ProviderOptions,
} from '../provider-api/post-json.ts'
import { SharedTimeLimits } from '../time-limit/shared-time-limits.ts'
import type { OutboundSms, SmsGateway } from './sms.ts'

const standardBase = 'https://messaging.gatewayapi.eu'
/**
 * As many calls, one after another, as are over before the lease of a campaign's chunk is, however slow they are. Not at
 * once: a consumer has four chunks, and the platform opens six connections for it. A call that had to wait for one would
 * time out before it was made, and the result would be unknown.
 */
const callsABatch = 2

function kindOfStatus(status: number): SendFailure {
  if (status === 429) return 'rate_limited'
  if (status === 503) return 'transient'
  // No key makes the call repeatable, and what broke on their side may have gone out before it broke.
  if (status >= 500 || status === 408) return 'unknown'
  // A fault of the account, such as its token or balance: every message would get this answer.
  return [400, 413, 422].includes(status) ? 'permanent' : 'configuration'
}

function resultOf(answer: ProviderAnswer, now: number): SendResult {
  if (!answer.came) return failureWithoutAnswer(answer.code)
  const said = isRecord(answer.body) ? answer.body : {}
  if (answer.status >= 200 && answer.status < 300) {
    const providerId = textOf(said['msg_id'])
    return providerId
      ? { ok: true, providerId }
      : failure('unknown', 'unreadable_answer', 'The answer does not say what became of it.')
  }
  const code = textOf(said['code']) || textOf(said['error_code']) || `http_${answer.status}`
  const detail = textOf(said['message']) || textOf(said['detail']) || textOf(said['error'])
  return failure(kindOfStatus(answer.status), code, detail, parseRetryAfter(answer.header('retry-after'), now))
}

const wireOf = ({ from, to, body, reference }: OutboundSms) => ({
  sender: from,
  message: body,
  recipient: Number(to.slice(1)),
  reference,
})

/** Makes the call of a message. The calls of a gateway share time limits, and all that is the same for each. */
function caller({ apiBase, apiKey, timeoutMs = 12_000 }: ProviderOptions) {
  const url = `${apiBase || standardBase}/mobile/single`
  const headers = { 'content-type': 'application/json', authorization: `Token ${apiKey}`, accept: 'application/json' }
  const limits = new SharedTimeLimits()
  const limited: typeof limits.run = (milliseconds, work) => limits.run(milliseconds, work)
  return (message: OutboundSms): Promise<ProviderAnswer> =>
    callApi(url, { method: 'POST', headers, body: JSON.stringify(wireOf(message)) }, timeoutMs, limited)
}

/**
 * GatewayAPI's mobile messages, one call a recipient: each has its own answer, id and reference, and one bad number
 * fails alone, where the bulk call of the older API refuses all. It has no keys that make a call repeatable.
 */
export function gatewayApi(options: ProviderOptions): SmsGateway {
  const call = caller(options)
  return {
    name: 'gatewayapi',
    batch: callsABatch,
    deduplicates: false,
    reportsDelivery: true,
    send: (messages) =>
      sendAcceptable(messages, refusalOfSms, async (acceptable) => {
        if (!options.apiKey)
          return acceptable.map(() => failure('configuration', 'missing_api_key', 'SMS_API_KEY is not set.'))
        const results: SendResult[] = []
        for (const message of acceptable) {
          const result = resultOf(await call(message), options.now())
          results.push(result)
          // The others would get the same answer, so no more calls are made: these messages were not sent.
          if (!result.ok && (result.kind === 'rate_limited' || result.kind === 'configuration'))
            return acceptable.map((_, index) => results[index] ?? result)
        }
        return results
      }),
  }
}
