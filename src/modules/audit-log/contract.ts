import { z } from '@hono/zod-openapi'
import { Id, KnownEmail, PersonName, Timestamp } from '../../http/fields.ts'
import { ListPage, type ListFilters, IdFilter, InstantFilter, listQuery } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

const Change = z.object({
  field: z.string().openapi({ description: 'Name of the field in the resource.', example: 'name' }),
  before: z
    .unknown()
    .openapi({ description: 'Null where the field was empty, and where it is hidden.', example: 'Early birds' }),
  after: z
    .unknown()
    .openapi({ description: 'Null where the field is empty, and where it is hidden.', example: 'Regulars' }),
  is_hidden: z.boolean().openapi({
    description:
      'The field changed. What it holds is not kept: a secret, the content of a message, a long value, or data of a person who was erased.',
  }),
})

export const AuditEntry = z
  .object({
    id: Id('aud'),
    created: Timestamp,
    action: z.string().openapi({
      description: 'The operation, or `rejectAccessToken` for a token that was used after its end.',
      example: 'updateSegment',
    }),
    actor: z.object({
      id: z.union([Id('usr'), z.literal('root')]).openapi({
        description:
          'The account, the customer who answered a consent by a link, or `root` for the superuser of the platform.',
      }),
      email: KnownEmail.nullable().openapi({
        description: 'Null for the superuser and for customers.',
        example: 'mette@example.dk',
      }),
      member_id: Id('mem').nullable().openapi({
        description: 'A membership of the account in the organisation today; null when there is none.',
      }),
      first_name: PersonName,
      last_name: PersonName,
      is_superuser: z.boolean(),
    }),
    token_id: Id('tok')
      .nullable()
      .openapi({ description: 'Null for the superuser and for tokens of an identity provider.' }),
    organization_id: Id('org').nullable().openapi({ description: 'Null for what belongs to no organisation.' }),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for what belongs to no single edition.' }),
    resource_type: z
      .string()
      .nullable()
      .openapi({ description: 'Null where the operation is of no resource.', example: 'segment' }),
    resource_id: z.string().nullable().openapi({
      description: 'Null where the operation is of no resource.',
      example: 'seg_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    }),
    changes: z.array(Change),
    request_id: z.string().openapi({ example: 'req_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
  })
  .openapi('AuditEntry', { description: 'One change, export or refused sign-in, as it was recorded with it.' })

export const listAuditLog = operation({
  id: 'listAuditLog',
  tag: 'Audit Log',
  method: 'get',
  path: '/v1/audit-log',
  summary: 'List the audit log',
  description:
    'Who changed what in an organisation, the newest first. Every successful change has one entry, written in the same transaction; exports and tokens that were used after their end have entries too. Entries are kept for 400 days.',
  roles: ['OA'],
  query: listQuery({
    ordering: ['created'],
    filters: {
      organization_id: IdFilter.optional().openapi({
        description: 'Required. The superuser may leave it out, for what belongs to no organisation.',
      }),
      actor_id: IdFilter.optional().openapi({ description: 'An account, or `root` for the superuser.' }),
      action: z.string().max(64).optional().openapi({ description: 'An operation id.', example: 'updateSegment' }),
      resource_type: z
        .string()
        .max(64)
        .optional()
        .openapi({ description: 'The kind of resource.', example: 'segment' }),
      resource_id: IdFilter.optional().openapi({ description: 'The resource.' }),
      created_after: InstantFilter.optional().openapi({ description: 'From this time on.' }),
      created_before: InstantFilter.optional().openapi({ description: 'Before this time.' }),
    },
  }),
  response: ListPage(AuditEntry),
})

export type AuditFilters = ListFilters<typeof listAuditLog.query>
