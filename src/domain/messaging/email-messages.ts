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

/** Who owns a message: the platform, an organisation or one edition. */
export const emailMessageScopes = ['platform', 'template', 'edition'] as const
export type EmailMessageScope = (typeof emailMessageScopes)[number]

export const emailTemplates = ['modern'] as const

/** The occasions on which an edition sends a message automatically. */
export const triggerKinds = ['receipt', 'refund_confirmation'] as const
export type TriggerKind = (typeof triggerKinds)[number]

/** The field of an edition that names the message of a trigger. */
export const editionFieldsByTrigger = {
  receipt: 'transaction_receipt_email_id',
  refund_confirmation: 'refund_confirmation_email_id',
} as const satisfies Record<TriggerKind, string>

const typesByTrigger: Record<TriggerKind, readonly EmailMessageType[]> = {
  receipt: receiptEmailTypes,
  refund_confirmation: refundConfirmationEmailTypes,
}

/** Finds the trigger that sends messages of this type. Returns null for types that people send. */
export const findTrigger = (type: string): TriggerKind | null =>
  triggerKinds.find((kind) => (typesByTrigger[kind] as readonly string[]).includes(type)) ?? null

/** Finds the fault when the scope of a message does not fit its edition. */
export const findScopeFault = (
  scope: EmailMessageScope,
  editionId: string | null,
): 'edition_missing' | 'edition_given' | null =>
  scope === 'edition' ? (editionId === null ? 'edition_missing' : null) : editionId === null ? null : 'edition_given'

export const maxTitleLength = 200

/** Builds the title of a copy, which differs from the original's. */
export const buildCopyTitle = (title: string): string => `${[...title].slice(0, maxTitleLength - 7).join('')} (copy)`
