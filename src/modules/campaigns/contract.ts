import type { z } from '@hono/zod-openapi'
import { type RoleCode, roleCodes } from '../../domain/accounts/access.ts'
import { IdParams } from '../../http/fields.ts'
import {
  type ListRequest,
  ListPage,
  type ListFilters,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'
import {
  Campaign,
  CampaignDetail,
  CampaignRecipient,
  CampaignStats,
  Channel,
  CreateCampaign,
  EngagementFilter,
  ReasonFilter,
  ScheduleCampaign,
  StateFilter,
  Status,
  UpdateCampaign,
} from './campaign-contract.ts'

const readers = roleCodes
export const writers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']
const tag = 'Campaigns' as const

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
export type CampaignFilters = ListFilters<typeof listCampaignsQuery>
export type CampaignOrdering = z.output<typeof listCampaignsQuery>['ordering']

export const listCampaigns = operation({
  id: 'listCampaigns',
  tag,
  method: 'get',
  path: '/v1/campaigns',
  summary: 'List campaigns',
  description: 'Newest first. Campaigns without a schedule come last by `scheduled_at` and `-scheduled_at`.',
  roles: readers,
  query: listCampaignsQuery,
  response: ListPage(Campaign),
})

export const createCampaign = operation({
  id: 'createCampaign',
  tag,
  method: 'post',
  path: '/v1/campaigns',
  summary: 'Create a campaign',
  description: 'A draft. Scheduling or sending it refuses a campaign that lacks something, and lists what.',
  roles: writers,
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
  errors: ['invalid_transition', 'campaign_not_ready', 'edition_archived'],
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
  errors: ['invalid_transition', 'edition_archived'],
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
  errors: ['invalid_transition', 'campaign_not_ready', 'edition_archived'],
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
  errors: ['invalid_transition', 'campaign_not_ready', 'edition_archived'],
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
  errors: ['invalid_transition', 'edition_archived'],
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
  filters: {
    state: StateFilter.optional(),
    reason: ReasonFilter.optional(),
    engagement: EngagementFilter.optional(),
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
    'All people of the segment, also the skipped ones. Those whom a cancelled campaign did not reach are `cancelled`. By `sent_at`, those to whom nothing was sent come last. Ordering by `address` needs a role of the organisation.',
  roles: writers,
  params: IdParams('cmp'),
  query: listRecipientsQuery,
  response: ListPage(CampaignRecipient),
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
  errors: ['campaign_not_ready', 'invalid_transition', 'nothing_to_retry', 'edition_archived'],
})
