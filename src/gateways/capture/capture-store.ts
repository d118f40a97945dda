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
  /** The text, of an SMS all of it. */
  body: string
  headers: Readonly<Record<string, string>>
}

export interface CaptureStore {
  /** Keeps them once for a key, and answers their ids in order; null for what is not what the key has kept before. */
  keep: (key: string, messages: readonly CapturedMessage[]) => Promise<(string | null)[]>
}
