import type { Language } from '../languages.ts'
import type { Mailbox } from '../messaging/mailbox.ts'
import type { Channel } from '../messaging/messaging.ts'
import type { CommunicationType, SegmentStatus } from '../segments.ts'

/** What all messages of a campaign have in common beside the text, as of its start. */
export interface ContentContext {
  /** The address in links, kept so that a repeated call stays the same when the service moves. */
  public_url: string
  organization_id: string
  edition_id: string
  segment: { edition_id: string | null; communication_type: CommunicationType }
  channel: Channel
  campaign_name: string
  edition: { name: string; start_at: number | null; end_at: number | null; timezone: string }
  organization_name: string
  from: Mailbox
  reply_to: string | null
  sms_sender: string
  /** Whether the message has a link to unsubscribe; older contents without this field have one. */
  has_unsubscribe?: boolean
  /** The language of the text, which may differ from the recipient's; absent in older contents. */
  language?: Language
}

/** A segment as it was when its campaign was started. */
export interface SegmentSnapshot {
  /** Its tenant: decides who may see and continue the campaign. */
  edition_id: string | null
  name: string
  communication_type: CommunicationType
  communication_channel: Channel
  status: SegmentStatus
  user_count: number
}
