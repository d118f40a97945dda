import {
  createFailure,
  describeMissingProvider,
  noProvider,
  providerNotConfigured,
} from '../../domain/messaging/messaging.ts'
import type { EmailGateway } from '../email/email.ts'
import type { SmsGateway } from '../sms/sms.ts'

const properties = {
  name: noProvider,
  batch: 100,
  limits: { messagesPerCall: 100, callsPerSecond: null },
  deduplicates: true,
  reportsDelivery: false,
}

/** Refuses every e-mail. */
export const createUnconfiguredEmail = (): EmailGateway => ({
  ...properties,
  bulk: true,
  send: async (messages) =>
    messages.map(() => createFailure('configuration', providerNotConfigured, describeMissingProvider('email'))),
})

/** Refuses every SMS. */
export const createUnconfiguredSms = (): SmsGateway => ({
  ...properties,
  send: async (messages) =>
    messages.map(() => createFailure('configuration', providerNotConfigured, describeMissingProvider('sms'))),
})
