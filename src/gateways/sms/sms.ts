import type { SendResult } from '../../domain/messaging/messaging.ts'

export interface OutboundSms {
  /** A name of at most 11 letters and digits, or a number. */
  from: string
  /** E.164. */
  to: string
  body: string
  /** Our id of the message, of letters, digits, _ and -. The provider's events contain it. */
  reference: string
}

export interface SmsGateway {
  name: string
  /** The maximum number of messages in one call. */
  batch: number
  /** True if a call that is repeated with the same key sends the messages only once. */
  deduplicates: boolean
  /** False: accepted messages count as delivered, because the provider does not report deliveries. */
  reportsDelivery: boolean
  /** Returns one result for each message, in order. Never throws. */
  send(messages: readonly OutboundSms[], idempotencyKey: string): Promise<SendResult[]>
}
