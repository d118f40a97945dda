/** The results of sending a message, and what providers report later. */
export const channels = ['email', 'sms'] as const
export type Channel = (typeof channels)[number]

/** The channels of messages in the dev mailbox, which also has wallet passes. */
export const capturedChannels = [...channels, 'wallet'] as const

/**
 * permanent: this message never goes. transient, rate_limited: nothing was sent, later it may. unknown: the answer never
 * came, so it may have been sent. configuration: no message is sent before the provider's account is corrected. sender:
 * none from this address goes until it is verified; those of other senders do.
 */
const sendFailures = ['permanent', 'transient', 'rate_limited', 'unknown', 'configuration', 'sender'] as const
export type SendFailure = (typeof sendFailures)[number]

export type SendResult =
  | { ok: true; providerId: string }
  | { ok: false; kind: SendFailure; code: string; detail: string; retryAfterMs: number | null }

export const createFailure = (
  kind: SendFailure,
  code: string,
  detail: string,
  retryAfterMs: number | null = null,
): SendResult => ({ ok: false, kind, code, detail, retryAfterMs })

const providerEventTypes = [
  'accepted',
  'deferred',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
  'failed',
] as const

/** One provider event of a message, in the terms of this service. Events arrive in any order and any number of times. */
export interface ProviderEvent {
  /** The provider's own id of this event, or a digest of it. */
  id: string
  type: (typeof providerEventTypes)[number]
  /** The service's reference of the message. */
  reference: string | null
  providerId: string | null
  address: string | null
  /** Milliseconds UTC. */
  at: number
  /** Of a bounce: hard, the address is dead; soft, it may work later; block, the receiver refused us, not the address. */
  bounce: 'hard' | 'soft' | 'block' | null
  url: string | null
  detail: string
}
