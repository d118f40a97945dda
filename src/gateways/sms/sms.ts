import type { SendingLimits, SendResult } from '../../domain/messaging/messaging.ts'

export interface OutboundSms {
  /** A name of at most 11 letters and digits, or a number. */
  from: string
  /** A phone number in E.164 format. */
  to: string
  body: string
  /** Our id of the message, made of letters, digits, _ and -. The provider's events return it. */
  reference: string
}

export interface SmsGateway {
  name: string
  /** The largest number of messages in one call. */
  batch: number
  limits: SendingLimits
  /** True if repeating a call with the same key and messages sends nothing twice. */
  deduplicates: boolean
  /** True if the provider reports deliveries. Otherwise every accepted message counts as delivered. */
  reportsDelivery: boolean
  /** Returns one result for each message, in their order. Never throws. */
  send(messages: readonly OutboundSms[], idempotencyKey: string): Promise<SendResult[]>
}
