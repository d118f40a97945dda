import type { ProviderEvent } from '../../domain/messaging/messaging.ts'
import { readResendEvents } from '../email/resend-events.ts'
import { readGatewayApiEvents } from '../sms/gatewayapi-events.ts'
import type { EventRequest } from './event-request.ts'

export type { EventRequest }

interface ProviderSecrets {
  email: { webhookSecret: string }
  sms: { webhookSecret: string }
}

const readers = {
  resend: ({ email }: ProviderSecrets, request: EventRequest, now: number) =>
    readResendEvents(email.webhookSecret, request, now),
  gatewayapi: ({ sms }: ProviderSecrets, request: EventRequest, now: number) =>
    readGatewayApiEvents(sms.webhookSecret, request, now),
}

export type EventProvider = keyof typeof readers

export const isEventProvider = (name: string): name is EventProvider => Object.hasOwn(readers, name)

/** Returns null for an invalid signature, and when no secret is configured. */
export const readProviderEvents = (
  config: ProviderSecrets,
  provider: EventProvider,
  request: EventRequest,
  now: number,
): Promise<ProviderEvent[] | null> => readers[provider](config, request, now)
