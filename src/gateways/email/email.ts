import type { Mailbox } from '../../domain/messaging/mailbox.ts'
import type { DnsRecord } from '../../domain/messaging/sender-domains.ts'
import type { SendResult } from '../../domain/messaging/messaging.ts'

/** Texts for headers may not contain a line end: gateways refuse such a message as permanent. */
export interface OutboundEmail {
  from: Mailbox
  to: Mailbox
  replyTo: string | null
  subject: string
  html: string
  text: string
  headers: Readonly<Record<string, string>>
  /** Our id of this message to this person, of letters, digits, _ and -; the provider's events come back with it. */
  reference: string
}

/** A sender domain as the provider has it. */
export interface ProviderDomain {
  id: string
  is_verified: boolean
  /** Names are as the provider writes them: some below the registered domain, without it. */
  records: readonly DnsRecord[]
}

export interface ProviderDomains {
  /** Adds the domain to the account where it is not there, and answers its state; null when there was no answer. */
  check(domain: string, knownId: string | null): Promise<ProviderDomain | null>
}

export interface EmailGateway {
  name: string
  /** The most messages of one call. */
  batch: number
  /** Whether a call that is repeated with the same key and the same messages sends once. */
  deduplicates: boolean
  /** Whether campaigns may go through it, and not single transactional messages only. */
  bulk: boolean
  /** Whether it reports deliveries; otherwise what it accepted counts as delivered. */
  reportsDelivery: boolean
  /** Present when the provider sends only from domains that its account has verified. */
  domains?: ProviderDomains
  /** One result for each message, in their order. Never throws. */
  send(messages: readonly OutboundEmail[], idempotencyKey: string): Promise<SendResult[]>
}
