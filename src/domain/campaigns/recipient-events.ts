import type { ProviderEvent } from '../messaging/messaging.ts'

/**
 * Stamps are the times at which something happened to a message after it was sent. Events arrive in any order and any
 * number of times. A stamp keeps the earliest time and is never removed, so the same events always give the same
 * numbers.
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
  /** Set when `type` is `bounced`. */
  bounce?: ProviderEvent['bounce']
  /** Set for a request to one of our own links. A visit right after sending was made by a program. */
  is_visit?: boolean
  /** Set for a visit to a tracked link: its position among the campaign's links. */
  link?: number
}

/**
 * An event implies earlier ones: a click implies an open, and an open, complaint or unsubscription implies a delivery.
 */
const stampsByEvent: Record<RecipientEvent['type'], readonly StampName[]> = {
  accepted: [],
  delivered: ['delivered_at'],
  opened: ['opened_at', 'delivered_at'],
  machine_opened: ['machine_opened_at', 'delivered_at'],
  clicked: ['clicked_at', 'opened_at', 'delivered_at'],
  bounced: ['bounced_at'],
  complained: ['complained_at', 'delivered_at'],
  unsubscribed: ['unsubscribed_at', 'delivered_at'],
}

/** A visit within this time after sending was made by a program: no person opens a message so fast. */
const prefetchWindowMs = 2000

type SentRow = { sent_at: number | null }

const isPrefetch = ({ sent_at }: SentRow, event: RecipientEvent): boolean =>
  event.is_visit === true && (sent_at === null || event.at < sent_at + prefetchWindowMs)

/** True if a program caused the event. */
export const isMachineEvent = (row: SentRow, event: RecipientEvent): boolean =>
  event.type === 'machine_opened' || isPrefetch(row, event)

/** Computes the stamps that an event changes. */
export function computeStampChanges(row: Stamps & SentRow, event: RecipientEvent): Partial<Stamps> {
  const changes: Partial<Stamps> = {}
  for (const name of stampsByEvent[isPrefetch(row, event) ? 'machine_opened' : event.type]) {
    const stamp = row[name]
    if (stamp === null || event.at < stamp) changes[name] = event.at
  }
  return changes
}

/** Returns null for a provider event that changes nothing. */
export function toRecipientEvent(n: number, event: ProviderEvent): RecipientEvent | null {
  const { type, at, providerId } = event
  switch (type) {
    case 'deferred':
      return null
    // `failed` means that the provider accepted the message and could not deliver it.
    case 'failed':
      return { n, type: 'bounced', at, provider_id: providerId }
    default:
      return { n, type, at, provider_id: providerId, bounce: event.bounce }
  }
}

/**
 * Builds our id of a message, which the provider's events return. Every provider accepts letters, digits, `_` and `-`.
 */
export const formatReference = (campaignId: string, n: number): string => `${campaignId}-${n}`

export function parseReference(reference: string | null): { campaign_id: string; n: number } | null {
  const match = /^(cmp_[0-9A-Za-z]+)-(\d{1,15})$/.exec(reference ?? '')
  return match?.[1] ? { campaign_id: match[1], n: Number(match[2]) } : null
}

/** Apple's mail servers load all images of a message in advance and say nothing more than this. */
const prefetchAgent = /^mozilla\/\d\.\d$/i

const machineAgents = new RegExp(
  [
    'bot(?![a-z])|crawl|spider|slurp|scan|preview|monitor|headless|phantomjs|lighthouse',
    'facebookexternalhit|^whatsapp/|embedly|google-safety|appengine-google|compatible; google-',
    'barracuda|mimecast|proofpoint|safelinks|ciscosecure|ironport|fireeye|messagelabs|virustotal',
    'curl|wget|python|java/|go-http|okhttp|node-fetch|axios|undici|libwww|httpclient|guzzle|ruby|lua-resty|zgrab',
    '(?:existence|protocol) discovery',
  ].join('|'),
  'i',
)

/** The model of a phone, which contains any words: `CUBOT NOTE 20` and `M bot 51` are phones. */
const phoneModel = /\((?![^()]*compatible)[^()]*\b(?:android|adr)\b[^()]*|\bandroid \([^()]*|\bFBDV\/[^;\]]*/gi

/** Recognizes requests of programs: scanners, link previews and mail clients that prefetch images. */
export function isMachine(method: string, agent: string | null): boolean {
  const name = agent?.trim() ?? ''
  return (
    method === 'HEAD' || name === '' || prefetchAgent.test(name) || machineAgents.test(name.replace(phoneModel, ''))
  )
}
