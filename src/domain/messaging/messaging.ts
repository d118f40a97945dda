import { describeServiceFault, services } from '../waiting.ts'

export const channels = ['email', 'sms'] as const
export type Channel = (typeof channels)[number]

/** The channels of messages in the dev mailbox, which also stores wallet passes. */
export const capturedChannels = [...channels, 'wallet'] as const

/** The limits of a provider. */
export interface SendingLimits {
  messagesPerCall: number
  /** Null: the provider states no limit. */
  callsPerSecond: number | null
}

/**
 * permanent: this message can never be sent. transient, rate_limited: nothing was sent, and another try may succeed.
 * unknown: no answer came, so the message may have been sent. configuration: no message can be sent before somebody
 * corrects the account at the provider. sender: no message from this address can be sent before it is verified.
 */
const sendFailures = ['permanent', 'transient', 'rate_limited', 'unknown', 'configuration', 'sender'] as const
export type SendFailure = (typeof sendFailures)[number]

interface FailedSend {
  ok: false
  kind: SendFailure
  code: string
  detail: string
  retryAfterMs: number | null
  /** The HTTP status of the provider's answer, if there was one. */
  status?: number
}

export type SendResult = { ok: true; providerId: string } | FailedSend

export const createFailure = (
  kind: SendFailure,
  code: string,
  detail: string,
  retryAfterMs: number | null = null,
): FailedSend => ({ ok: false, kind, code, detail, retryAfterMs })

/** Says what the provider of a channel does wrong, for example "The e-mail provider answers 500." */
export function describeSendFault(channel: Channel, { kind, code, detail, status }: FailedSend): string {
  if (status !== undefined) return describeServiceFault(channel, { status })
  if (kind === 'unknown') return describeServiceFault(channel, { status: null })
  if (kind === 'rate_limited') return `${services[channel]} limits the number of calls.`
  return `${services[channel]} cannot be used: ${detail || code}`
}

/** The name of a provider that is not configured. */
export const noProvider = 'none'

const channelNouns: Record<Channel, { noun: string; variable: string }> = {
  email: { noun: 'e-mail', variable: 'EMAIL_PROVIDER' },
  sms: { noun: 'SMS', variable: 'SMS_PROVIDER' },
}

/** Says that nothing is sent through a channel, and what the operator of the service has to set. */
export const describeMissingProvider = (channel: Channel): string =>
  `This service has no ${channelNouns[channel].noun} provider. Its operator has to set ${channelNouns[channel].variable}.`

export const providerNotConfigured = 'provider_not_configured'

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

/** An event of a message, in the terms of this service. Events arrive in any order and any number of times. */
export interface ProviderEvent {
  /** The provider's id of the event, or a hash of the event. */
  id: string
  type: (typeof providerEventTypes)[number]
  /** Our reference of the message. */
  reference: string | null
  providerId: string | null
  address: string | null
  /** Milliseconds UTC. */
  at: number
  /**
   * Set for a bounce. hard: the address does not work. soft: it may work later. block: the receiver refused the
   * message.
   */
  bounce: 'hard' | 'soft' | 'block' | null
  url: string | null
  detail: string
}
