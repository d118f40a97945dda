import type { ProviderEvent } from '../../domain/messaging/messaging.ts'
import { resendEvents } from '../email/resend-events.ts'
import { readGatewayApiEvents } from '../sms/gatewayapi-events.ts'
import type { EventRequest } from './event-request.ts'

export type { EventRequest }

interface ProviderSecrets {
  email: { webhookSecret: string }
  sms: { webhookSecret: string }
}

const readers = {
  resend: ({ email }: ProviderSecrets, request: EventRequest, now: number) =>
    resendEvents(email.webhookSecret, request, now),
  gatewayapi: ({ sms }: ProviderSecrets, request: EventRequest, now: number) =>
    readGatewayApiEvents(sms.webhookSecret, request, now),
}

export type EventProvider = keyof typeof readers

/** Providers that report deliveries and bounces. */
export const isEventProvider = (name: string): name is EventProvider => Object.hasOwn(readers, name)

/** The events in a provider's request. Null: the signature is invalid, or no secret is configured. */
export const readProviderEvents = (
  config: ProviderSecrets,
  provider: EventProvider,
  request: EventRequest,
  now: number,
): Promise<ProviderEvent[] | null> => readers[provider](config, request, now)
