import { z } from '@hono/zod-openapi'
import { type RoleCode, roleCodes } from '../../domain/access.ts'
import {
  failReasons,
  recipientStates as sendStates,
  skipReasons,
} from '../../domain/campaign-sending.ts'
import { campaignLifecycle, maxCampaignNameLength, maxSmsBodyLength } from '../../domain/campaigns.ts'
import { channels } from '../../domain/messaging.ts'
import { Id, IdParams, LanguageCode, RequiredText, SegmentSummary, Timestamp, Translated } from '../../http/fields.ts'
import { envelope, IdFilter, listQuery, TextFilter } from '../../http/list-query.ts'
import { operation } from '../../http/operation.ts'

const readers = roleCodes
const writers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']
const tag = 'Campaigns' as const

const Channel = z.enum(channels)
const Status = z.enum(campaignLifecycle.states)
const Count = z.int().min(0).max(2_147_483_647)

const ScheduledAt = z.string().openapi({
  format: 'date-time',
  description: "In the time zone of the campaign's edition, with the offset.",
  example: '2026-06-01T10:00:00+02:00',
})

export const Campaign = z
  .object({
    id: Id('cmp'),
    name: z.string().openapi({ example: 'Early birds' }),
    organization_id: Id('org').nullable(),
    edition_id: Id('edt').nullable(),
    segment: SegmentSummary,
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
  characters: z.int(),
  parts: z.int().openapi({ description: 'Messages that it is sent and paid as, with sample values in it.' }),
})

export const CampaignDetail = Campaign.extend({
  email_message_id: Id('eml').nullable(),
  sms_body: z.string().openapi({ description: "The text in the edition's default language." }),
  sms_body_translations: z.record(z.string(), z.string()).openapi({ description: 'The text by language.' }),
  sms_sizes: z.record(z.string(), SmsSize).openapi({ description: 'By language, what the text takes on the air.' }),
  user_count: Count.openapi({ description: 'People in the segment when the campaign was sent.' }),
  skipped_count: Count.openapi({
    description: 'People of the segment whom nobody tried to reach; the list of recipients tells why.',
  }),
  error_message: z.string(),
  started_at: Timestamp.nullable(),
  completed_at: Timestamp.nullable(),
}).openapi('CampaignDetail')

const Rate = z.number().min(0).openapi({ description: 'A fraction with four decimals.', example: 0.4213 })

export const CampaignStats = z
  .object({
    total_recipients: Count,
    sent: Count.openapi({ description: 'Accepted by the provider.' }),
    failed: Count,
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
    format: 'date-time',
    description:
      "Later than now and within a year. Without an offset it is local time of the edition's time zone; of a time that comes twice there, the first.",
    example: '2026-06-01T10:00:00',
  }),
})

export type CreateCampaignInput = z.output<typeof CreateCampaign>
export type UpdateCampaignInput = z.output<typeof UpdateCampaign>

export const recipientStates = [...sendStates, 'cancelled'] as const
export const reasons = [...skipReasons, ...failReasons] as const

export const CampaignRecipient = z
  .object({
    id: Id('usr'),
    user: z.object({ api_id: Id('usr'), full_name: z.string(), email: z.string().nullable() }),
    address: z.string().openapi({ example: 'astrid.holm@example.com' }),
    language: LanguageCode,
    state: z.enum(recipientStates),
    reason: z.enum(reasons).nullable().openapi({
      description:
        'Of skipped ones, why nobody tried; of failed ones: `rejected` for good, `unreachable` after all tries, `rate_limited` for a day, `unknown` when it may have gone and is not sent again.',
    }),
    error_code: z.string(),
    error_detail: z.string(),
    attempts: z.int(),
    provider_id: z.string().nullable(),
    sent_at: Timestamp.nullable(),
    delivered_at: Timestamp.nullable(),
    opened_at: Timestamp.nullable(),
    clicked_at: Timestamp.nullable(),
    bounced_at: Timestamp.nullable(),
    complained_at: Timestamp.nullable(),
    unsubscribed_at: Timestamp.nullable(),
    machine_opened_at: Timestamp.nullable(),
  })
  .openapi('CampaignRecipient')

const listCampaignsQuery = listQuery({
  ordering: ['created', 'modified', 'name', 'scheduled_at', 'total_recipients'],
  filters: {
    channel: Channel.optional(),
    edition_id: IdFilter.optional(),
    organization_id: IdFilter.optional(),
    status: Status.optional(),
    search: TextFilter.optional().openapi({ description: 'Part of the name.' }),
  },
})
type WithPages = 'ordering' | 'page' | 'page_size' | 'cursor'
export type CampaignFilters = Omit<z.output<typeof listCampaignsQuery>, WithPages>
export type CampaignOrdering = z.output<typeof listCampaignsQuery>['ordering']

