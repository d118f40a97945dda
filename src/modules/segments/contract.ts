import { z } from '@hono/zod-openapi'
import { roleCodes, managers } from '../../domain/accounts/access.ts'
import { answerStates } from '../../domain/consents/consents.ts'
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
import { action, operation } from '../../http/operations/operation.ts'
import { ApprovalWarnings } from '../../http/operations/warnings.ts'
import { ByteOrderMark, ExportColumns } from '../../http/requests/export-query.ts'
import {
  defaultPageSize,
  ListPage,
  type ListRequest,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { User } from '../users/index.ts'

const tag = 'Segments' as const

/** The roles that can change segments. All roles can read them. */

const expressionExample =
  'stats.order_count >= 2 && (user.last_seen == null || user.last_seen < now - duration("720h"))'

const Expression = z.string().min(1).max(maxExpressionLength).openapi({
  description:
    'A condition in the Common Expression Language (CEL). `GET /v1/segments/cel-context` lists what it can use.',
  example: expressionExample,
})
const Description = z.string().trim().max(maxDescriptionLength)

const CommunicationType = z.enum(communicationTypes).openapi({
  description:
    '`marketing`: only people who agreed to marketing through the channel. `transactional`: everyone with a working address.',
})
const CommunicationChannel = z.enum(channels)

const CreateSegment = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt').nullable().optional().openapi({
    description:
      'Limits the segment to customers of this edition. Without it, the segment covers the whole organisation.',
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
    no_address: Count.openapi({ description: 'People without an address for the channel.' }),
    no_consent: Count.openapi({ description: 'People who never agreed or whose consent has ended.' }),
    unsubscribed: Count.openapi({ description: 'People who withdrew their consent or unsubscribed.' }),
    bounced: Count.openapi({ description: 'People whose address bounced.' }),
    inactive: Count.openapi({ description: 'Deactivated people.' }),
  })
  .openapi('SegmentExcluded', {
    description:
      'People for whom the expression holds but who are not members, counted by the first reason that applies.',
  })

