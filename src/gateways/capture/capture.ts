import { formatMailbox } from '../../domain/messaging/mailbox.ts'
import { failure, type SendResult, type Channel } from '../../domain/messaging/messaging.ts'
import { findEmailRefusal, findSmsRefusal, sendAcceptable } from '../acceptable/acceptable.ts'
import type { EmailGateway } from '../email/email.ts'
import type { SmsGateway } from '../sms/sms.ts'

async function storeMessages(
  store: CaptureStore,
  key: string,
  messages: readonly CapturedMessage[],
): Promise<SendResult[]> {
  try {
    const ids = await store.store(key, messages)
    return ids.map((id) =>
      id === null
        ? failure('unknown', 'idempotency_mismatch', 'This key was used for another message before.')
        : { ok: true, providerId: id },
    )
  } catch (error) {
    // Either the messages were not stored, or a repeated call finds them.
    return messages.map(() => failure('transient', 'store_failed', error instanceof Error ? error.message : 'fault'))
  }
}

const traits = { name: 'capture', batch: 100, deduplicates: true, reportsDelivery: false }

/** Stores e-mails instead of sending them. */
export const captureEmail = (store: CaptureStore): EmailGateway => ({
  ...traits,
  bulk: true,
  send: (messages, key) =>
    sendAcceptable(messages, findEmailRefusal, (acceptable) =>
      storeMessages(
        store,
        key,
        acceptable.map(({ from, to, replyTo, subject, html, text, headers, reference }) => ({
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
export const captureSms = (store: CaptureStore): SmsGateway => ({
  ...traits,
  send: (messages, key) =>
    sendAcceptable(messages, findSmsRefusal, (acceptable) =>
      storeMessages(
        store,
        key,
        acceptable.map(({ from, to, body, reference }) => ({
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

/** A message that would have been sent. */
export interface CapturedMessage {
  channel: Channel | 'wallet'
  reference: string
  from: string
  to: string
  replyTo: string | null
  subject: string
  html: string
  /** The plain text of an e-mail, or the whole SMS. */
  body: string
  headers: Readonly<Record<string, string>>
}

export interface CaptureStore {
  /** Stores messages once per key and returns their ids. Null: the key has stored another message. */
  store: (key: string, messages: readonly CapturedMessage[]) => Promise<(string | null)[]>
}
