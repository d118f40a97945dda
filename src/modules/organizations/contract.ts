import { z } from '@hono/zod-openapi'
import { memberRoles, roleCodes, organizationManagers } from '../../domain/accounts/access.ts'
import { maxSmsPrice, parseSmsPrice } from '../../domain/messaging/sms-price.ts'
import { currencies } from '../../domain/money.ts'
import {
  AccountEmail,
  AnyCase,
  FullName,
  Id,
  IdParams,
  KnownEmail,
  Amount,
  AmountInput,
  Name,
  OrganizationSummary,
  orNull,
  PersonName,
  Slug,
  Timestamp,
} from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { ApprovalWarnings } from '../../http/operations/warnings.ts'
import { type ListRequest, ListPage, IdFilter, listQuery, TextFilter } from '../../http/requests/list-query.ts'

const buildPolicyShape = <A extends z.ZodType<number>>(amount: A) => ({
  four_eyes: z
    .boolean()
    .openapi({ description: 'The person who requested a refund cannot approve it: 409 `four_eyes_required`.' }),
  manager_limit: amount.nullable().openapi({
    type: ['number', 'null'],
    description: 'The largest refund that a manager can approve. More is 403 `above_limit`. Null: no limit.',
  }),
  auto_approve_below: amount.nullable().openapi({
    type: ['number', 'null'],
    description:
      'A new request is approved at once if all requests for the payment together stay below this amount. Null: never.',
  }),
})

const RefundPolicy = z.object(buildPolicyShape(Amount(500).min(0))).openapi('RefundPolicy', {
  description:
    'The rules for approving refunds. Amounts are in major units of the currency of each request, the same number in every currency.',
})

const describeSmsPrice =
  'What one part of an SMS costs you, for `cost` in the plans of campaigns. Null: plans of campaigns have no cost.'

const SmsPrice = z
  .object({
    amount: z
      .number()
      .min(0)
      .openapi({ format: 'double', description: 'Major units, with up to four decimals.', example: 0.0375 }),
    currency: z.enum(currencies),
  })
  .openapi('SmsPrice')

const SmsPriceInput = z.object({
  amount: z
    .number()
    .min(0)
    .max(maxSmsPrice)
    .transform((major, context) => {
      const amount = parseSmsPrice(major)
      if (amount !== null) return amount
      context.addIssue({ code: 'custom', params: { code: 'max_decimal_places' }, message: 'At most 4 decimals.' })
      return z.NEVER
    })
    .openapi({ multipleOf: 0.0001, example: 0.25 }),
  currency: AnyCase(currencies),
})
const approvalDescription =
  'Campaigns are scheduled and sent only after another account has approved them: 409 `approval_required`.'

export const Organization = OrganizationSummary.extend({
  avatar_file_id: Id('fil').nullable().openapi({ description: 'Null when the organisation has no avatar.' }),
  refund_policy: RefundPolicy,
  sms_price: orNull(SmsPrice).openapi({ description: describeSmsPrice }),
  requires_campaign_approval: z.boolean().openapi({ description: approvalDescription }),
  created: Timestamp,
  modified: Timestamp,
}).openapi('Organization')

export const Member = z
  .object({
    id: Id('mem'),
    email: KnownEmail.openapi({ example: 'ingrid@example.dk' }),
    first_name: PersonName,
    last_name: PersonName,
    full_name: FullName,
    role: z.enum(memberRoles),
    edition_id: Id('edt').nullable().openapi({
      description: 'The edition to which the role is limited. Null when it is a role in the whole organisation.',
    }),
    created: Timestamp,
  })
  .openapi('OrganizationMember')

export const Event = z
  .object({ id: Id('evt'), organization_id: Id('org'), name: Name, created: Timestamp, modified: Timestamp })
  .openapi('Event')

const CreateOrganization = z.object({
  name: Name,
  slug: Slug.min(1).optional().openapi({ description: 'By default it is made from the name.', example: 'nordlys' }),
})

