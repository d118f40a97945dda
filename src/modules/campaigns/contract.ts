import { z } from '@hono/zod-openapi'
import { roleCodes, managers } from '../../domain/accounts/access.ts'
import { acceptableFaults } from '../../domain/campaigns/content-faults.ts'
import {
  campaignActions,
  campaignLifecycle,
  maxCampaignNameLength,
  maxSmsBodyLength,
} from '../../domain/campaigns/lifecycle.ts'
import { maxLinkPosition } from '../../domain/campaigns/link-counts.ts'
import { schedulePattern } from '../../domain/campaigns/schedule.ts'
import {
  engagements,
  failReasons,
  recipientReasons,
  recipientStates as sendStates,
} from '../../domain/campaigns/sending-policy.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import {
  Count,
  FullName,
  Id,
  IdParams,
  KnownEmail,
  LanguageCode,
  orNull,
  RequiredText,
  SegmentSummary,
  Timestamp,
  Translated,
  waitingFields,
} from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { FieldProblem } from '../../http/problem.ts'
import {
  BooleanFilter,
  type ListRequest,
  ListPage,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { CampaignApproval } from './approval-contract.ts'
import { SendWindow, SendWindowInput } from './send-window-contract.ts'

const Channel = z.enum(channels)
const Status = z.enum(campaignLifecycle.states)
const Int32Count = Count.max(2_147_483_647)

const ScheduledAt = z.string().openapi({
  format: 'date-time',
  description: 'When the campaign starts, in the time zone of its edition with the offset. Null until it is scheduled.',
  example: '2026-06-01T10:00:00+02:00',
})

export const Campaign = z
  .object({
    id: Id('cmp'),
    name: RequiredText(maxCampaignNameLength).openapi({ example: 'Early birds' }),
    organization_id: Id('org').nullable().openapi({ description: 'Never null in this service.' }),
    edition_id: Id('edt').nullable().openapi({ description: 'Never null in this service.' }),
    segment: SegmentSummary.openapi({
      description:
        'The segment as it was when the campaign was last started. Before the first start, the segment as it is now.',
    }),
    channel: Channel,
    status: Status,
    scheduled_at: ScheduledAt.nullable().openapi({ type: ['string', 'null'] }),
    is_paused: z.boolean().openapi({ description: 'True while nothing is sent until somebody resumes the campaign.' }),
    total_recipients: Int32Count,
    sent_count: Int32Count,
    failed_count: Int32Count,
    approval: orNull(CampaignApproval).openapi({ description: 'Null until an approval is requested.' }),
    allowed_actions: z.array(z.enum(campaignActions)).openapi({
      description:
        'The actions that the status and your role allow now. Content may still be missing, and a retry may find nobody to send to.',
    }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('CampaignList')

const SmsSize = z.object({
  encoding: z.enum(['gsm7', 'ucs2']),
  characters: Int32Count,
  parts: Int32Count.openapi({
    description:
      'The number of SMS that the text is sent and billed as, with the links of the campaign and a sample customer.',
  }),
  ucs2_characters: z.array(z.string()).openapi({
    description: 'The characters that force `ucs2`, which has less than half as much room in each SMS; at most 20.',
    example: ['–'],
  }),
})

export const CampaignDetail = Campaign.extend({
  email_message_id: Id('eml').nullable().openapi({
    description:
      'Null for an SMS campaign and while no message is chosen. A finished campaign keeps the id after its message is deleted.',
  }),
  sms_body: z.string().max(maxSmsBodyLength).openapi({ description: "The text in the edition's default language." }),
  sms_body_translations: Translated(maxSmsBodyLength).openapi({ description: 'The text by language.' }),
  sms_sizes: z.record(z.string(), SmsSize).openapi({ description: 'The size of the text by language.' }),
  accepted_translations: z
    .array(
      z.object({
        language: LanguageCode,
        block_id: z
          .string()
          .nullable()
          .openapi({ description: 'Null for the subject and the preheader of the message.' }),
        field: z.string().openapi({ example: 'text' }),
      }),
    )
    .openapi({ description: 'Missing texts that were accepted when the campaign was last scheduled or sent.' }),
  user_count: Int32Count.openapi({ description: 'The number of people in the segment when the campaign was sent.' }),
  failed_by_reason: z
    .record(z.enum(failReasons), Int32Count)
    .openapi({ description: 'Splits `failed_count`; the list of recipients says what the reasons mean.' }),
  skipped_count: Int32Count.openapi({
    description:
      'The number of people in the segment who were skipped. The list of recipients has the `reason` of each.',
  }),
  error_message: z.string(),
  ...waitingFields,
  send_window: orNull(SendWindow).openapi({ description: 'Null when messages go out at any time.' }),
  started_at: Timestamp.nullable().openapi({ description: 'Null until sending starts.' }),
  completed_at: Timestamp.nullable().openapi({ description: 'Null until sending ends.' }),
}).openapi('CampaignDetail')

export const CampaignWithWarnings = CampaignDetail.extend({
  warnings: z.array(FieldProblem).optional().openapi({
    description:
      'What the recipients may miss although the campaign can be sent: translations that were accepted, languages without any text, and variables that their `default` filter replaces. `approval_lost`: the change takes the approval from the scheduled campaign.',
  }),
}).openapi('CampaignWithWarnings')

const Rate = z.number().min(0).openapi({ description: 'A fraction from 0 to 1 with four decimals.', example: 0.4213 })

export const CampaignStats = z
  .object({
    total_recipients: Int32Count,
    sent: Int32Count.openapi({ description: 'Messages that the provider accepted.' }),
    failed: Int32Count,
    pending: Int32Count.openapi({
      description:
        'Recipients who are still to be sent to. `total_recipients` is the sum of `sent`, `failed`, `pending` and `cancelled`.',
    }),
    cancelled: Int32Count.openapi({
      description: 'Recipients who were not sent to because the campaign was cancelled.',
    }),
    delivered: Int32Count.openapi({
      description:
        'Messages that reached the recipient. When the provider does not report deliveries, every accepted message counts.',
    }),
    opened: Int32Count.openapi({ description: 'People who opened the message. Opens by programs do not count.' }),
    clicked: Int32Count.openapi({
      description: 'People who clicked a link of the message. Clicks by programs do not count.',
    }),
    bounced: Int32Count,
    unsubscribed: Int32Count,
    delivery_rate: Rate.openapi({ description: '`delivered` / `sent`' }),
    open_rate: Rate.openapi({ description: '`opened` / `delivered`' }),
    click_rate: Rate.openapi({ description: '`clicked` / `delivered`' }),
    unsubscribe_rate: Rate.openapi({ description: '`unsubscribed` / `delivered`' }),
    skipped: Int32Count,
    complained: Int32Count,
    machine_opened: Int32Count.openapi({
      description: 'Messages that a program opened, such as a virus scanner or a link preview.',
    }),
  })
  .openapi('CampaignStats')

const SmsBody = Translated(maxSmsBodyLength).openapi({
  description: 'The text of the SMS by language. It may use the same Liquid variables as e-mails.',
  example: { en: 'Hello {{ customer.first_name }}, doors open at 10: https://example.com' },
})

const Accept = z.array(z.enum(acceptableFaults)).max(acceptableFaults.length).optional().openapi({
  description:
    '`missing_translations` sends the message although texts lack a language. It covers the texts that are missing now.',
})

const CreateCampaign = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt'),
  segment_id: Id('seg'),
  name: RequiredText(maxCampaignNameLength),
  channel: Channel,
  email_message_id: Id('eml').nullable().optional(),
  sms_body: SmsBody.optional(),
  send_window: SendWindowInput.nullable().optional(),
})

const UpdateCampaign = z.object({
  name: RequiredText(maxCampaignNameLength).optional(),
  segment_id: Id('seg').optional(),
  channel: Channel.optional().openapi({
    description: 'Changing the channel removes the content of the previous channel.',
  }),
  email_message_id: Id('eml').nullable().optional(),
  sms_body: SmsBody.optional(),
  send_window: SendWindowInput.nullable().optional(),
  accept: Accept.openapi({ description: 'Only for a scheduled campaign, whose content is checked.' }),
})

const SendCampaign = z.object({ accept: Accept })

const ScheduleCampaign = z.object({
  scheduled_at: z.string().max(64).openapi({
    pattern: schedulePattern.source,
    description:
      'When the campaign starts: in the future and within a year. A time without an offset is local time of the edition; a local time that occurs twice is the first.',
    example: '2026-06-01T10:00:00',
  }),
  accept: Accept,
})

export type CreateCampaignInput = z.output<typeof CreateCampaign>
export type UpdateCampaignInput = z.output<typeof UpdateCampaign>
export type ScheduleCampaignInput = z.output<typeof ScheduleCampaign>

const recipientStates = [...sendStates, 'cancelled'] as const

const StateFilter = z.enum(recipientStates)
const ReasonFilter = z.enum(recipientReasons)
const EngagementFilter = z.enum(engagements).openapi({
  description:
    'What happened to the message. `not_opened` and `not_clicked` list recipients whose message was sent and did not bounce. Opens and clicks by programs do not count.',
})

const LinkFilter = z
  .string()
  .regex(/^\d{1,5}$/, `Must be a whole number from 0 to ${maxLinkPosition}.`)
  .transform(Number)
  .openapi({
    type: 'integer',
    minimum: 0,
    maximum: maxLinkPosition,
    description:
      'The `position` of a link of the campaign: only recipients who clicked it, or with `not_clicked` those who did not.',
  })

export const CampaignRecipient = z
  .object({
    id: Id('usr'),
    user: z.object({
      api_id: Id('usr'),
      full_name: FullName,
      email: KnownEmail.nullable().openapi({ description: 'Null when the person has no e-mail address.' }),
    }),
    address: z.string().openapi({
      description:
        'Empty for a person without an address, and after an erasure. These recipients come last when you sort by `address`.',
      example: 'astrid.holm@example.com',
    }),
    language: LanguageCode,
    state: z.enum(recipientStates),
    reason: z.enum(recipientReasons).nullable().openapi({
      description:
        'Why the recipient was skipped or failed. `rejected`: the provider refused the message. `unreachable`: every attempt failed. `rate_limited`: the provider limited sending for a day. `unknown`: the message may have been sent, so it is not sent again. Null for other recipients.',
    }),
    error_code: z.string(),
    error_detail: z.string(),
    attempts: Int32Count,
    provider_id: z
      .string()
      .nullable()
      .openapi({ description: 'The id of the message at the provider. Null until the provider accepts the message.' }),
    sent_at: Timestamp.nullable().openapi({ description: 'Null until the provider accepts the message.' }),
    delivered_at: Timestamp.nullable().openapi({ description: 'Null until the provider reports the delivery.' }),
    opened_at: Timestamp.nullable().openapi({
      description: 'Null until the person opens the message. Some mail programs do not report it.',
    }),
    clicked_at: Timestamp.nullable().openapi({ description: 'Null until the person clicks a link of the message.' }),
    bounced_at: Timestamp.nullable().openapi({ description: 'Null unless the message bounced.' }),
    complained_at: Timestamp.nullable().openapi({
      description: 'Null unless the person reported the message as spam.',
    }),
    unsubscribed_at: Timestamp.nullable().openapi({
      description: 'Null unless the person unsubscribed through this message.',
    }),
    machine_opened_at: Timestamp.nullable().openapi({ description: 'Null unless a program opened the message.' }),
  })
  .openapi('CampaignRecipient')

const tag = 'Campaigns' as const

const listCampaignsQuery = listQuery({
  ordering: ['created', 'modified', 'name', 'scheduled_at', 'total_recipients'],
  filters: {
    channel: Channel.optional(),
    edition_id: IdFilter.optional(),
    organization_id: IdFilter.optional(),
    status: Status.optional(),
    is_paused: BooleanFilter.optional(),
    segment_id: IdFilter.optional(),
    email_message_id: IdFilter.optional(),
    search: TextFilter.optional().openapi({ description: 'Finds campaigns whose name contains this text.' }),
  },
})
export type CampaignQuery = ListRequest<typeof listCampaignsQuery>

export const listCampaigns = operation({
  id: 'listCampaigns',
  tag,
  method: 'get',
  path: '/v1/campaigns',
  summary: 'List campaigns',
  description:
    'Lists the newest campaigns first. When sorted by `scheduled_at` or `-scheduled_at`, campaigns without a schedule come last.',
  roles: roleCodes,
  query: listCampaignsQuery,
  response: ListPage(Campaign),
})

export const createCampaign = operation({
  id: 'createCampaign',
  tag,
  method: 'post',
  path: '/v1/campaigns',
  summary: 'Create a campaign',
  description:
    'Creates a draft. You can create it incomplete: scheduling or sending it fails with 409 `campaign_not_ready`, which lists what is missing.',
  roles: managers,
  errors: ['edition_archived'],
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
  roles: roleCodes,
  params: IdParams('cmp'),
  response: CampaignDetail,
})

export const updateCampaign = operation({
  id: 'updateCampaign',
  tag,
  method: 'patch',
  path: '/v1/campaigns/{id}',
  summary: 'Update a campaign',
  description:
    'You can update drafts and scheduled campaigns, and only the `send_window` of a running one. An update that leaves a scheduled campaign incomplete fails with 409 `campaign_not_ready`. One that takes its approval says so in `warnings`.',
  roles: managers,
  params: IdParams('cmp'),
  body: UpdateCampaign,
  example: { name: 'Early birds, second call' },
  response: CampaignWithWarnings,
  errors: ['invalid_transition', 'campaign_not_ready', 'edition_archived'],
})

export const deleteCampaign = operation({
  id: 'deleteCampaign',
  tag,
  method: 'delete',
  path: '/v1/campaigns/{id}',
  summary: 'Delete a campaign',
  description:
    'You can delete drafts, and failed or cancelled campaigns of which no message was sent. Cancel a scheduled campaign before you delete it.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('cmp'),
  errors: ['invalid_transition', 'edition_archived'],
})

export const scheduleCampaign = operation({
  id: 'scheduleCampaign',
  tag,
  ...action('/v1/campaigns', 'cmp', 'schedule'),
  summary: 'Schedule a campaign',
  description:
    'Schedule a scheduled campaign again to change its time. A campaign that cannot start within 6 hours of its time fails. Unknown variables and missing translations are checked now and at the start.',
  agentAccess: 'confirm',
  roles: managers,
  body: ScheduleCampaign,
  example: { scheduled_at: '2026-06-01T10:00:00' },
  response: CampaignWithWarnings,
  errors: ['invalid_transition', 'campaign_not_ready', 'approval_required', 'edition_archived'],
})

export const sendCampaignNow = operation({
  id: 'sendCampaignNow',
  tag,
  ...action('/v1/campaigns', 'cmp', 'send-now'),
  summary: 'Send a campaign now',
  description:
    'Recalculates the segment and sends the campaign. A failed campaign continues with the people who have not received it. Unknown variables and missing translations are refused; `accept` covers the latter.',
  agentAccess: 'confirm',
  roles: managers,
  body: SendCampaign,
  example: {},
  response: CampaignWithWarnings,
  errors: ['invalid_transition', 'campaign_not_ready', 'approval_required', 'edition_archived'],
})

export const cancelCampaign = operation({
  id: 'cancelCampaign',
  tag,
  ...action('/v1/campaigns', 'cmp', 'cancel'),
  summary: 'Cancel a campaign',
  description:
    'Stops a scheduled or running campaign. Messages that the provider has already accepted are delivered and counted.',
  agentAccess: 'confirm',
  roles: managers,
  response: CampaignDetail,
  errors: ['invalid_transition', 'edition_archived'],
})

export const getCampaignStats = operation({
  id: 'getCampaignStats',
  tag,
  method: 'get',
  path: '/v1/campaigns/{id}/stats',
  summary: 'Retrieve the statistics of a campaign',
  description: 'Returns the current counts and rates. Each person counts once.',
  roles: roleCodes,
  params: IdParams('cmp'),
  response: CampaignStats,
})

const listRecipientsQuery = listQuery({
  ordering: ['address', 'sent_at'],
  filters: {
    search: TextFilter.optional().openapi({
      description:
        'A user id, a phone number or a part of it, or words of the name and e-mail address in any order, as they were when the campaign started. Roles of an edition search what their edition knows of its customers.',
    }),
    state: StateFilter.optional(),
    reason: ReasonFilter.optional(),
    engagement: EngagementFilter.optional(),
    link: LinkFilter.optional(),
  },
})
export type RecipientQuery = ListRequest<typeof listRecipientsQuery>

export const listCampaignRecipients = operation({
  id: 'listCampaignRecipients',
  tag,
  method: 'get',
  path: '/v1/campaigns/{id}/recipients',
  summary: 'List recipients of a campaign',
  description:
    'Lists everybody who was in the segment when the campaign started, including people who were skipped, with the `reason` of that time. When sorted by `sent_at`, recipients to whom nothing was sent come last. Sorting by `address` needs a role in the organisation.',
  roles: managers,
  params: IdParams('cmp'),
  query: listRecipientsQuery,
  response: ListPage(CampaignRecipient),
})

export const retryFailedCampaignRecipients = operation({
  id: 'retryFailedCampaignRecipients',
  tag,
  ...action('/v1/campaigns', 'cmp', 'retry-failed'),
  summary: 'Retry failed recipients of a campaign',
  description:
    'Sends the same content again to recipients who failed with `unreachable` or `rate_limited`, and to those who are pending because the campaign stopped. Nobody else gets a message.',
  agentAccess: 'confirm',
  roles: managers,
  response: CampaignDetail,
  errors: ['campaign_not_ready', 'invalid_transition', 'nothing_to_retry', 'approval_required', 'edition_archived'],
})
