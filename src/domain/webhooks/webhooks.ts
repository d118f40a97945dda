import { lifecycle } from '../lifecycle.ts'

export const eventKinds = {
  'consent.given': 'A consent was given.',
  'consent.skipped': 'A consent was skipped.',
  'consent.withdrawn': 'A consent was withdrawn.',
  'consent.expired': 'A consent expired.',
  'purchase.action': 'An action on a purchase.',
  'wallet.vendorA.pass-added': 'A wallet pass from the first wallet provider was added.',
  'wallet.vendorA.pass-removed': 'A wallet pass from the first wallet provider was removed.',
  'wallet.vendorB.pass-added': 'A wallet pass from the second wallet provider was added.',
  'order.created': 'An import created an order.',
  'order.updated': 'An import changed an order.',
  'order.cancelled': 'An order was cancelled.',
  'refund.completed': 'A refund was paid.',
  'refund.failed': 'A refund failed, or its provider reversed it.',
  'import.completed': 'An import ended.',
  'campaign.sent': 'A campaign was sent.',
  'message.bounced': 'A message could not be delivered.',
  'message.complained': 'A customer reported a message as spam.',
  'user.updated': 'Fields of a customer changed.',
  'user.merged': 'A customer was merged into another one.',
  'webhook.disabled': 'This service switched a webhook endpoint off.',
} as const
export type EventKind = keyof typeof eventKinds
export const eventKindNames = Object.keys(eventKinds) as [EventKind, ...EventKind[]]

/**
 * `exhausted`: every attempt of the schedule failed. `failed`: it ended earlier. A manual retry of either makes one attempt
 * and is `exhausted` when that fails.
 */
export const deliveryLifecycle = lifecycle('pending', {
  pending: ['success', 'retrying', 'failed', 'exhausted'],
  retrying: ['success', 'failed', 'exhausted'],
  success: [],
  failed: ['retrying'],
  exhausted: ['retrying'],
})
export const deliveryStatuses = deliveryLifecycle.states
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** Statuses of deliveries that wait for an attempt or have one in progress. */
export const openDeliveryStatuses = deliveryLifecycle.sourcesOf('success')

/** Statuses of deliveries that ended without success. */
export const lostStatuses = deliveryLifecycle
  .sourcesOf('retrying')
  .filter((status) => status !== deliveryLifecycle.initial)

export const disabledReasons = ['manual', 'gone', 'failing'] as const
export type DisabledReason = (typeof disabledReasons)[number]
/** The reasons for which this service switches an endpoint off. */
export const faultReasons = ['gone', 'failing'] as const satisfies DisabledReason[]
export type FaultReason = (typeof faultReasons)[number]

export const secretsOverlapMs = 86_400_000
export const disableAfterMs = 5 * 86_400_000
/** Requests to one endpoint at a time. */
export const maxInFlight = 4
/** The success rate of an endpoint reads at most this many deliveries, so that a busy endpoint costs no more to list. */
export const ratedDeliveries = 1000
/** The events that one recovery adds deliveries for, so that its transaction stays short. */
export const maxMissedEvents = 5000
export const maxEndpointNameLength = 120
export const maxUrlLength = 200

const defaultTimeoutSeconds = 15
const maxTimeoutSeconds = 30

export const timeoutMs = (timeoutSeconds: number): number =>
  Math.min(timeoutSeconds || defaultTimeoutSeconds, maxTimeoutSeconds) * 1000

/** Seconds before the second and every further attempt: ten attempts in about 75 hours. */
export const standardSchedule: readonly number[] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

const jitterShare = 0.2
const maxRetryAfterMs = 86_400_000

/** FNV-1a, from 0 up to 1. The jitter comes from it, so that tests can repeat it. */
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  return hash / 2 ** 32
}

/** Date.parse alone finds dates in any words. */
const httpDate = /^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2}/i

/** Milliseconds that a Retry-After header asks for, as seconds or an HTTP date. Null for anything else or the past. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  const text = header.trim()
  const dateMs = httpDate.test(text) ? Date.parse(text) - now : Number.NaN
  const ms = /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : dateMs
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, maxRetryAfterMs) : null
}

export const nextReasons = ['schedule', 'retry_after', 'breaker'] as const
export type NextReason = (typeof nextReasons)[number]

/** An entry of the attempt log. `status_code` is null without a response. */
export interface LoggedAttempt {
  number: number
  started_at: number
  duration_ms: number
  status_code: number | null
  error: string | null
  response_text: string | null
  is_manual: boolean
  next_retry_at: number | null
  next_reason: NextReason | null
}

interface SchedulePosition {
  id: string
  /** The number of scheduled attempts that failed. */
  step: number
}

/** When the attempt after `step` failed ones is due. Null when the schedule is used up. */
export function planNextAttempt(
  delivery: SchedulePosition,
  schedule: readonly number[],
  now: number,
  retryAfter: number | null,
): { at: number; reason: NextReason } | null {
  const seconds = schedule[delivery.step - 1]
  if (seconds === undefined) return null
  const jitter = 1 + jitterShare * (2 * hashText(`${delivery.id}:${delivery.step}`) - 1)
  const plannedDelay = Math.round(seconds * 1000 * jitter)
  return retryAfter !== null && retryAfter > plannedDelay
    ? { at: now + Math.round(retryAfter), reason: 'retry_after' }
    : { at: now + plannedDelay, reason: 'schedule' }
}

export const manualRetries = ['extra', 'alone'] as const
export type Manual = (typeof manualRetries)[number] | null

/** A manual retry makes one attempt beside the schedule (`extra`) or after it (`alone`). Null when none is possible. */
export function decideManualRetry(status: DeliveryStatus): Manual {
  if (status === 'retrying') return 'extra'
  return deliveryLifecycle.allows(status, 'retrying') && status !== deliveryLifecycle.initial ? 'alone' : null
}

export interface DeliveryVerdict {
  status: DeliveryStatus
  step: number
  next: { at: number; reason: NextReason } | null
}

/** Decides what becomes of a delivery after an attempt. */
export function judgeAttempt(
  delivery: SchedulePosition & { manual: Manual },
  response: { ok: boolean; status: number | null; retryAfter: string | null },
  schedule: readonly number[],
  now: number,
): DeliveryVerdict {
  const { step, manual } = delivery
  if (response.ok) return { status: 'success', step, next: null }
  if (response.status === 410) return { status: 'failed', step, next: null }
  if (manual === 'alone') return { status: 'exhausted', step, next: null }
  const failedStep = manual === 'extra' ? step : step + 1
  const next = planNextAttempt(
    { id: delivery.id, step: failedStep },
    schedule,
    now,
    parseRetryAfter(response.retryAfter, now),
  )
  return { status: next ? 'retrying' : 'exhausted', step: failedStep, next }
}

const breakerOpensAfter = 5
const breakerFirstMs = 30_000
const breakerLongestMs = 600_000

/** Until when an endpoint with so many failures in a row is paused. Null while its breaker stays closed. */
export function decideBreaker(failuresInRow: number, now: number): number | null {
  if (failuresInRow < breakerOpensAfter) return null
  return now + Math.min(breakerLongestMs, breakerFirstMs * 2 ** Math.min(10, failuresInRow - breakerOpensAfter))
}

const slowMs = 3000

export const isSlow = (durationMs: number): boolean => durationMs >= slowMs
