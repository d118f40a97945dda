import { isE164 } from '../../domain/accounts/users.ts'
import { isEmailAddress } from '../../domain/messaging/mailbox.ts'
import { createFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import type { OutboundEmail } from '../email/email.ts'
import type { OutboundSms } from '../sms/sms.ts'

const containsLineEnd = (text: string | null): boolean => text !== null && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
/** Whether providers accept the text as a tag and return it unchanged. */
const isReference = (text: string): boolean => /^[\w-]{1,200}$/.test(text)
const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/** Why this message is not sent to any provider; null for one that may be sent. */
export function findEmailFault(message: OutboundEmail): SendResult | null {
  const { from, to, replyTo, subject, headers, reference } = message
  const named = Object.entries(headers)
  const inHeaders = [from.name, from.address, to.name, to.address, replyTo, subject, reference, ...named.flat()]
  if (inHeaders.some(containsLineEnd) || named.some(([name]) => !headerName.test(name)))
    return createFailure('permanent', 'invalid_header', 'A line end where a header is made of it.')
  if (!isReference(reference)) return createFailure('permanent', 'invalid_reference', 'Letters, digits, _ and - only.')
  if (!isEmailAddress(to.address))
    return createFailure('permanent', 'invalid_address', 'The recipient is not an address.')
  if (!isEmailAddress(from.address) || (replyTo !== null && !isEmailAddress(replyTo)))
    return createFailure('permanent', 'invalid_sender', 'The sender is not an address.')
  return null
}

export function findSmsFault(message: OutboundSms): SendResult | null {
  if ([message.from, message.to, message.reference].some(containsLineEnd))
    return createFailure('permanent', 'invalid_header', 'A line end where a header is made of it.')
  if (!isReference(message.reference))
    return createFailure('permanent', 'invalid_reference', 'Letters, digits, _ and - only.')
  if (!isE164(message.to))
    return createFailure('permanent', 'invalid_address', 'Not a telephone number in E.164 format.')
  if (!/^([\p{L}\p{N} ._-]{1,11}|\+?\d{3,15})$/u.test(message.from))
    return createFailure('permanent', 'invalid_sender', 'Neither a name of 11 characters nor a number.')
  return null
}

/** Sends what is not refused, and puts the results into the order of the messages. Throws nothing. */
export async function sendAcceptable<Message>(
  messages: readonly Message[],
  refusalOf: (message: Message) => SendResult | null,
  send: (acceptable: readonly Message[]) => Promise<readonly SendResult[]>,
): Promise<SendResult[]> {
  const refusals = messages.map(refusalOf)
  const acceptable = messages.filter((_, index) => refusals[index] === null)
  const lost = createFailure('unknown', 'no_result', 'The answer says nothing of this message.')
  const results = acceptable.length
    ? await send(acceptable).catch((error: unknown) =>
        acceptable.map(() =>
          createFailure('unknown', 'gateway_fault', error instanceof Error ? error.message : 'fault'),
        ),
      )
    : []
  let at = 0
  return refusals.map((refusal) => refusal ?? results[at++] ?? lost)
}
