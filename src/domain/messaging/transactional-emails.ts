import { lifecycle } from '../lifecycle.ts'
import type { SendFailure, SendResult } from './messaging.ts'
import type { OrderStatus } from '../orders/orders.ts'
import { dayMs } from '../time/instants.ts'
import { isDeadAddress, type SuppressionReason } from './suppressions.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** A message that failed because no answer came may still have been sent. */
export const transactionalEmailLifecycle = lifecycle('pending', {
  pending: ['sent', 'failed'],
  failed: ['sent'],
  sent: [],
})
export const transactionalEmailStatuses = transactionalEmailLifecycle.states
type TransactionalEmailStatus = (typeof transactionalEmailStatuses)[number]

/** Messages about a refund: that it was paid back, that it was not granted, that a payment back failed after all. */
export const refundEmailKinds = ['refund_confirmation', 'refund_rejection', 'refund_correction'] as const
export type RefundEmailKind = (typeof refundEmailKinds)[number]

export const transactionalEmailKinds = ['receipt', 'consent_confirmation', ...refundEmailKinds] as const
export type TransactionalEmailKind = (typeof transactionalEmailKinds)[number]

interface AddressedEmail {
  kind: TransactionalEmailKind
  created_at: number
  /** Why the address is suppressed, and since when. */
  suppression: SuppressionReason
  suppressed_at: number
}

/**
 * Whether a message is not sent to a suppressed address. Receipts go to all but dead addresses. People who unsubscribed
 * are asked to confirm what they agreed to afterwards.
 */
export const keepsBack = ({ kind, created_at, suppression, suppressed_at }: AddressedEmail): boolean => {
  if (kind !== 'consent_confirmation') return isDeadAddress(suppression)
  return suppression !== 'unsubscribed' || suppressed_at > created_at
}

/** Another message to confirm the same answer is sent after this time at the earliest. */
export const confirmationIntervalMs = hourMs
/** An address that unsubscribed is asked to confirm an answer once in this time. */
export const returnIntervalMs = 30 * dayMs

/** Orders of these statuses are bought: their customers get a receipt. */
export const receiptStatuses: readonly OrderStatus[] = ['confirmed', 'completed']

/** Longer than a call may take together with what comes before and after it. */
export const emailLeaseMs = 120_000

const backoffMs = [30_000, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs, 2 * hourMs, 4 * hourMs]
const longestRestMs = 6 * hourMs
const shortestRestMs = 1000
/** The delay after a fault of the account, which has to be corrected by hand. */
const configurationRestMs = 10 * minuteMs
const configurationPatienceMs = 7 * 24 * hourMs
/** A failing sender must not block the others: later messages go first. */
const longestSenderRestMs = hourMs
const isForPeople = (kind: SendFailure): boolean => kind === 'configuration' || kind === 'sender'
const patienceMs = 24 * hourMs
/** Providers keep the keys of calls for a day: later, a repeated call would be a new one. */
const keyKeptMs = 23 * hourMs

export interface SendState {
  attempts: number
  created_at: number
  first_call_at: number | null
  /** A call was made, and its result is unknown. */
  is_doubtful: boolean
}

export interface SendVerdict {
  status: TransactionalEmailStatus
  next_attempt_at: number | null
  is_doubtful: boolean
  /** The next call has the same content; otherwise it is made anew, as after a sender was mended. */
  keeps_content: boolean
  provider_id: string | null
  error_code: string | null
  error_detail: string
}

const ended = (
  status: 'sent' | 'failed',
  more: Partial<Omit<SendVerdict, 'status' | 'next_attempt_at'>> = {},
): SendVerdict => ({
  status,
  next_attempt_at: null,
  is_doubtful: false,
  keeps_content: false,
  provider_id: null,
  error_code: null,
  error_detail: '',
  ...more,
})

export const failedFor = (error_code: string, error_detail = ''): SendVerdict =>
  ended('failed', { error_code, error_detail })

/** Whether a message whose call may have been received can be sent again without being sent twice. */
export const mayRepeat = (state: SendState, deduplicates: boolean, now: number): boolean =>
  !state.is_doubtful || (deduplicates && now - (state.first_call_at ?? now) < keyKeptMs)

/** The delay of the next attempt: that of the provider, otherwise longer after each failure. */
function restMs({ attempts }: SendState, kind: SendFailure, askedMs: number | null): number {
  if (kind === 'rate_limited' && askedMs !== null) return Math.max(shortestRestMs, askedMs)
  const backoff = backoffMs[attempts - 1] ?? longestRestMs
  if (kind === 'sender') return Math.max(configurationRestMs, Math.min(backoff, longestSenderRestMs))
  return Math.max(kind === 'configuration' ? configurationRestMs : backoff, askedMs ?? 0)
}

/** The message after an attempt. `state` is as it was before the call, `attempts` counts this one. */
export function judgeSend(state: SendState, result: SendResult, deduplicates: boolean, now: number): SendVerdict {
  if (result.ok) return ended('sent', { provider_id: result.providerId })
  const { kind, code, detail, retryAfterMs } = result
  const is_doubtful = kind === 'unknown' || state.is_doubtful
  if (kind === 'permanent') return failedFor(code, detail)
  if (kind === 'unknown' && !deduplicates) return failedFor('unknown', `${code}: ${detail}`)
  const next = now + restMs(state, kind, retryAfterMs)
  const began = state.first_call_at ?? now
  if (is_doubtful && next - began >= keyKeptMs) return failedFor('unknown', `${code}: ${detail}`)
  const patience = isForPeople(kind) ? configurationPatienceMs : patienceMs
  if (next - began >= patience) return failedFor(code, detail)
  return {
    ...ended('sent'),
    status: 'pending',
    next_attempt_at: next,
    is_doubtful,
    keeps_content: is_doubtful || !isForPeople(kind),
    error_code: code,
    error_detail: detail,
  }
}
