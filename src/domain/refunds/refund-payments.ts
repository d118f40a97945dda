import { isId } from '../ids.ts'
import { dayMs, hourMs, minuteMs } from '../time/instants.ts'

/**
 * Longer than a call and the database work around it. A consumer that outlives its claim repeats a call with its key.
 */
export const refundClaimMs = 90_000

/** Providers keep idempotency keys for a day. A later repetition would be a new call. */
const keyRetentionMs = 20 * hourMs
/** A call has ended after this time, with whatever result. */
const maxCallMs = 15 * minuteMs

/** An accepted refund is looked up at the provider after these delays, and then once a day. */
const pendingCheckDelays = [hourMs, 6 * hourMs, 24 * hourMs, 72 * hourMs]
const backoffMs = [minuteMs, 2 * minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs]
/** After this time, a person has to check a refund without a known outcome. */
const attentionAfterMs = 30 * dayMs
const checkIntervalAfterAttentionMs = 7 * dayMs

export const buildRefundKey = (id: string, attempt: number): string => `${id}:${attempt}`

const keyPattern = /^(rfr_[0-9A-Za-z]{26,28}):[1-9]\d{0,8}$/

/** Parses the id of the refund request from an idempotency key. Returns null for keys of other systems. */
export function parseRefundKey(key: string | null): string | null {
  const id = keyPattern.exec(key ?? '')?.[1] ?? ''
  return isId('refund_request', id) ? id : null
}

export interface RefundProgress {
  provider_reference: string | null
  /** When the idempotency key was stored or, for a refund that was made at the provider, when it was recorded. */
  began_at: number
  /** True if no call has been made with the key yet. */
  is_first_call: boolean
}

/** Chooses how to learn the result of a refund: by the call, which its key makes safe to repeat, or by a lookup. */
export function chooseStep(progress: RefundProgress, isIdempotent: boolean, now: number): 'call' | 'look up' {
  if (progress.is_first_call) return 'call'
  if (progress.provider_reference !== null || !isIdempotent) return 'look up'
  return now - progress.began_at < keyRetentionMs ? 'call' : 'look up'
}

/** True if the provider has never received the call: it does not know the refund, and the call must have ended. */
export const wasNeverReceived = (progress: RefundProgress, now: number): boolean =>
  progress.provider_reference === null && now - progress.began_at >= maxCallMs

function computeNextCheckTime(beganAt: number, now: number): number {
  const age = now - beganAt
  const delay = pendingCheckDelays.find((candidate) => candidate > age)
  return beganAt + (delay ?? (Math.floor(age / dayMs) + 1) * dayMs)
}

/**
 * Computes when a refund without a known outcome is checked again. `checks` is the number of checks so far;
 * `is_accepted` says whether the provider has accepted the refund.
 */
export function computeNextCheck(
  state: { began_at: number; checks: number; is_accepted: boolean },
  now: number,
): { due_at: number; needs_attention: boolean } {
  const { began_at, checks, is_accepted } = state
  const age = now - began_at
  if (age >= attentionAfterMs) return { due_at: now + checkIntervalAfterAttentionMs, needs_attention: true }
  if (is_accepted || age >= 72 * hourMs) return { due_at: computeNextCheckTime(began_at, now), needs_attention: false }
  return { due_at: now + (backoffMs[checks] ?? hourMs), needs_attention: false }
}

/** A completed refund is looked up again after these delays, because the webhook about a reversal may be lost. */
const recheckDelays = [1, 3, 7, 14, 30].map((days) => days * dayMs)

/** Computes when to look up next whether the provider has reversed a refund. Returns null after the last time. */
export function computeNextRecheck(completedAt: number, now: number): number | null {
  const delay = recheckDelays.find((candidate) => completedAt + candidate > now)
  return delay === undefined ? null : completedAt + delay
}
