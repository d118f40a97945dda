import type { Language } from '../languages.ts'
import type { Mailbox } from '../messaging/mailbox.ts'
import type { Channel } from '../messaging/messaging.ts'
import type { CommunicationType, SegmentStatus } from '../segments.ts'
import { type CampaignStatus, isEditable } from './lifecycle.ts'

/** Data that all messages of a campaign share, as of the campaign's start. */
export interface ContentContext {
  /** The address in links. It is stored so that a repeated call stays the same when `PUBLIC_URL` changes. */
  public_url: string
  organization_id: string
  edition_id: string
  /** The edition of the message; null for a message of the organisation, and for SMS. */
  message_edition_id: string | null
  segment: { edition_id: string | null; communication_type: CommunicationType }
  channel: Channel
  campaign_name: string
  edition: { name: string; start_at: number | null; end_at: number | null; timezone: string }
  organization_name: string
  from: Mailbox
  reply_to: string | null
  sms_sender: string
  /** True if the message has a link to unsubscribe. */
  has_unsubscribe: boolean
  /** The language of the text, which may differ from the recipient's. */
  language: Language
  /** The language for recipients whose own language has no text. */
  default_language: Language
}

/** The segment that a campaign shows: as it was at the start, and as it is before that, when this is null. */
export const pickSegmentSnapshot = (row: {
  status: CampaignStatus
  segment_snapshot: SegmentSnapshot | null
}): SegmentSnapshot | null => (isEditable(row.status) || row.status === 'calculating' ? null : row.segment_snapshot)

/** A segment as it was when its campaign was started. */
export interface SegmentSnapshot {
  /** The edition of the segment. It decides who may see and continue the campaign. */
  edition_id: string | null
  name: string
  communication_type: CommunicationType
  communication_channel: Channel
  status: SegmentStatus
  user_count: number
}