export const Segment = z
  .object({
    id: Id('seg'),
    name: RequiredText(maxSegmentNameLength).openapi({ example: 'Regulars not seen for a month' }),
    description: Description,
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for a segment of the whole organisation.' }),
    organization: OrganizationSummary,
    edition: orNull(EditionSummary).openapi({ description: 'Null for a segment of the whole organisation.' }),
    communication_type: CommunicationType,
    communication_channel: CommunicationChannel,
    expression: Expression,
    is_time_dependent: z
      .boolean()
      .openapi({ description: 'True when the result depends on the time of the calculation.' }),
    status: z.enum(segmentStatuses),
    user_count: Count.openapi({ description: 'Number of members at the last calculation.' }),
    excluded: Excluded,
    calculated_at: Timestamp.nullable().openapi({
      description: 'End of the last calculation. Null before the first one.',
    }),
    calculation_started_at: Timestamp.nullable().openapi({
      description: 'Start of the last calculation. Null before the first one.',
    }),
    progress: z
      .number()
      .min(0)
      .max(1)
      .openapi({ description: 'Share of the people tested by the calculation so far.', example: 1 }),
    is_stale: z.boolean().openapi({ description: 'True when the last calculation is more than a day old.' }),
    error_message: z.string().openapi({ description: 'Why the last calculation failed, or an empty text.' }),
    campaigns_count: Count,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('Segment')

const SegmentWithWarnings = Segment.extend({ warnings: ApprovalWarnings }).openapi('SegmentWithWarnings')

const listSegmentsQuery = listQuery({
  ordering: ['created', 'modified', 'name', 'user_count', 'calculated_at'],
  filters: {
    organization_id: IdFilter.optional(),
    edition_id: IdFilter.optional(),
    status: z.enum(segmentStatuses).optional(),
    communication_type: z.enum(communicationTypes).optional(),
    communication_channel: z.enum(channels).optional(),
    search: TextFilter.optional().openapi({
      description: 'Finds segments whose name or description contains this text.',
    }),
  },
})

export type SegmentQuery = ListRequest<typeof listSegmentsQuery>

export const listSegments = operation({
  id: 'listSegments',
  tag,
  method: 'get',
  path: '/v1/segments',
  summary: 'List segments',
  description: 'Lists segments, newest first. Only roles of the organisation see segments without an edition.',
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
    'Creates a draft without members. Errors in the expression have their place as `line`, `column`, `start` and `end`.',
  roles: managers,
  status: 201,
  body: CreateSegment,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Regulars not seen for a month',
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
    'Changes the fields that are given. A new expression, type, channel or edition makes the segment a draft without members, and is refused while the segment is being calculated.',
  roles: managers,
  params: IdParams('seg'),
  body: UpdateSegment,
  example: { name: 'Regulars', expression: 'stats.order_count >= 2' },
  response: SegmentWithWarnings,
  errors: ['edition_archived', 'segment_calculating'],
})

export const deleteSegment = operation({
  id: 'deleteSegment',
  tag,
  method: 'delete',
  path: '/v1/segments/{id}',
  summary: 'Delete a segment',
  description:
    'Deletes the segment. Refused while a campaign that has not ended uses it; `related_objects` lists these campaigns.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('seg'),
  errors: ['edition_archived', 'segment_in_use'],
})

export const recalculateSegment = operation({
  id: 'recalculateSegment',
  tag,
  ...action('/v1/segments', 'seg', 'recalculate'),
  summary: 'Recalculate a segment',
  description:
    'Starts a calculation and answers at once with `status: calculating`. The new members replace the old ones when the calculation ends.',
  roles: managers,
  response: Segment,
  errors: ['segment_calculating'],
})

export const resetSegmentToDraft = operation({
  id: 'resetSegmentToDraft',
  tag,
  ...action('/v1/segments', 'seg', 'reset-to-draft'),
  summary: 'Reset a stuck segment to draft',
  description:
    'Removes the members and makes the segment a draft. Refused while a calculation is running; a calculation without progress for two minutes counts as stuck.',
  roles: managers,
  response: Segment,
  errors: ['segment_not_stuck'],
})

const exportColumnNames = [
  'id',
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'locale',
  'date_joined',
  'last_seen',
  'consent_status',
] as const
export type ExportColumn = (typeof exportColumnNames)[number]

export const exportSegmentUsers = operation({
  id: 'exportSegmentUsers',
  tag,
  method: 'get',
  path: '/v1/segments/{id}/export',
  summary: 'Export segment users as CSV',
  description:
    'Exports the members of the last calculation. What a spreadsheet would run as a formula, also where it cuts a cell at ' +
    'another delimiter, starts with an apostrophe. The audit log records each export.',
  roles: managers,
  params: IdParams('seg'),
  query: z.object({
    columns: ExportColumns(exportColumnNames).openapi({ example: ['id', 'email', 'consent_status'] }),
    bom: ByteOrderMark,
  }),
  file: {
    type: 'text/csv',
    description: 'CSV (RFC 4180) in UTF-8 with a header row.',
    example: 'id,email,phone_number\r\nusr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8,aegir@example.dk,+4532123456\r\n',
  },
  errors: ['segment_not_ready'],
})

export const SegmentUser = User.extend({
  consent_status: z.enum(answerStates).openapi({
    description: 'The best answer of the person to marketing through the channel of the segment.',
  }),
}).openapi('SegmentUser')

export const listSegmentUsers = operation({
  id: 'listSegmentUsers',
  tag,
  method: 'get',
  path: '/v1/segments/{id}/users',
  summary: 'List segment users',
  description: 'Lists the members of the last calculation, the newest customers first.',
  roles: managers,
  params: IdParams('seg'),
  query: listQuery({
    ordering: ['date_joined'],
    filters: {
      search: TextFilter.optional().openapi({
        description:
          'Like `search` of `GET /v1/user`. Texts of one or two characters are searched in the newest 10,000 members only.',
      }),
    },
  }),
  response: ListPage(SegmentUser),
  errors: ['segment_not_ready'],
})

export type SegmentUserQuery = ListRequest<typeof listSegmentUsers.query>

export const UserSegment = z
  .object({
    id: Id('seg'),
    name: RequiredText(maxSegmentNameLength),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for a segment of the whole organisation.' }),
    communication_type: CommunicationType,
    communication_channel: CommunicationChannel,
    status: z.enum(segmentStatuses),
    is_member: z.boolean().openapi({ description: 'True when a calculation now would make the person a member.' }),
    excluded_for: z.string().nullable().openapi({
      description: 'The first condition that excludes the person. Null for a member.',
      example: 'no_consent',
    }),
    was_member: z
      .boolean()
      .nullable()
      .openapi({ description: 'Whether the person was a member at the last calculation. Null before the first one.' }),
    created: Timestamp,
  })
  .openapi('UserSegment')

export const listUserSegments = operation({
  id: 'listUserSegments',
  tag,
  method: 'get',
  path: '/v1/user/{id}/segments',
  summary: 'List segments of a user',
  description:
    'Lists the segments that you see, 100 per page, and whether the person belongs to each, based on current data. `GET /v1/segments/{id}/explain` shows every condition.',
  roles: managers,
  params: IdParams('usr'),
  query: listQuery({
    ordering: ['created'],
    filters: { edition_id: IdFilter.optional(), communication_channel: z.enum(channels).optional() },
    fixedSize: true,
  }),
  response: ListPage(UserSegment, defaultPageSize),
})

export type UserSegmentQuery = ListRequest<typeof listUserSegments.query>
