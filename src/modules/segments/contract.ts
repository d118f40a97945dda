import { z } from '@hono/zod-openapi'
import { roleCodes, type RoleCode } from '../../domain/accounts/access.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import {
  communicationTypes,
  maxDescriptionLength,
  maxExpressionLength,
  maxSegmentNameLength,
  segmentStatuses,
} from '../../domain/segments.ts'
import {
  Count,
  EditionSummary,
  Id,
  IdParams,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
} from '../../http/fields.ts'
import {
  BooleanFilter,
  ListPage,
  type ListFilters,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'
import { exportColumns } from './export-columns-contract.ts'

const tag = 'Segments' as const

/** Who works with segments; all roles see them. */
export const keepers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']

const expressionExample = 'stats.order_count >= 2 && user.last_seen < now - duration("720h")'

const Expression = z.string().min(1).max(maxExpressionLength).openapi({
  description: 'A condition in the Common Expression Language; `GET /v1/segments/cel-context` says what it may ask.',
  example: expressionExample,
})
const Description = z.string().trim().max(maxDescriptionLength)

const CommunicationType = z.enum(communicationTypes).openapi({
  description:
    'Marketing reaches only who has agreed to it through the channel; transactional messages reach everyone.',
})
const CommunicationChannel = z.enum(channels)

const CreateSegment = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt').nullable().optional().openapi({
    description: 'Only people who bought in this edition; without it all people of the organisation.',
  }),
  name: RequiredText(maxSegmentNameLength),
  description: Description.default(''),
  communication_type: CommunicationType,
  communication_channel: CommunicationChannel,
  expression: Expression,
})

const UpdateSegment = z.object({
  name: RequiredText(maxSegmentNameLength).optional(),
  description: Description.optional(),
  edition_id: Id('edt').nullable().optional(),
  communication_type: CommunicationType.optional(),
  communication_channel: CommunicationChannel.optional(),
  expression: Expression.optional(),
})

export type CreateSegmentInput = z.output<typeof CreateSegment>
export type UpdateSegmentInput = z.output<typeof UpdateSegment>

const Excluded = z
  .object({
    no_address: Count.openapi({ description: 'Has no address for the channel.' }),
    no_consent: Count.openapi({ description: 'Never agreed, or the consent is over.' }),
    unsubscribed: Count.openapi({ description: 'Withdrew the consent or asked to be left alone.' }),
    bounced: Count.openapi({ description: 'The address is dead.' }),
    inactive: Count.openapi({ description: 'Is switched off.' }),
  })
  .openapi('SegmentExcluded', {
    description: 'People whom the expression holds for and who are no members, each counted by the first reason.',
  })

