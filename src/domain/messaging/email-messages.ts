import { receiptEmailTypes, refundConfirmationEmailTypes } from '../editions/editions.ts'

export const emailMessageTypes = [
  'receipt',
  'receipt_online',
  'reminder',
  'refund_confirmation',
  'user_portal_access',
  'campaign',
  'other',
] as const
export type EmailMessageType = (typeof emailMessageTypes)[number]

/** The platform's own, an organisation's, or one edition's. */
export const emailMessageScopes = ['platform', 'template', 'edition'] as const
export type EmailMessageScope = (typeof emailMessageScopes)[number]

export const emailTemplates = ['modern'] as const

/** The occasions at which an edition sends a message by itself. */
export const triggerKinds = ['receipt', 'refund_confirmation'] as const
export type TriggerKind = (typeof triggerKinds)[number]

/** The field of an edition that names the message of a trigger, and the types that it takes. */
export const editionFieldOf = {
  receipt: 'transaction_receipt_email_id',
  refund_confirmation: 'refund_confirmation_email_id',
} as const satisfies Record<TriggerKind, string>

const typesOf: Record<TriggerKind, readonly EmailMessageType[]> = {
  receipt: receiptEmailTypes,
  refund_confirmation: refundConfirmationEmailTypes,
}

/** The trigger of messages of this type; null for types that people send. */
export const findTrigger = (type: string): TriggerKind | null =>
  triggerKinds.find((kind) => (typesOf[kind] as readonly string[]).includes(type)) ?? null

/** The fault when a message's scope and its edition disagree; null when they agree. */
export const scopeFault = (
  scope: EmailMessageScope,
  editionId: string | null,
): 'edition_missing' | 'edition_given' | null =>
  scope === 'edition' ? (editionId === null ? 'edition_missing' : null) : editionId === null ? null : 'edition_given'

export const maxTitleLength = 200

/** A title that differs from the one of the original. */
export const makeCopyTitle = (title: string): string => `${[...title].slice(0, maxTitleLength - 7).join('')} (copy)`