const UpdateOrganization = z.object({
  name: Name.optional(),
  slug: Slug.min(1).optional().openapi({ description: 'Only the superuser of the platform can change it.' }),
  avatar_file_id: Id('fil')
    .nullable()
    .optional()
    .openapi({ description: 'An image file of the organisation. Null removes the avatar.' }),
  refund_policy: z
    .object(buildPolicyShape(AmountInput().openapi({ example: 500 })))
    .partial()
    .optional()
    .openapi({ description: 'Fields that you leave out stay as they are.' }),
  sms_price: SmsPriceInput.nullable().optional().openapi({ description: describeSmsPrice }),
  requires_campaign_approval: z.boolean().optional(),
})

const OrganizationWithWarnings = Organization.extend({
  warnings: ApprovalWarnings.openapi({
    description:
      'What the change does to scheduled campaigns. `approval_required`: some have no approval. `approval_lost`: they were approved with another name. Absent without warnings.',
  }),
}).openapi('OrganizationWithWarnings')

const EventWithWarnings = Event.extend({ warnings: ApprovalWarnings }).openapi('EventWithWarnings')

const AddMember = z.object({
  email: AccountEmail.openapi({ example: 'ingrid@example.dk' }),
  first_name: PersonName.optional(),
  last_name: PersonName.optional(),
  role: z.enum(memberRoles),
  edition_id: Id('edt').nullable().optional().openapi({ description: 'Limits the role to this edition.' }),
})

const UpdateMember = z.object({
  role: z.enum(memberRoles).optional(),
  first_name: PersonName.optional(),
  last_name: PersonName.optional(),
})

const CreateEvent = z.object({ organization_id: Id('org'), name: Name })

const UpdateEvent = z.object({ name: Name.optional() })

export type CreateOrganizationInput = z.output<typeof CreateOrganization>
export type UpdateOrganizationInput = z.output<typeof UpdateOrganization>
export type AddMemberInput = z.output<typeof AddMember>
export type UpdateMemberInput = z.output<typeof UpdateMember>
export type UpdateEventInput = z.output<typeof UpdateEvent>
export type CreateEventInput = z.output<typeof CreateEvent>

const tag = 'Organizations' as const

export const listOrganizations = operation({
  id: 'listOrganizations',
  tag,
  method: 'get',
  path: '/v1/organizations',
  summary: 'List organisations',
  description: 'Returns the organisations in which you have a role.',
  roles: roleCodes,
  query: listQuery({ ordering: ['created', 'modified', 'name'], filters: { search: TextFilter.optional() } }),
  response: ListPage(Organization),
})

export type OrganizationQuery = ListRequest<typeof listOrganizations.query>

export const createOrganization = operation({
  id: 'createOrganization',
  tag,
  method: 'post',
  path: '/v1/organizations',
  summary: 'Create an organisation',
  roles: [],
  status: 201,
  body: CreateOrganization,
  example: { name: 'Nordlys Events' },
  response: Organization,
})

export const getOrganization = operation({
  id: 'getOrganization',
  tag,
  method: 'get',
  path: '/v1/organizations/{id}',
  summary: 'Retrieve an organisation',
  roles: roleCodes,
  params: IdParams('org'),
  response: Organization,
})

export const updateOrganization = operation({
  id: 'updateOrganization',
  tag,
  method: 'patch',
  path: '/v1/organizations/{id}',
  summary: 'Update an organisation',
  description:
    'Only the superuser of the platform can change the slug, because slugs are unique among all organisations. Others get 403.',
  agentAccess: 'confirm',
  roles: ['OA'],
  params: IdParams('org'),
  body: UpdateOrganization,
  example: { name: 'Nordlys Events ApS' },
  response: OrganizationWithWarnings,
})

