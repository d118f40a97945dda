/** What a campaign's object counts. Every recipient who is not skipped is in `total`, and sent, failed or pending. */
export interface Counters {
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

export const noCounters: Counters = {
  total: 0,
  sent: 0,
  failed: 0,
  skipped: 0,
  delivered: 0,
  opened: 0,
  machine_opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
}

export const counterNames = Object.keys(noCounters) as (keyof Counters)[]

export const pendingOf = ({ total, sent, failed }: Counters): number => total - sent - failed

/** A fraction from 0 to 1 with four decimals; 0 of nothing. */
const rate = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000)

export const ratesOf = ({ sent, delivered, opened, clicked, unsubscribed }: Counters) => ({
  delivery_rate: rate(delivered, sent),
  open_rate: rate(opened, delivered),
  click_rate: rate(clicked, delivered),
  unsubscribe_rate: rate(unsubscribed, delivered),
})
