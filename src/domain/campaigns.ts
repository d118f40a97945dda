import { type FieldError, fieldError } from './errors.ts'
import { dayMs } from './instants.ts'
import type { Language, TranslatedDict } from './languages.ts'
import { lifecycle } from './lifecycle.ts'
import type { Channel } from './messaging.ts'
import { instantOfWallClock, offsetText, wallClockAt } from './time-zones.ts'

export const maxCampaignNameLength = 255
export const maxSmsBodyLength = 1600

/**
 * `sent` may have failures; `failed` means that nothing was sent or that it stopped. From `failed` and `sent` a retry
 * goes straight to `sending`: who gets it is known.
 */
export const campaignLifecycle = lifecycle('draft', {
  draft: ['scheduled', 'calculating'],
  scheduled: ['scheduled', 'calculating', 'cancelled', 'failed'],
  calculating: ['sending', 'cancelled', 'failed'],
  sending: ['sent', 'cancelled', 'failed'],
  sent: ['sending'],
  failed: ['scheduled', 'calculating', 'sending'],
  cancelled: [],
})

export type CampaignStatus = (typeof campaignLifecycle.states)[number]

/** Those in which a campaign's object is at work. */
export const runningStatuses = ['calculating', 'sending'] as const satisfies readonly CampaignStatus[]

export const isRunning = (status: string): boolean => (runningStatuses as readonly string[]).includes(status)
export const isEditable = (status: string): boolean => status === 'draft' || status === 'scheduled'
export const isDeletable = (status: string): boolean => ['draft', 'failed', 'cancelled'].includes(status)

/** A campaign that is later than this does not go out by surprise. */
export const lateAfterMs = 6 * 3_600_000
export const missedSchedule = 'missed_schedule: the campaign was due more than 6 hours ago and was not sent.'

/** What decides whether a campaign can go out. */
export interface Readiness {
  channel: Channel
  edition: { is_archived: number; default_language: Language; sms_sender_name: string }
  segment: { communication_channel: string; is_deleted: boolean }
  message: CampaignMessage | null
  has_message: boolean
  sms_body: TranslatedDict
  /** Whether the provider takes campaigns. */
  is_bulk: boolean
  /** Links can be made only with an address of our own and a key. */
  has_links: boolean
}

export const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === ''

export interface CampaignMessage {
  type: string
  subject: TranslatedDict
  blocks: number
}

export interface MessageFault {
  code: 'wrong_type' | 'no_blocks' | 'missing_subject'
  detail: string
}

/** What keeps a message from going out as a campaign of an edition with this default language. */
export function messageFaults(message: CampaignMessage, language: Language): MessageFault[] {
  const found: MessageFault[] = []
  if (message.type !== 'campaign') found.push({ code: 'wrong_type', detail: 'The message is not of type campaign.' })
  if (message.blocks === 0) found.push({ code: 'no_blocks', detail: 'The message has no block.' })
  if (isBlank(message.subject[language]))
    found.push({ code: 'missing_subject', detail: `The message has no subject in ${language}.` })
  return found
}

function* emailFaults({ message, has_message, edition }: Readiness): Generator<FieldError> {
  const at = ['email_message_id']
  if (!has_message) return yield fieldError(at, 'required', 'An e-mail campaign needs a message.')
  if (!message) return yield fieldError(at, 'does_not_exist', 'The message is not there any more.')
  for (const { code, detail } of messageFaults(message, edition.default_language)) yield fieldError(at, code, detail)
}

function* smsFaults({ edition, sms_body }: Readiness): Generator<FieldError> {
  if (isBlank(sms_body[edition.default_language]))
    yield fieldError(['sms_body'], 'missing_text', `There is no text in ${edition.default_language}.`)
  if (edition.sms_sender_name === 'Unset')
    yield fieldError(['edition_id'], 'sender_unset', "The edition's `sms_sender_name` is not set.")
}

/** All that a campaign still needs before it can go out. */
export function missingFor(state: Readiness): FieldError[] {
  const { channel, edition, segment } = state
  const found = [...(channel === 'email' ? emailFaults(state) : smsFaults(state))]
  if (segment.is_deleted) found.push(fieldError(['segment_id'], 'does_not_exist', 'The segment is not there any more.'))
  else if (segment.communication_channel !== channel)
    found.push(fieldError(['segment_id'], 'channel_mismatch', `The segment is not for ${channel}.`))
  if (edition.is_archived === 1) found.push(fieldError(['edition_id'], 'edition_archived', 'The edition is archived.'))
  if (!state.is_bulk)
    found.push(fieldError(['channel'], 'gateway_not_bulk', 'The provider of this service takes no campaigns.'))
  if (!state.has_links)
    found.push(fieldError(['channel'], 'links_not_configured', 'PUBLIC_URL and LINK_SIGNING_KEY are not set.'))
  return found
}

/** ISO 8601, with or without an offset. */
export const schedulePattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

export type ScheduleFault = 'invalid_date' | 'nonexistent_local_time' | 'scheduled_at_in_past' | 'scheduled_at_too_far'

const yearMs = 366 * dayMs

/**
 * The instant that a client asks for, in whole seconds. Without an offset it is local time of the edition: what daylight
 * saving skips is refused, and of what comes twice the first is meant.
 */
export function scheduleOf(text: string, timeZone: string, now: number): number | ScheduleFault {
  const found = schedulePattern.exec(text)
  if (!found) return 'invalid_date'
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  const read = new Date(wall)
  if (read.getUTCMonth() !== month - 1 || read.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    return 'invalid_date'
  const offset = found[7]
  const at = offset === undefined ? instantOfWallClock(timeZone, wall) : wall - offsetMs(offset)
  if (at === null) return 'nonexistent_local_time'
  if (Number.isNaN(at)) return 'invalid_date'
  if (at <= now) return 'scheduled_at_in_past'
  return at > now + yearMs ? 'scheduled_at_too_far' : at
}

function offsetMs(text: string): number {
  if (text === 'Z') return 0
  const [hours = 0, minutes = 0] = text.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return Number.NaN
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** An instant as the clocks of the zone show it, with the offset: `2026-06-01T10:00:00+02:00`. */
export function inZone(at: number, timeZone: string): string {
  const { offset } = wallClockAt(timeZone, at)
  return new Date(at + offset).toISOString().slice(0, 19) + offsetText(offset)
}

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
