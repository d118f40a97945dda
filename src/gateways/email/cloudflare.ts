import { toAsciiAddress, type Mailbox } from '../../domain/messaging/mailbox.ts'
import { createFailure, type SendFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { isRecord } from '../../domain/text/json.ts'
import { minuteMs } from '../../domain/time/instants.ts'
import { findEmailFault, sendValid } from '../message-checks/message-checks.ts'
import { readText } from '../provider-api/call-api.ts'
import type { EmailGateway, OutboundEmail } from './email.ts'

/** The kind of failure for each pattern of the binding's error code. A code that matches none is `unknown`. */
const failureKinds: readonly [pattern: RegExp, kind: SendFailure, retryAfterMs: number | null][] = [
  [/RATE_LIMIT/, 'rate_limited', minuteMs],
  [/DAILY_LIMIT|QUOTA/, 'rate_limited', 60 * minuteMs],
  [/SENDER/, 'sender', null],
  [/DOMAIN|ENTITLED|AUTH/, 'configuration', null],
  [/RECIPIENT|VALIDATION|FIELD|HEADER|TOO_|CONTENT|DELIVERY_FAILED/, 'permanent', null],
]

function toFailure(error: unknown): SendResult {
  const name = isRecord(error) ? readText(error['code']) : ''
  const detail = error instanceof Error ? error.message.slice(0, 500) : ''
  const [, kind, wait] = failureKinds.find(([pattern]) => pattern.test(name)) ?? [null, 'unknown' as const, null]
  return createFailure(kind, name.toLowerCase() || 'gateway_fault', detail, wait)
}

const toWireAddress = ({ name, address }: Mailbox) =>
  name ? { name, email: toAsciiAddress(address) } : toAsciiAddress(address)

async function sendOne(binding: SendEmail, message: OutboundEmail): Promise<SendResult> {
  const { from, to, replyTo, subject, html, text, headers } = message
  try {
    const { messageId } = await binding.send({
      from: toWireAddress(from),
      to: toWireAddress(to),
      ...(replyTo === null ? {} : { replyTo: toAsciiAddress(replyTo) }),
      subject,
      html,
      text,
      headers: { ...headers },
    })
    return { ok: true, providerId: messageId }
  } catch (error) {
    return toFailure(error)
  }
}

/** Cloudflare's e-mail binding. Its terms allow transactional messages only, and it has no idempotency keys. */
export const createCloudflareGateway = (binding: SendEmail | undefined): EmailGateway => ({
  name: 'cloudflare',
  batch: 1,
  limits: { messagesPerCall: 1, callsPerSecond: null },
  deduplicates: false,
  bulk: false,
  reportsDelivery: false,
  send: (messages) =>
    sendValid(messages, findEmailFault, async (validMessages) => {
      if (!binding)
        return validMessages.map(() =>
          createFailure('configuration', 'missing_binding', 'The Worker has no binding `EMAIL`.'),
        )
      const results: SendResult[] = []
      for (const message of validMessages) results.push(await sendOne(binding, message))
      return results
    }),
})