export const listCampaigns = operation({
  id: 'listCampaigns',
  tag,
  method: 'get',
  path: '/v1/campaigns',
  summary: 'List campaigns',
  description: 'Newest first. Campaigns without a schedule come last by `scheduled_at`.',
  roles: readers,
  query: listCampaignsQuery,
  response: envelope(Campaign),
})

export const createCampaign = operation({
  id: 'createCampaign',
  tag,
  method: 'post',
  path: '/v1/campaigns',
  summary: 'Create a campaign',
  description: 'A draft. What it still needs is told when it is scheduled or sent.',
  roles: writers,
  status: 201,
  body: CreateCampaign,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    segment_id: 'seg_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Early birds',
    channel: 'email',
    email_message_id: 'eml_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  },
  response: CampaignDetail,
})

export const getCampaign = operation({
  id: 'getCampaign',
  tag,
  method: 'get',
  path: '/v1/campaigns/{id}',
  summary: 'Retrieve a campaign',
  roles: readers,
  params: IdParams('cmp'),
  response: CampaignDetail,
})

export const updateCampaign = operation({
  id: 'updateCampaign',
  tag,
  method: 'patch',
  path: '/v1/campaigns/{id}',
  summary: 'Update a campaign',
  description: 'Drafts and scheduled campaigns; a scheduled one stays ready to be sent.',
  roles: writers,
  params: IdParams('cmp'),
  body: UpdateCampaign,
  example: { name: 'Early birds, second call' },
  response: CampaignDetail,
  errors: ['invalid_transition', 'campaign_not_ready'],
})

export const deleteCampaign = operation({
  id: 'deleteCampaign',
  tag,
  method: 'delete',
  path: '/v1/campaigns/{id}',
  summary: 'Delete a campaign',
  description: 'Drafts, and failed or cancelled ones of which nothing went out. A scheduled one is cancelled first.',
  roles: writers,
  status: 204,
  params: IdParams('cmp'),
  errors: ['invalid_transition'],
})

export const scheduleCampaign = operation({
  id: 'scheduleCampaign',
  tag,
  method: 'post',
  path: '/v1/campaigns/{id}/schedule',
  summary: 'Schedule a campaign',
  description: 'Again for another time. A campaign that could not start within 6 hours of its time fails instead.',
  roles: writers,
  params: IdParams('cmp'),
  body: ScheduleCampaign,
  example: { scheduled_at: '2026-06-01T10:00:00' },
  response: CampaignDetail,
  errors: ['invalid_transition', 'campaign_not_ready'],
})

export const sendCampaignNow = operation({
  id: 'sendCampaignNow',
  tag,
  method: 'post',
  path: '/v1/campaigns/{id}/send-now',
  summary: 'Send a campaign now',
  description: 'Calculates the segment anew and sends. A failed campaign goes on to those who have not got it.',
  roles: writers,
  params: IdParams('cmp'),
  response: CampaignDetail,
  errors: ['invalid_transition', 'campaign_not_ready'],
})

export const cancelCampaign = operation({
  id: 'cancelCampaign',
  tag,
  method: 'post',
  path: '/v1/campaigns/{id}/cancel',
  summary: 'Cancel a campaign',
  description: 'What the provider has been given already goes out and is counted; nothing else does.',
  roles: writers,
  params: IdParams('cmp'),
  response: CampaignDetail,
  errors: ['invalid_transition'],
})

export const getCampaignStats = operation({
  id: 'getCampaignStats',
  tag,
  method: 'get',
  path: '/v1/campaigns/{id}/stats',
  summary: 'Retrieve the statistics of a campaign',
  description: 'As they are at this moment. Each person counts once.',
  roles: readers,
  params: IdParams('cmp'),
  response: CampaignStats,
})

const listRecipientsQuery = listQuery({
  ordering: ['address', 'sent_at'],
  filters: { state: z.enum(recipientStates).optional(), reason: z.enum(reasons).optional() },
})
export type RecipientFilters = Omit<z.output<typeof listRecipientsQuery>, WithPages>
export type RecipientOrdering = z.output<typeof listRecipientsQuery>['ordering']

export const listCampaignRecipients = operation({
  id: 'listCampaignRecipients',
  tag,
  method: 'get',
  path: '/v1/campaigns/{id}/recipients',
  summary: 'List recipients of a campaign',
  description: 'Everybody in the segment, also those whom nobody tried to reach. Those of a cancelled campaign who were left are `cancelled`.',
  roles: writers,
  params: IdParams('cmp'),
  query: listRecipientsQuery,
  response: envelope(CampaignRecipient),
})

export const retryFailedCampaignRecipients = operation({
  id: 'retryFailedCampaignRecipients',
  tag,
  method: 'post',
  path: '/v1/campaigns/{id}/retry-failed',
  summary: 'Send again to those who failed',
  description:
    'To those who failed for a reason that may pass (`unreachable`, `rate_limited`) or whom a stop left out, with the same content. Nobody else gets anything.',
  roles: writers,
  params: IdParams('cmp'),
  response: CampaignDetail,
  errors: ['invalid_transition', 'nothing_to_retry'],
})
