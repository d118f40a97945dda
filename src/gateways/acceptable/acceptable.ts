import { isE164 } from '../../domain/accounts/users.ts'
import { isAddress } from '../../domain/messaging/mailbox.ts'
import { failure, type SendResult } from '../../domain/messaging/messaging.ts'
import type { OutboundEmail } from '../email/email.ts'
import type { OutboundSms } from '../sms/sms.ts'

const hasLineEnd = (text: string | null): boolean => text !== null && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
/** Providers accept such a text as a tag and return it unchanged. */
const isReference = (text: string): boolean => /^[\w-]{1,200}$/.test(text)
const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/** The reason why no provider may get this message, or null. */
export function findEmailRefusal(message: OutboundEmail): SendResult | null {
  const { from, to, replyTo, subject, headers, reference } = message
  const headerEntries = Object.entries(headers)
  const inHeaders = [from.name, from.address, to.name, to.address, replyTo, subject, reference, ...headerEntries.flat()]
  if (inHeaders.some(hasLineEnd) || headerEntries.some(([name]) => !headerName.test(name)))
    return failure('permanent', 'invalid_header', 'A header value contains a line end.')
  if (!isReference(reference))
    return failure('permanent', 'invalid_reference', 'The reference may contain only letters, digits, _ and -.')
  if (!isAddress(to.address)) return failure('permanent', 'invalid_address', 'The recipient is not an address.')
  if (!isAddress(from.address) || (replyTo !== null && !isAddress(replyTo)))
    return failure('permanent', 'invalid_sender', 'The sender is not an address.')
  return null
}

export function findSmsRefusal(message: OutboundSms): SendResult | null {
  if ([message.from, message.to, message.reference].some(hasLineEnd))
    return failure('permanent', 'invalid_header', 'A header value contains a line end.')
  if (!isReference(message.reference))
    return failure('permanent', 'invalid_reference', 'The reference may contain only letters, digits, _ and -.')
  if (!isE164(message.to))
    return failure('permanent', 'invalid_address', 'The recipient is not a phone number in E.164.')
  if (!/^([\p{L}\p{N} ._-]{1,11}|\+?\d{3,15})$/u.test(message.from))
    return failure('permanent', 'invalid_sender', 'The sender is neither a name of at most 11 characters nor a number.')
  return null
}

/** Sends the messages that are not refused, and returns results in the order of all messages. Never throws. */
export async function sendAcceptable<Message>(
  messages: readonly Message[],
  findRefusal: (message: Message) => SendResult | null,
  send: (acceptable: readonly Message[]) => Promise<readonly SendResult[]>,
): Promise<SendResult[]> {
  const refusals = messages.map(findRefusal)
  const acceptable = messages.filter((_, index) => refusals[index] === null)
  const missingResult = failure('unknown', 'no_result', 'The response has no result for this message.')
  const results = acceptable.length
    ? await send(acceptable).catch((error: unknown) =>
        acceptable.map(() => failure('unknown', 'gateway_fault', error instanceof Error ? error.message : 'fault')),
      )
    : []
  let next = 0
  return refusals.map((refusal) => refusal ?? results[next++] ?? missingResult)
}
