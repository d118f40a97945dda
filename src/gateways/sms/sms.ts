import type { SendResult } from '../../domain/messaging/messaging.ts'

export interface OutboundSms {
  /** A name of at most 11 letters and digits, or a number. */
  from: string
  /** E.164. */
  to: string
  body: string
  /** Our id of this message to this person, of letters, digits, _ and -; the provider's events come back with it. */
  reference: string
}

export interface SmsGateway {
  name: string
  /** The most messages of one call. */
  batch: number
  /** Whether a call that is repeated with the same key and the same messages sends once. */
  deduplicates: boolean
  /** Whether it reports deliveries; otherwise what it accepted counts as delivered. */
  reportsDelivery: boolean
  /** One result for each message, in their order. Never throws. */
  send(messages: readonly OutboundSms[], idempotencyKey: string): Promise<SendResult[]>
}
