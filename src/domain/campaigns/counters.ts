import type { FailReason } from './sending-policy.ts'

/** Counts of a campaign's recipients. `total` leaves skipped people out and is the sum of sent, failed and pending. The reasons split `failed`. */
export interface Counters extends Record<FailReason, number> {
  total: number
  sent: number
  failed: number
  skipped: number
  delivered: number
  opened: number
  machine_opened: number
  clicked: number
  bounced: number
  complained: number
  unsubscribed: number
}

export const zeroCounters: Counters = {
  total: 0,
  sent: 0,
  failed: 0,
  rejected: 0,
  unreachable: 0,
  rate_limited: 0,
  unknown: 0,
  skipped: 0,
  delivered: 0,
  opened: 0,
  machine_opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
}

export const counterNames = Object.keys(zeroCounters) as (keyof Counters)[]

export const countPending = ({ total, sent, failed }: Counters): number => total - sent - failed

/** A fraction from 0 to 1 with four decimals. It is 0 when `total` is 0. */
const computeRate = (count: number, total: number): number =>
  total === 0 ? 0 : Math.round((count / total) * 10_000) / 10_000

export const computeRates = ({ sent, delivered, opened, clicked, unsubscribed }: Counters) => ({
  delivery_rate: computeRate(delivered, sent),
  open_rate: computeRate(opened, delivered),
  click_rate: computeRate(clicked, delivered),
  unsubscribe_rate: computeRate(unsubscribed, delivered),
})
