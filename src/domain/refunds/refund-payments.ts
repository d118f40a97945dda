import { isId } from '../ids.ts'
import { dayMs } from '../time/instants.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Longer than a call may take together with what comes before and after it. What outlives it repeats a call under its key. */
export const refundLeaseMs = 90_000

/** Providers keep keys for a day: later, a call that is repeated would be a new one. */
const keyKeptMs = 20 * hourMs
/** A call that was made longer ago has ended, with any result. */
const callEndsAfterMs = 15 * minuteMs

/** After these times an accepted refund is looked up at the provider, and then each day. */
const pendingMarks = [hourMs, 6 * hourMs, 24 * hourMs, 72 * hourMs]
const backoffMs = [minuteMs, 2 * minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs]
/** The age at which a refund without an end is marked for people. */
const patienceMs = 30 * dayMs
const afterPatienceMs = 7 * dayMs

export const providerKeyOf = (id: string, attempt: number): string => `${id}:${attempt}`

const keyPattern = /^(rfr_[0-9A-Za-z]{26,28}):[1-9]\d{0,8}$/

/** The request of a key; null for a key from elsewhere. */
export function refundOfKey(key: string | null): string | null {
  const id = keyPattern.exec(key ?? '')?.[1] ?? ''
  return isId('refund_request', id) ? id : null
}

export interface RefundProgress {
  provider_reference: string | null
  /** When the key was stored under which the provider is called, or when the provider's own refund was recorded. */
  began_at: number
  /** The key was stored by this run: no call was made with it before. */
  is_first_call: boolean
}

/** How to find the result of a refund: by the call itself, which the key makes safe to repeat, or by a lookup. */
export function stepOf(progress: RefundProgress, isIdempotent: boolean, now: number): 'call' | 'look up' {
  if (progress.is_first_call) return 'call'
  if (progress.provider_reference !== null || !isIdempotent) return 'look up'
  return now - progress.began_at < keyKeptMs ? 'call' : 'look up'
}

/** Whether a refund that the provider does not find will never exist, because its call has ended. */
export const isNeverMade = (progress: RefundProgress, now: number): boolean =>
  progress.provider_reference === null && now - progress.began_at >= callEndsAfterMs

function nextMark(began: number, now: number): number {
  const age = now - began
  const mark = pendingMarks.find((one) => one > age)
  return began + (mark ?? (Math.floor(age / dayMs) + 1) * dayMs)
}

/** When a refund without an end is due again, and whether it needs people. `checks` counts the answers without an end. */
export function nextCheck(
  state: { began_at: number; checks: number; is_taken: boolean },
  now: number,
): { due_at: number; needs_attention: boolean } {
  const { began_at, checks, is_taken } = state
  const age = now - began_at
  if (age >= patienceMs) return { due_at: now + afterPatienceMs, needs_attention: true }
  const mark = nextMark(began_at, now)
  if (is_taken || age >= 72 * hourMs) return { due_at: mark, needs_attention: false }
  return { due_at: now + (backoffMs[checks] ?? hourMs), needs_attention: false }
}

/** The times after which a success is looked up again, because the webhook about a late failure may be lost. */
const takenBackMarks = [1, 3, 7, 14, 30].map((days) => days * dayMs)

/** When to look up next whether the provider has reversed a success; null after the last time. */
export function nextRecheck(completedAt: number, now: number): number | null {
  const mark = takenBackMarks.find((one) => completedAt + one > now)
  return mark === undefined ? null : completedAt + mark
}
