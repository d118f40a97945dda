import { formatMailbox } from '../../domain/messaging/mailbox.ts'
import { type Channel, createFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import type { EmailGateway } from '../email/email.ts'
import { findEmailFault, findSmsFault, sendValid } from '../message-checks/message-checks.ts'
import type { SmsGateway } from '../sms/sms.ts'

/** A message as it would have been sent. */
export interface CapturedMessage {
  channel: Channel | 'wallet'
  reference: string
  from: string
  to: string
  replyTo: string | null
  subject: string
  html: string
  /** The plain text of an e-mail, or the text of an SMS. */
  body: string
  headers: Readonly<Record<string, string>>
}

export interface CaptureStore {
  /** Stores messages once for a key and returns their ids. An id is null when the key has stored another message. */
  save: (key: string, messages: readonly CapturedMessage[]) => Promise<(string | null)[]>
}

async function storeMessages(
  store: CaptureStore,
  key: string,
  messages: readonly CapturedMessage[],
): Promise<SendResult[]> {
  try {
    const ids = await store.save(key, messages)
    return ids.map((id) =>
      id === null
        ? createFailure('unknown', 'idempotency_mismatch', 'This key was used for another message.')
        : { ok: true, providerId: id },
    )
  } catch (error) {
    // Repeating the call is safe: it finds messages that were stored.
    return messages.map(() =>
      createFailure('transient', 'store_failed', error instanceof Error ? error.message : 'fault'),
    )
  }
}

const properties = {
  name: 'capture',
  batch: 100,
  limits: { messagesPerCall: 100, callsPerSecond: null },
  deduplicates: true,
  reportsDelivery: false,
}

/** Stores e-mails instead of sending them. */
export const createEmailCapture = (store: CaptureStore): EmailGateway => ({
  ...properties,
  bulk: true,
  send: (messages, key) =>
    sendValid(messages, findEmailFault, (validMessages) =>
      storeMessages(
        store,
        key,
        validMessages.map(({ from, to, replyTo, subject, html, text, headers, reference }) => ({
          channel: 'email',
          reference,
          from: formatMailbox(from),
          to: formatMailbox(to),
          replyTo,
          subject,
          html,
          body: text,
          headers,
        })),
      ),
    ),
})

/** Stores SMS instead of sending them. */
export const createSmsCapture = (store: CaptureStore): SmsGateway => ({
  ...properties,
  send: (messages, key) =>
    sendValid(messages, findSmsFault, (validMessages) =>
      storeMessages(
        store,
        key,
        validMessages.map(({ from, to, body, reference }) => ({
          channel: 'sms',
          reference,
          from,
          to,
          replyTo: null,
          subject: '',
          html: '',
          body,
          headers: {},
        })),
      ),
    ),
})
