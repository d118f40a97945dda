import type { ProviderEvent } from '../messaging/messaging.ts'

/**
 * Times at which something happened to a message after it was sent. Events arrive in any order and any number of times.
 * A stamp keeps the earliest time and is never removed, so the same events always give the same numbers.
 */
export const stampNames = [
  'delivered_at',
  'opened_at',
  'machine_opened_at',
  'clicked_at',
  'bounced_at',
  'complained_at',
  'unsubscribed_at',
] as const
type StampName = (typeof stampNames)[number]

export type Stamps = Record<StampName, number | null>

export const recipientEventTypes = [
  'accepted',
  'delivered',
  'opened',
  'machine_opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const

export interface RecipientEvent {
  n: number
  type: (typeof recipientEventTypes)[number]
  at: number
  provider_id?: string | null
  /** Of a bounce. hard: the address does not work. soft: it may work later. block: the receiver refused us. */
  bounce?: ProviderEvent['bounce']
  /** A request to one of our own links. Very soon after sending it comes from a program. */
  is_visit?: boolean
}

/** An event implies others: a click implies an opening, and an opening, a complaint or an unsubscription a delivery. */
const stampsOf: Record<RecipientEvent['type'], readonly StampName[]> = {
  accepted: [],
  delivered: ['delivered_at'],
  opened: ['opened_at', 'delivered_at'],
  machine_opened: ['machine_opened_at', 'delivered_at'],
  clicked: ['clicked_at', 'opened_at', 'delivered_at'],
  bounced: ['bounced_at'],
  complained: ['complained_at', 'delivered_at'],
  unsubscribed: ['unsubscribed_at', 'delivered_at'],
}

/** No person opens a message this soon after sending. */
const tooSoonMs = 2000

/** The stamps that an event changes. */
export function stamped(row: Stamps & { sent_at: number | null }, event: RecipientEvent): Partial<Stamps> {
  const stamps: Stamps = row
  const changes: Partial<Stamps> = {}
  const isTooSoon = event.is_visit && (row.sent_at === null || event.at < row.sent_at + tooSoonMs)
  for (const name of stampsOf[isTooSoon ? 'machine_opened' : event.type]) {
    const known = stamps[name]
    if (known === null || event.at < known) changes[name] = event.at
  }
  return changes
}

/** The recipient event of a provider event; null for one that changes nothing. */
export function recipientEvent(n: number, event: ProviderEvent): RecipientEvent | null {
  const { type, at, providerId } = event
  switch (type) {
    case 'deferred':
      return null
    // The provider accepted the message and could not deliver it.
    case 'failed':
      return { n, type: 'bounced', at, provider_id: providerId }
    default:
      return { n, type, at, provider_id: providerId, bounce: event.bounce }
  }
}

/** The reference of a message at the provider: letters, digits, `_` and `-` only, which every provider accepts. */
export const referenceOf = (campaignId: string, n: number): string => `${campaignId}-${n}`

export function readReference(reference: string | null): { campaign_id: string; n: number } | null {
  const found = /^(cmp_[0-9A-Za-z]+)-(\d{1,15})$/.exec(reference ?? '')
  return found?.[1] ? { campaign_id: found[1], n: Number(found[2]) } : null
}

const machines =
  /bot\b|bot[/ ]|crawl|spider|slurp|scan|preview|monitor|headless|facebookexternalhit|barracuda|mimecast|proofpoint|safelinks|curl|wget|python|java\/|go-http|okhttp|node-fetch|axios|undici/i

/** Whether a program made the request: a scanner, a preview, or a mail client that prefetches. */
export const isMachine = (method: string, agent: string | null): boolean =>
  method === 'HEAD' || !agent || machines.test(agent)
