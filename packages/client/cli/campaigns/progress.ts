import type { components } from '../../src/index.ts'

export type Campaign = components['schemas']['CampaignDetail']

/** The number of messages that had ended at a time. */
export interface Sample {
  ms: number
  done: number
}

/** Older samples say little about the rate, because a campaign may have waited since. */
const windowMs = 30_000

/** Drops the samples before the window, and those of an earlier run, which counted more. */
export const addSample = (samples: readonly Sample[], sample: Sample): Sample[] => [
  ...samples.filter(({ ms, done }) => ms >= sample.ms - windowMs && ms < sample.ms && done <= sample.done),
  sample,
]

/** Messages a second in the window. Null while it is unknown. */
export function computeRate(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.ms === first.ms) return null
  return ((last.done - first.done) * 1000) / (last.ms - first.ms)
}

export interface Progress {
  time: string
  id: string
  name: string
  status: Campaign['status']
  is_paused: boolean
  total_recipients: number
  sent_count: number
  failed_count: number
  pending_count: number
  skipped_count: number
  delivered_count: number
  failed_by_reason: Record<string, number>
  waiting_reason: string | null
  next_attempt_at: string | null
  scheduled_at: string | null
  error_message: string
  messages_per_second: number | null
  seconds_left: number | null
}

export function describeProgress(campaign: Campaign, delivered: number, samples: readonly Sample[]): Progress {
  const { total_recipients, sent_count, failed_count } = campaign
  const pending = campaign.status === 'cancelled' ? 0 : Math.max(0, total_recipients - sent_count - failed_count)
  const rate = campaign.status === 'sending' ? computeRate(samples) : null
  return {
    time: new Date(samples.at(-1)?.ms ?? Date.now()).toISOString(),
    id: campaign.id,
    name: campaign.name,
    status: campaign.status,
    is_paused: campaign.is_paused,
    total_recipients,
    sent_count,
    failed_count,
    pending_count: pending,
    skipped_count: campaign.skipped_count,
    delivered_count: delivered,
    failed_by_reason: Object.fromEntries(Object.entries(campaign.failed_by_reason).filter(([, count]) => count > 0)),
    waiting_reason: campaign.waiting_reason,
    next_attempt_at: campaign.next_attempt_at,
    scheduled_at: campaign.scheduled_at,
    error_message: campaign.error_message,
    messages_per_second: rate === null ? null : Math.round(rate * 10) / 10,
    seconds_left: rate === null || rate === 0 ? null : Math.ceil(pending / rate),
  }
}
