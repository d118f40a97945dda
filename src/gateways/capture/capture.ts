import { formatMailbox } from '../../domain/messaging/mailbox.ts'
import { failure, type SendResult, type Channel } from '../../domain/messaging/messaging.ts'
import { findEmailRefusal, findSmsRefusal, sendAcceptable } from '../acceptable/acceptable.ts'
import type { EmailGateway } from '../email/email.ts'
import type { SmsGateway } from '../sms/sms.ts'

async function keep(store: CaptureStore, key: string, messages: readonly CapturedMessage[]): Promise<SendResult[]> {
  try {
    const ids = await store.keep(key, messages)
    return ids.map((id) =>
      id === null
        ? failure('unknown', 'idempotency_mismatch', 'This key has sent another message before.')
        : { ok: true, providerId: id },
    )
  } catch (error) {
    // Without an answer the messages were not stored, or a repeated call finds them.
    return messages.map(() => failure('transient', 'store_failed', error instanceof Error ? error.message : 'fault'))
  }
}

const traits = { name: 'capture', batch: 100, deduplicates: true, reportsDelivery: false }

/** Keeps e-mails instead of sending them. */
export const captureEmail = (store: CaptureStore): EmailGateway => ({
  ...traits,
  bulk: true,
  send: (messages, key) =>
    sendAcceptable(messages, findEmailRefusal, (acceptable) =>
      keep(
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

/** Keeps SMS instead of sending them. */
export const captureSms = (store: CaptureStore): SmsGateway => ({
  ...traits,
  send: (messages, key) =>
    sendAcceptable(messages, findSmsRefusal, (acceptable) =>
      keep(
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

/** A message as it would have been sent. */
export interface CapturedMessage {
  channel: Channel | 'wallet'
  reference: string
  from: string
  to: string
  replyTo: string | null
  subject: string
  html: string
  /** The text; of an SMS the whole message. */
  body: string
  headers: Readonly<Record<string, string>>
}

export interface CaptureStore {
  /** Stores messages once for a key, and answers their ids in order; null when the key has stored other messages. */
  keep: (key: string, messages: readonly CapturedMessage[]) => Promise<(string | null)[]>
}
