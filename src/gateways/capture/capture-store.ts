import type { Channel } from '../../domain/messaging/messaging.ts'

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
