import { z } from '@hono/zod-openapi'
import {
  engagements,
  failReasons,
  recipientStates as sendStates,
  skipReasons,
} from '../../domain/campaigns/sending-policy.ts'
import { campaignLifecycle, maxCampaignNameLength, maxSmsBodyLength } from '../../domain/campaigns/lifecycle.ts'
import { schedulePattern } from '../../domain/campaigns/schedule.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import {
  FullName,
  Id,
  KnownEmail,
  LanguageCode,
  RequiredText,
  SegmentSummary,
  Timestamp,
  Translated,
} from '../../http/fields.ts'

export const Channel = z.enum(channels)
export const Status = z.enum(campaignLifecycle.states)
const Count = z.int().min(0).max(2_147_483_647)

const ScheduledAt = z.string().openapi({
  format: 'date-time',
  description: "In the time zone of the campaign's edition, with the offset. Null until it is scheduled.",
  example: '2026-06-01T10:00:00+02:00',
})

export const Campaign = z
  .object({
    id: Id('cmp'),
    name: RequiredText(maxCampaignNameLength).openapi({ example: 'Early birds' }),
    organization_id: Id('org').nullable().openapi({ description: 'Never null; the specification allows it.' }),
    edition_id: Id('edt').nullable().openapi({ description: 'Never null; the specification allows it.' }),
    segment: SegmentSummary.openapi({
      description: 'As it was when the campaign was started, after any later change; until then as it is.',
    }),
    channel: Channel,
    status: Status,
    scheduled_at: ScheduledAt.nullable().openapi({ type: ['string', 'null'] }),
    total_recipients: Count,
    sent_count: Count,
    failed_count: Count,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('CampaignList')

const SmsSize = z.object({
  encoding: z.enum(['GSM-7', 'UCS-2']),
  characters: Count,
  parts: Count.openapi({ description: 'Messages that it is sent and paid as, with sample values in it.' }),
})

export const CampaignDetail = Campaign.extend({
  email_message_id: Id('eml').nullable().openapi({
    description:
      'Null for an SMS, and while no message is chosen. A campaign that is over still names its message when that is deleted.',
  }),
  sms_body: z.string().max(maxSmsBodyLength).openapi({ description: "The text in the edition's default language." }),
  sms_body_translations: Translated(maxSmsBodyLength).openapi({ description: 'The text by language.' }),
  sms_sizes: z.record(z.string(), SmsSize).nullable().openapi({
    description: 'By language, what the text takes on the air; null where it was saved before that was kept.',
  }),
  user_count: Count.openapi({ description: 'People in the segment when the campaign was sent.' }),
  skipped_count: Count.openapi({
    description: 'People of the segment to whom no message was tried; the list of recipients has the reasons.',
  }),
  error_message: z.string(),
  started_at: Timestamp.nullable().openapi({ description: 'Null until sending starts.' }),
  completed_at: Timestamp.nullable().openapi({ description: 'Null until sending ends.' }),
}).openapi('CampaignDetail')

const Rate = z.number().min(0).openapi({ description: 'A fraction with four decimals.', example: 0.4213 })

export const CampaignStats = z
  .object({
    total_recipients: Count,
    sent: Count.openapi({ description: 'Accepted by the provider.' }),
    failed: Count,
    pending: Count.openapi({
      description: 'Still to be tried. With `sent`, `failed` and `cancelled` they make `total_recipients`.',
    }),
    cancelled: Count.openapi({ description: 'Whom a cancelled campaign left: they get nothing any more.' }),
    delivered: Count.openapi({ description: 'Confirmed, where the provider reports that; otherwise accepted.' }),
    opened: Count.openapi({ description: 'People, machines left out.' }),
    clicked: Count.openapi({ description: 'People, machines left out.' }),
    bounced: Count,
    unsubscribed: Count,
    delivery_rate: Rate.openapi({ description: 'delivered / sent' }),
    open_rate: Rate.openapi({ description: 'opened / delivered' }),
    click_rate: Rate.openapi({ description: 'clicked / delivered' }),
    unsubscribe_rate: Rate.openapi({ description: 'unsubscribed / delivered' }),
    skipped: Count,
    complained: Count,
    machine_opened: Count.openapi({ description: 'Messages that a program fetched: scanners and previews.' }),
  })
  .openapi('CampaignStats')

const SmsBody = Translated(maxSmsBodyLength).openapi({
  description: 'The text by language; it may name variables as e-mails do.',
  example: { en: 'Hello {{ customer.first_name }}, doors open at 10: https://example.com' },
})

export const CreateCampaign = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt'),
  segment_id: Id('seg'),
  name: RequiredText(maxCampaignNameLength),
  channel: Channel,
  email_message_id: Id('eml').nullable().optional(),
  sms_body: SmsBody.optional(),
})

