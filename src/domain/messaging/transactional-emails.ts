import { AppError } from '../errors.ts'
import { lifecycle } from '../lifecycle.ts'
import type { OrderStatus } from '../orders/orders.ts'
import { dayMs, hourMs, minuteMs } from '../time/instants.ts'
import type { SendFailure, SendResult } from './messaging.ts'
import { isDeadAddress, type SuppressionReason } from './suppressions.ts'

/** A message that failed because no answer came may still have been sent. */
export const transactionalEmailLifecycle = lifecycle('pending', {
  pending: ['sent', 'failed'],
  failed: ['sent'],
  sent: [],
})
export const transactionalEmailStatuses = transactionalEmailLifecycle.states
type TransactionalEmailStatus = (typeof transactionalEmailStatuses)[number]

/** Messages about a refund: it was paid, it was rejected, or it failed after it was reported as paid. */
export const refundEmailKinds = ['refund_confirmation', 'refund_rejection', 'refund_correction'] as const
export type RefundEmailKind = (typeof refundEmailKinds)[number]

/** Messages to customers of an organisation. */
export const customerEmailKinds = ['receipt', 'consent_confirmation', ...refundEmailKinds] as const
export type CustomerEmailKind = (typeof customerEmailKinds)[number]
export const transactionalEmailKinds = [
  ...customerEmailKinds,
  'signup_confirmation',
  'sign_in_code',
  'test_message',
] as const
type TransactionalEmailKind = (typeof transactionalEmailKinds)[number]

/** Messages that ask an address to confirm a consent. */
export const confirmationKinds = [
  'consent_confirmation',
  'signup_confirmation',
] as const satisfies readonly TransactionalEmailKind[]
const isConfirmation = (kind: TransactionalEmailKind): boolean => confirmationKinds.some((other) => other === kind)

/** An order shows this many of its mails. */
export const maxOrderEmails = 50

interface AddressedEmail {
  kind: TransactionalEmailKind
  created_at: number
  /** Why the address is suppressed, and since when. */
  suppression: SuppressionReason
  suppressed_at: number
}

/**
 * True if a message is not sent because its address is suppressed. Receipts go to all but dead addresses, and test
 * messages to no suppressed address. People who unsubscribed are asked to confirm what they agreed to afterwards.
 */
export const isBlockedBySuppression = ({ kind, created_at, suppression, suppressed_at }: AddressedEmail): boolean => {
  if (kind === 'test_message') return true
  if (!isConfirmation(kind)) return isDeadAddress(suppression)
  return suppression !== 'unsubscribed' || suppressed_at > created_at
}

/** A second message that asks to confirm the same answer is sent after this time at the earliest. */
export const confirmationIntervalMs = hourMs
/** An address that unsubscribed is asked to confirm an answer once in this time. */
export const returnIntervalMs = 30 * dayMs

/** Customers get a receipt for orders with these statuses. */
export const receiptStatuses: readonly OrderStatus[] = ['confirmed', 'completed']

/** The reasons for which a receipt or a test message that waits is not sent any more. */
export const withholdingReasons = {
  superseded: 'The receipt was sent again.',
  order_cancelled: 'The order was cancelled.',
  expired: 'The test message waited for a day.',
} as const
export type WithholdingCode = keyof typeof withholdingReasons

/** The receipt of an order is sent again after this time at the earliest. */
export const receiptIntervalMs = 5 * minuteMs

export interface ReceiptState {
  order_status: OrderStatus
  /** The present address of the customer. */
  email: string | null
  suppression: SuppressionReason | null
  /** Null for an edition that sends no receipts. */
  message_id: string | null
  /** When the latest receipt of the order was made; null before the first one. */
  latest_at: number | null
}

export type SendableReceipt = ReceiptState & { email: string; message_id: string }

/** Throws the reason why the receipt of an order cannot be sent now. */
export function checkReceipt(state: ReceiptState, now: number): asserts state is SendableReceipt {
  const { order_status, email, suppression, message_id, latest_at } = state
  if (!receiptStatuses.includes(order_status))
    throw new AppError('receipt_unavailable', `There is no receipt for an order that is ${order_status}.`, {
      extra: { reason: 'order_status', current_status: order_status },
    })
  if (message_id === null)
    throw new AppError('receipt_unavailable', 'The edition has no message for receipts.', {
      extra: { reason: 'no_message' },
    })
  if (email === null) throw new AppError('email_missing', 'This customer has no e-mail address.')
  if (suppression !== null && isDeadAddress(suppression))
    throw new AppError('address_suppressed', 'This e-mail address is suppressed.', { extra: { reason: suppression } })
  const waitMs = latest_at === null ? 0 : latest_at + receiptIntervalMs - now
  if (waitMs <= 0) return
  const retry_after = Math.ceil(waitMs / 1000)
  throw new AppError('receipt_sent_recently', 'The receipt of this order was sent less than five minutes ago.', {
    extra: { retry_after },
    headers: { 'retry-after': String(retry_after) },
  })
}

