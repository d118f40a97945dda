import type { Stamps } from '../../domain/campaigns/recipient-events.ts'
import type { RecipientState } from '../../domain/campaigns/sending-policy.ts'
import type { Counters } from '../../domain/campaigns/counters.ts'

/** In which counters a recipient of each state is. */
export const counted: Record<RecipientState, readonly (keyof Counters)[]> = {
  pending: ['total'],
  sent: ['total', 'sent'],
  failed: ['total', 'failed'],
  skipped: ['skipped'],
}

/** The counter of those who have a stamp. */
export const counterOf: Partial<Record<keyof Stamps, keyof Counters>> = {
  delivered_at: 'delivered',
  opened_at: 'opened',
  machine_opened_at: 'machine_opened',
  clicked_at: 'clicked',
  bounced_at: 'bounced',
  complained_at: 'complained',
  unsubscribed_at: 'unsubscribed',
}

export const tally = (counts: Map<keyof Counters, number>, names: readonly (keyof Counters)[], by: number): void => {
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + by)
}