export const Segment = z
  .object({
    id: Id('seg'),
    name: RequiredText(maxSegmentNameLength).openapi({ example: 'Regulars who stay away' }),
    description: Description,
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for a segment of the whole organisation.' }),
    organization: OrganizationSummary,
    edition: orNull(EditionSummary).openapi({ description: 'Null for a segment of the whole organisation.' }),
    communication_type: CommunicationType,
    communication_channel: CommunicationChannel,
    expression: Expression,
    is_time_dependent: z.boolean().openapi({ description: 'The expression asks for `now`.' }),
    status: z.enum(segmentStatuses),
    user_count: Count.openapi({ description: 'Members at the last calculation.' }),
    excluded: Excluded,
    calculated_at: Timestamp.nullable().openapi({ description: 'Null until it is calculated.' }),
    calculation_started_at: Timestamp.nullable().openapi({ description: 'Null while it is not being calculated.' }),
    progress: z
      .number()
      .min(0)
      .max(1)
      .openapi({ description: 'About what share of the people was looked at.', example: 1 }),
    is_stale: z.boolean().openapi({ description: 'The last calculation is more than a day ago.' }),
    error_message: z.string().openapi({ description: 'Why the last calculation failed.' }),
    campaigns_count: Count,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('Segment')

const listSegmentsQuery = listQuery({
  ordering: ['created', 'modified', 'name', 'user_count', 'calculated_at'],
  filters: {
    organization_id: IdFilter.optional(),
    edition_id: IdFilter.optional(),
    status: z.enum(segmentStatuses).optional(),
    communication_type: z.enum(communicationTypes).optional(),
    communication_channel: z.enum(channels).optional(),
    search: TextFilter.optional().openapi({ description: 'Part of the name or the description.' }),
  },
})

export type SegmentFilters = ListFilters<typeof listSegmentsQuery>
export type SegmentOrdering = z.output<typeof listSegmentsQuery>['ordering']

export const listSegments = operation({
  id: 'listSegments',
  tag,
  method: 'get',
  path: '/v1/segments',
  summary: 'List segments',
  description: 'Newest first. Segments without an edition are seen by roles of the organisation alone.',
  roles: roleCodes,
  query: listSegmentsQuery,
  response: ListPage(Segment),
})

export const createSegment = operation({
  id: 'createSegment',
  tag,
  method: 'post',
  path: '/v1/segments',
  summary: 'Create a segment',
  description:
    'As a draft without members. Errors of the expression point into it by `line`, `column`, `start` and `end`.',
  roles: keepers,
  status: 201,
  body: CreateSegment,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Regulars who stay away',
    communication_type: 'marketing',
    communication_channel: 'email',
    expression: expressionExample,
  },
  response: Segment,
  errors: ['edition_archived'],
})

export const getSegment = operation({
  id: 'getSegment',
  tag,
  method: 'get',
  path: '/v1/segments/{id}',
  summary: 'Retrieve a segment',
  roles: roleCodes,
  params: IdParams('seg'),
  response: Segment,
})

export const updateSegment = operation({
  id: 'updateSegment',
  tag,
  method: 'patch',
  path: '/v1/segments/{id}',
  summary: 'Update a segment',
  description:
    'Fields that are left out stay. Another expression, type, channel or edition makes the segment a draft again, and cannot be set while it is being calculated.',
  roles: keepers,
  params: IdParams('seg'),
  body: UpdateSegment,
  example: { name: 'Regulars', expression: 'stats.order_count >= 2' },
  response: Segment,
  errors: ['edition_archived', 'segment_calculating'],
})

export const deleteSegment = operation({
  id: 'deleteSegment',
  tag,
  method: 'delete',
  path: '/v1/segments/{id}',
  summary: 'Delete a segment',
  description: 'Refused while campaigns that are not over use it: `related_objects` names them.',
  roles: keepers,
  status: 204,
  params: IdParams('seg'),
  errors: ['edition_archived', 'segment_in_use'],
})

export const recalculateSegment = operation({
  id: 'recalculateSegment',
  tag,
  method: 'post',
  path: '/v1/segments/{id}/recalculate',
  summary: 'Recalculate a segment',
  description:
    'Answers at once with `status: calculating`; the members change when the calculation has ended, all of them in one moment.',
  roles: keepers,
  params: IdParams('seg'),
  response: Segment,
  errors: ['segment_calculating'],
})

export const resetSegmentToDraft = operation({
  id: 'resetSegmentToDraft',
  tag,
  method: 'post',
  path: '/v1/segments/{id}/reset-to-draft',
  summary: 'Reset a stuck segment to draft',
  description:
    'Ends a calculation that has given no sign of life for two minutes, and drops the members. A draft stays as it is.',
  roles: keepers,
  params: IdParams('seg'),
  response: Segment,
  errors: ['segment_not_stuck'],
})

export const exportSegmentUsers = operation({
  id: 'exportSegmentUsers',
  tag,
  method: 'get',
  path: '/v1/segments/{id}/export',
  summary: 'Export segment users as CSV',
  description:
    'The members of the last calculation. Cells that a spreadsheet would run as a formula begin with an apostrophe. Every export is recorded.',
  roles: keepers,
  params: IdParams('seg'),
  query: z.object({
    columns: exportColumns,
    bom: BooleanFilter.optional().openapi({ description: 'Begin with a byte order mark, for spreadsheets.' }),
  }),
  file: {
    type: 'text/csv',
    description: 'RFC 4180 in UTF-8 with a header, streamed.',
    example: 'id,email,phone_number\r\nusr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8,aegir@example.dk,+4532123456\r\n',
  },
  errors: ['segment_not_ready'],
})
