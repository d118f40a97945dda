import type { Mailbox } from '../../domain/messaging/mailbox.ts'
import type { SendingLimits, SendResult } from '../../domain/messaging/messaging.ts'
import type { DnsRecord } from '../../domain/messaging/sender-domains.ts'

/** Gateways refuse a message with a line break in the text of a header. */
export interface OutboundEmail {
  from: Mailbox
  to: Mailbox
  replyTo: string | null
  subject: string
  html: string
  text: string
  headers: Readonly<Record<string, string>>
  /** Our id of the message, made of letters, digits, _ and -. The provider's events return it. */
  reference: string
}

/** The provider's state of a sender domain. */
export interface ProviderDomain {
  id: string
  is_verified: boolean
  /** Providers write names in full, or relative to the domain. */
  records: readonly DnsRecord[]
}

export interface ProviderDomains {
  /** Adds the domain to the account when it is missing, and returns its state. Returns null without a response. */
  check(domain: string, storedId: string | null): Promise<ProviderDomain | null>
}

export interface EmailGateway {
  name: string
  /** The largest number of messages in one call. */
  batch: number
  limits: SendingLimits
  /** True if repeating a call with the same key and messages sends nothing twice. */
  deduplicates: boolean
  /** True if the provider allows campaigns. Some allow transactional messages only. */
  bulk: boolean
  /** True if the provider reports deliveries. Otherwise every accepted message counts as delivered. */
  reportsDelivery: boolean
  /** Set when the provider sends only from domains that its account has verified. */
  domains?: ProviderDomains
  /** Returns one result for each message, in their order. Never throws. */
  send(messages: readonly OutboundEmail[], idempotencyKey: string): Promise<SendResult[]>
}
