import { isE164 } from '../../domain/accounts/users.ts'
import { isEmailAddress } from '../../domain/messaging/mailbox.ts'
import { createFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import type { OutboundEmail } from '../email/email.ts'
import type { OutboundSms } from '../sms/sms.ts'

const containsLineEnd = (text: string | null): boolean => text !== null && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
/** True if providers accept the text as a tag and return it unchanged. */
const isReference = (text: string): boolean => /^[\w-]{1,200}$/.test(text)
const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/** Finds why a message cannot be handed to any provider. Returns null when it can. */
export function findEmailFault(message: OutboundEmail): SendResult | null {
  const { from, to, replyTo, subject, headers, reference } = message
  const headerEntries = Object.entries(headers)
  const inHeaders = [from.name, from.address, to.name, to.address, replyTo, subject, reference, ...headerEntries.flat()]
  if (inHeaders.some(containsLineEnd) || headerEntries.some(([name]) => !headerName.test(name)))
    return createFailure('permanent', 'invalid_header', 'A text for a header contains a line break.')
  if (!isReference(reference))
    return createFailure('permanent', 'invalid_reference', 'The reference may contain letters, digits, _ and - only.')
  if (!isEmailAddress(to.address))
    return createFailure('permanent', 'invalid_address', 'The recipient is not an e-mail address.')
  if (!isEmailAddress(from.address) || (replyTo !== null && !isEmailAddress(replyTo)))
    return createFailure('permanent', 'invalid_sender', 'The sender or the reply-to address is not an e-mail address.')
  return null
}

export function findSmsFault(message: OutboundSms): SendResult | null {
  if ([message.from, message.to, message.reference].some(containsLineEnd))
    return createFailure('permanent', 'invalid_header', 'A text for a header contains a line break.')
  if (!isReference(message.reference))
    return createFailure('permanent', 'invalid_reference', 'The reference may contain letters, digits, _ and - only.')
  if (!isE164(message.to))
    return createFailure('permanent', 'invalid_address', 'The recipient is not a phone number in E.164 format.')
  if (!/^([\p{L}\p{N} ._-]{1,11}|\+?\d{3,15})$/u.test(message.from))
    return createFailure(
      'permanent',
      'invalid_sender',
      'The sender is neither a name of at most 11 characters nor a number.',
    )
  return null
}

/** Sends the messages that have no fault, and returns the results of all in their order. Never throws. */
export async function sendValid<Message>(
  messages: readonly Message[],
  findFault: (message: Message) => SendResult | null,
  send: (validMessages: readonly Message[]) => Promise<readonly SendResult[]>,
): Promise<SendResult[]> {
  const faults = messages.map(findFault)
  const validMessages = messages.filter((_, index) => faults[index] === null)
  const missingResult = createFailure('unknown', 'no_result', 'The answer says nothing about this message.')
  const results = validMessages.length
    ? await send(validMessages).catch((error: unknown) =>
        validMessages.map(() =>
          createFailure('unknown', 'gateway_fault', error instanceof Error ? error.message : 'fault'),
        ),
      )
    : []
  let next = 0
  return faults.map((fault) => fault ?? results[next++] ?? missingResult)
}
