import { isRecord } from '../../domain/text/json.ts'
import { asciiAddress, type Mailbox } from '../../domain/messaging/mailbox.ts'
import { failure, type SendFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { findEmailRefusal, sendAcceptable } from '../acceptable/acceptable.ts'
import { readText } from '../provider-api/post-json.ts'
import type { EmailGateway, OutboundEmail } from './email.ts'

const minuteMs = 60_000

/** The kinds of failure by a part of the binding's code; other codes are `unknown`. */
const kinds: readonly [part: RegExp, kind: SendFailure, retryAfterMs: number | null][] = [
  [/RATE_LIMIT/, 'rate_limited', minuteMs],
  [/DAILY_LIMIT|QUOTA/, 'rate_limited', 60 * minuteMs],
  [/SENDER/, 'sender', null],
  [/DOMAIN|ENTITLED|AUTH/, 'configuration', null],
  [/RECIPIENT|VALIDATION|FIELD|HEADER|TOO_|CONTENT|DELIVERY_FAILED/, 'permanent', null],
]

function failureOf(error: unknown): SendResult {
  const name = isRecord(error) ? readText(error['code']) : ''
  const detail = error instanceof Error ? error.message.slice(0, 500) : ''
  const [, kind, wait] = kinds.find(([part]) => part.test(name)) ?? [null, 'unknown' as const, null]
  return failure(kind, name.toLowerCase() || 'gateway_fault', detail, wait)
}

const addressOf = ({ name, address }: Mailbox) =>
  name ? { name, email: asciiAddress(address) } : asciiAddress(address)

async function sendOne(binding: SendEmail, message: OutboundEmail): Promise<SendResult> {
  const { from, to, replyTo, subject, html, text, headers } = message
  try {
    const { messageId } = await binding.send({
      from: addressOf(from),
      to: addressOf(to),
      ...(replyTo === null ? {} : { replyTo: asciiAddress(replyTo) }),
      subject,
      html,
      text,
      headers: { ...headers },
    })
    return { ok: true, providerId: messageId }
  } catch (error) {
    return failureOf(error)
  }
}

/** Cloudflare's own sending, whose terms allow transactional messages only. It has no keys that make a call repeatable. */
export const cloudflareGateway = (binding: SendEmail | undefined): EmailGateway => ({
  name: 'cloudflare',
  batch: 1,
  deduplicates: false,
  bulk: false,
  reportsDelivery: false,
  send: (messages) =>
    sendAcceptable(messages, findEmailRefusal, async (acceptable) => {
      if (!binding)
        return acceptable.map(() => failure('configuration', 'missing_binding', 'The Worker has no binding EMAIL.'))
      const results: SendResult[] = []
      for (const message of acceptable) results.push(await sendOne(binding, message))
      return results
    }),
})
