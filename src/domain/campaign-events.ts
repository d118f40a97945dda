import type { ProviderEvent } from './messaging.ts'

/**
 * What happened to a message after it went out. Events come in any order and any number of times: each stamp keeps the
 * earliest time that it was told, nothing takes one away, so the same events always give the same numbers.
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
export type StampName = (typeof stampNames)[number]

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
}

/** What else an event says: whoever clicks has opened, and whoever opens has it. */
const stampsOf: Record<RecipientEvent['type'], readonly StampName[]> = {
  accepted: [],
  delivered: ['delivered_at'],
  opened: ['opened_at', 'delivered_at'],
  machine_opened: ['machine_opened_at', 'delivered_at'],
  clicked: ['clicked_at', 'opened_at', 'delivered_at'],
  bounced: ['bounced_at'],
  complained: ['complained_at', 'delivered_at'],
  unsubscribed: ['unsubscribed_at'],
}

/** The stamps that an event changes. */
export function stamped(stamps: Stamps, event: RecipientEvent): Partial<Stamps> {
  const changes: Partial<Stamps> = {}
  for (const name of stampsOf[event.type]) {
    const known = stamps[name]
    if (known === null || event.at < known) changes[name] = event.at
  }
  return changes
}

/** A provider's word for a recipient, or null when it says nothing that counts. */
export function recipientEvent(n: number, event: ProviderEvent): RecipientEvent | null {
  const { type, at, providerId } = event
  switch (type) {
    case 'deferred':
      return null
    // It was taken and never arrived.
    case 'failed':
      return { n, type: 'bounced', at, provider_id: providerId }
    default:
      return { n, type, at, provider_id: providerId }
  }
}

/** What a message is known by at the provider; letters, digits, `_` and `-` only, which every provider takes. */
export const referenceOf = (campaignId: string, n: number): string => `${campaignId}-${n}`

export function readReference(reference: string | null): { campaign_id: string; n: number } | null {
  const found = /^(cmp_[0-9A-Za-z]+)-(\d{1,15})$/.exec(reference ?? '')
  return found?.[1] ? { campaign_id: found[1], n: Number(found[2]) } : null
}

const machines =
  /bot\b|bot[/ ]|crawl|spider|slurp|scan|preview|monitor|headless|facebookexternalhit|barracuda|mimecast|proofpoint|safelinks|curl|wget|python|java\/|go-http|okhttp|node-fetch|axios|undici/i

/** Sooner after sending than anybody can look. */
const tooSoonMs = 2000

/** Whether a program fetched what a person would have opened: scanners, previews, and the prefetching of mail clients. */
export const isMachine = (visit: { method: string; agent: string | null; at: number; sent_at: number | null }): boolean =>
  visit.method === 'HEAD' ||
  !visit.agent ||
  machines.test(visit.agent) ||
  (visit.sent_at !== null && visit.at - visit.sent_at < tooSoonMs)