export const listOrganizationMembers = operation({
  id: 'listOrganizationMembers',
  tag,
  method: 'get',
  path: '/v1/organizations/{id}/members',
  summary: 'List members',
  roles: organizationManagers,
  params: IdParams('org'),
  query: listQuery({
    ordering: ['created', 'role'],
    filters: {
      role: z.enum(memberRoles).optional(),
      edition_id: IdFilter.optional(),
      account_id: IdFilter.optional().openapi({
        description: 'The account of the member, as `requested_by` of a refund request names it.',
      }),
    },
  }),
  response: ListPage(Member),
})

export type MemberQuery = ListRequest<typeof listOrganizationMembers.query>

export const addOrganizationMember = operation({
  id: 'addOrganizationMember',
  tag,
  method: 'post',
  path: '/v1/organizations/{id}/members',
  summary: 'Add a member',
  description: 'Gives a person a role in the organisation, or, with `edition_id`, only in that edition.',
  agentAccess: 'confirm',
  roles: ['OA'],
  status: 201,
  params: IdParams('org'),
  body: AddMember,
  example: { email: 'ingrid@example.dk', first_name: 'Ingrid', role: 'manager' },
  response: Member,
})

const MemberParams = IdParams('org').extend({
  member_id: z.string().openapi({ param: { name: 'member_id', in: 'path' } }),
})

export const getOrganizationMember = operation({
  id: 'getOrganizationMember',
  tag,
  method: 'get',
  path: '/v1/organizations/{id}/members/{member_id}',
  summary: 'Retrieve a member',
  roles: organizationManagers,
  params: MemberParams,
  response: Member,
})

export const updateOrganizationMember = operation({
  id: 'updateOrganizationMember',
  tag,
  method: 'patch',
  path: '/v1/organizations/{id}/members/{member_id}',
  summary: 'Update a member',
  description:
    'A new role applies at once, also to access tokens. You cannot take the role of the last admin of an organisation: 409 `last_admin`.',
  agentAccess: 'confirm',
  roles: ['OA'],
  params: MemberParams,
  body: UpdateMember,
  example: { role: 'viewer' },
  response: Member,
  errors: ['last_admin'],
})

export const removeOrganizationMember = operation({
  id: 'removeOrganizationMember',
  tag,
  method: 'delete',
  path: '/v1/organizations/{id}/members/{member_id}',
  summary: 'Remove a member',
  description:
    'Removes a role at once, also for access tokens. You cannot remove the last admin of an organisation: 409 `last_admin`.',
  agentAccess: 'confirm',
  roles: ['OA'],
  status: 204,
  params: MemberParams,
  errors: ['last_admin'],
})

export const listEvents = operation({
  id: 'listEvents',
  tag,
  method: 'get',
  path: '/v1/events',
  summary: 'List events',
  description: 'An event is a series of editions. With edition roles you see only the events of those editions.',
  roles: roleCodes,
  query: listQuery({
    ordering: ['created', 'name'],
    filters: { organization_id: IdFilter.optional(), search: TextFilter.optional() },
  }),
  response: ListPage(Event),
})

export type EventQuery = ListRequest<typeof listEvents.query>

export const createEvent = operation({
  id: 'createEvent',
  tag,
  method: 'post',
  path: '/v1/events',
  summary: 'Create an event',
  roles: organizationManagers,
  status: 201,
  body: CreateEvent,
  example: { organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', name: 'Nordlys Festival' },
  response: Event,
})

export const getEvent = operation({
  id: 'getEvent',
  tag,
  method: 'get',
  path: '/v1/events/{id}',
  summary: 'Retrieve an event',
  roles: roleCodes,
  params: IdParams('evt'),
  response: Event,
})

export const updateEvent = operation({
  id: 'updateEvent',
  tag,
  method: 'patch',
  path: '/v1/events/{id}',
  summary: 'Update an event',
  description:
    'A new name changes `full_name` of the editions of the event, also on passes. Archived editions keep theirs.',
  roles: organizationManagers,
  params: IdParams('evt'),
  body: UpdateEvent,
  example: { name: 'Nordlys Festival' },
  response: EventWithWarnings,
})
