import { formatMailbox } from '../../domain/messaging/mailbox.ts'
import { createFailure, type SendResult } from '../../domain/messaging/messaging.ts'
import { findEmailFault, findSmsFault, sendAcceptable } from '../acceptable/acceptable.ts'
import type { EmailGateway } from '../email/email.ts'
import type { SmsGateway } from '../sms/sms.ts'
import type { CapturedMessage, CaptureStore } from './capture-store.ts'

async function storeMessages(
  store: CaptureStore,
  key: string,
  messages: readonly CapturedMessage[],
): Promise<SendResult[]> {
  try {
    const ids = await store.keep(key, messages)
    return ids.map((id) =>
      id === null
        ? createFailure('unknown', 'idempotency_mismatch', 'This key has sent another message before.')
        : { ok: true, providerId: id },
    )
  } catch (error) {
    // Without an answer the messages were not stored, or a repeated call finds them.
    return messages.map(() =>
      createFailure('transient', 'store_failed', error instanceof Error ? error.message : 'fault'),
    )
  }
}

const traits = { name: 'capture', batch: 100, deduplicates: true, reportsDelivery: false }

/** Keeps e-mails instead of sending them. */
export const createEmailCapture = (store: CaptureStore): EmailGateway => ({
  ...traits,
  bulk: true,
  send: (messages, key) =>
    sendAcceptable(messages, findEmailFault, (acceptable) =>
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

/** Keeps SMS instead of sending them. */
export const createSmsCapture = (store: CaptureStore): SmsGateway => ({
  ...traits,
  send: (messages, key) =>
    sendAcceptable(messages, findSmsFault, (acceptable) =>
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