export const UpdateCampaign = z.object({
  name: RequiredText(maxCampaignNameLength).optional(),
  segment_id: Id('seg').optional(),
  channel: Channel.optional().openapi({ description: 'Another channel drops what the one before would have sent.' }),
  email_message_id: Id('eml').nullable().optional(),
  sms_body: SmsBody.optional(),
})

export const ScheduleCampaign = z.object({
  scheduled_at: z.string().max(64).openapi({
    pattern: schedulePattern.source,
    description:
      "Later than now and within a year. Without an offset it is local time of the edition's time zone; of a time that comes twice there, the first.",
    example: '2026-06-01T10:00:00',
  }),
})

export type CreateCampaignInput = z.output<typeof CreateCampaign>
export type UpdateCampaignInput = z.output<typeof UpdateCampaign>

const recipientStates = [...sendStates, 'cancelled'] as const
const reasons = [...skipReasons, ...failReasons] as const

export const StateFilter = z.enum(recipientStates)
export const ReasonFilter = z.enum(reasons)
export const EngagementFilter = z.enum(engagements).openapi({
  description:
    'What became of the message. `not_opened` and `not_clicked` are those to whom it was sent, whose address did not bounce, and who have not done it; machines do not count.',
})

export const CampaignRecipient = z
  .object({
    id: Id('usr'),
    user: z.object({
      api_id: Id('usr'),
      full_name: FullName,
      email: KnownEmail.nullable().openapi({ description: 'Null for a person without an e-mail address.' }),
    }),
    address: z.string().openapi({ example: 'astrid.holm@example.com' }),
    language: LanguageCode,
    state: z.enum(recipientStates),
    reason: z.enum(reasons).nullable().openapi({
      description:
        'The reason why a recipient was skipped, or failed: `rejected` for good, `unreachable` after all tries, `rate_limited` for a day, `unknown` when it may have gone and is not sent again. Null for all others.',
    }),
    error_code: z.string(),
    error_detail: z.string(),
    attempts: Count,
    provider_id: z
      .string()
      .nullable()
      .openapi({ description: 'Null until the provider has taken the message, and where it names none.' }),
    sent_at: Timestamp.nullable().openapi({ description: 'Null until the provider has taken the message.' }),
    delivered_at: Timestamp.nullable().openapi({ description: 'Null until the provider reports it.' }),
    opened_at: Timestamp.nullable().openapi({
      description: 'Null until the person opens it, which not every mail program reports.',
    }),
    clicked_at: Timestamp.nullable().openapi({ description: 'Null until the person follows a link of it.' }),
    bounced_at: Timestamp.nullable().openapi({ description: 'Null unless the provider reports that it came back.' }),
    complained_at: Timestamp.nullable().openapi({ description: 'Null unless the person reports it as unwanted.' }),
    unsubscribed_at: Timestamp.nullable().openapi({ description: 'Null unless the person unsubscribes by it.' }),
    machine_opened_at: Timestamp.nullable().openapi({ description: 'Null unless a program fetched it.' }),
  })
  .openapi('CampaignRecipient')