/** Longer than a call may take together with what comes before and after it. */
export const emailClaimMs = 120_000

const backoffMs = [30_000, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs, 2 * hourMs, 4 * hourMs]
const longestRestMs = 6 * hourMs
const shortestRestMs = 1000
/** The delay after a fault of the account, which has to be corrected by hand. */
export const configurationRestMs = 10 * minuteMs
export const configurationPatienceMs = 7 * 24 * hourMs
/** Messages of a failing sender wait at most this long. */
const longestSenderRestMs = hourMs
const isForPeople = (kind: SendFailure): boolean => kind === 'configuration' || kind === 'sender'
const patienceMs = 24 * hourMs
/** Providers remember the key of a call for a day. Repeating the call later would send the message again. */
const keyLifetimeMs = 23 * hourMs

export interface SendState {
  attempts: number
  created_at: number
  first_call_at: number | null
  /** True if a call was made whose result is unknown. */
  is_doubtful: boolean
}

export interface SendVerdict {
  status: TransactionalEmailStatus
  due_at: number | null
  is_doubtful: boolean
  /** True if the next attempt sends the same content. Otherwise the content is built again, maybe with another sender. */
  keeps_content: boolean
  provider_id: string | null
  error_code: string | null
  error_detail: string
}

const buildFinalVerdict = (
  status: 'sent' | 'failed',
  details: Partial<Omit<SendVerdict, 'status' | 'due_at'>> = {},
): SendVerdict => ({
  status,
  due_at: null,
  is_doubtful: false,
  keeps_content: false,
  provider_id: null,
  error_code: null,
  error_detail: '',
  ...details,
})

export const createFailedVerdict = (error_code: string, error_detail = ''): SendVerdict =>
  buildFinalVerdict('failed', { error_code, error_detail })

/** True if sending the message again cannot deliver it twice. */
export const mayRepeat = (state: SendState, deduplicates: boolean, now: number): boolean =>
  !state.is_doubtful || (deduplicates && now - (state.first_call_at ?? now) < keyLifetimeMs)

/** Computes the delay of the next attempt. It is the one that the provider requests, or grows with each failure. */
function restMs({ attempts }: SendState, kind: SendFailure, requestedMs: number | null): number {
  if (kind === 'rate_limited' && requestedMs !== null) return Math.max(shortestRestMs, requestedMs)
  const backoff = backoffMs[attempts - 1] ?? longestRestMs
  if (kind === 'sender') return Math.max(configurationRestMs, Math.min(backoff, longestSenderRestMs))
  return Math.max(kind === 'configuration' ? configurationRestMs : backoff, requestedMs ?? 0)
}

/** Decides what becomes of a message after an attempt. `state` is the one before the call; `attempts` counts this attempt. */
export function judgeSend(state: SendState, result: SendResult, deduplicates: boolean, now: number): SendVerdict {
  if (result.ok) return buildFinalVerdict('sent', { provider_id: result.providerId })
  const { kind, code, detail, retryAfterMs } = result
  const is_doubtful = kind === 'unknown' || state.is_doubtful
  if (kind === 'permanent') return createFailedVerdict(code, detail)
  if (kind === 'unknown' && !deduplicates) return createFailedVerdict('unknown', `${code}: ${detail}`)
  const next = now + restMs(state, kind, retryAfterMs)
  const began = state.first_call_at ?? now
  if (is_doubtful && next - began >= keyLifetimeMs) return createFailedVerdict('unknown', `${code}: ${detail}`)
  const patience = isForPeople(kind) ? configurationPatienceMs : patienceMs
  if (next - began >= patience) return createFailedVerdict(code, detail)
  return {
    ...buildFinalVerdict('sent'),
    status: 'pending',
    due_at: next,
    is_doubtful,
    keeps_content: is_doubtful || !isForPeople(kind),
    error_code: code,
    error_detail: detail,
  }
}
