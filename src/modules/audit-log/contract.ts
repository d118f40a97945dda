import { z } from '@hono/zod-openapi'
import { Id, KnownEmail, PersonName, Timestamp } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { ListPage, type ListRequest, IdFilter, InstantFilter, listQuery } from '../../http/requests/list-query.ts'

const Change = z.object({
  field: z.string().openapi({ description: 'The name of the field in the resource.', example: 'name' }),
  before: z.unknown().openapi({
    description: 'The value before the change. Null when the field was empty or is hidden.',
    example: 'Early birds',
  }),
  after: z.unknown().openapi({
    description: 'The value after the change. Null when the field is empty or hidden.',
    example: 'Regulars',
  }),
  is_hidden: z.boolean().openapi({
    description:
      'True when the log does not contain the values: secrets, contents of messages, long values, and data of erased customers.',
  }),
})

export const AuditEntry = z
  .object({
    id: Id('aud'),
    created: Timestamp,
    action: z.string().openapi({
      description: 'The operation that made the change. `rejectAccessToken`: someone used an expired or revoked token.',
      example: 'updateSegment',
    }),
    actor: z.object({
      id: z.union([Id('usr'), z.literal('root')]).openapi({
        description:
          'The account, the customer who answered a consent through a link, or `root` for the superuser of the platform.',
      }),
      email: KnownEmail.nullable().openapi({
        description: 'Null for the superuser and for customers.',
        example: 'mette@example.dk',
      }),
      member_id: Id('mem').nullable().openapi({
        description: 'The current membership of the account in the organisation. Null when there is none.',
      }),
      first_name: PersonName,
      last_name: PersonName,
      is_superuser: z.boolean(),
    }),
    token_id: Id('tok')
      .nullable()
      .openapi({ description: 'The access token. Null for the superuser and for tokens of an identity provider.' }),
    organization_id: Id('org').nullable().openapi({ description: 'Null when the change belongs to no organisation.' }),
    edition_id: Id('edt').nullable().openapi({ description: 'Null when the change belongs to no single edition.' }),
    resource_type: z
      .string()
      .nullable()
      .openapi({ description: 'The kind of resource. Null when the operation has no resource.', example: 'segment' }),
    resource_id: z.string().nullable().openapi({
      description: 'Null when the operation has no resource.',
      example: 'seg_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    }),
    changes: z.array(Change),
    request_id: z.string().openapi({ example: 'req_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
  })
  .openapi('AuditEntry', { description: 'A change, an export or a refused token.' })

export const listAuditLog = operation({
  id: 'listAuditLog',
  tag: 'Audit Log',
  method: 'get',
  path: '/v1/audit-log',
  summary: 'List the audit log',
  description:
    'Returns who changed what in an organisation, newest first. Every successful change writes one entry in the same transaction. Exports and the use of expired tokens write entries too. Entries are deleted after 400 days.',
  roles: ['OA'],
  query: listQuery({
    ordering: ['created'],
    filters: {
      organization_id: IdFilter.optional().openapi({
        description: 'Required. Only the superuser can leave it out, to list changes that belong to no organisation.',
      }),
      actor_id: IdFilter.optional().openapi({ description: 'The id of an account, or `root` for the superuser.' }),
      action: z.string().max(64).optional().openapi({ description: 'An operation id.', example: 'updateSegment' }),
      resource_type: z
        .string()
        .max(64)
        .optional()
        .openapi({ description: 'The kind of resource.', example: 'segment' }),
      resource_id: IdFilter.optional().openapi({ description: 'The id of the resource.' }),
      created_after: InstantFilter.optional().openapi({ description: 'Only entries at or after this time.' }),
      created_before: InstantFilter.optional().openapi({ description: 'Only entries before this time.' }),
    },
  }),
  response: ListPage(AuditEntry),
})

export type AuditQuery = ListRequest<typeof listAuditLog.query>
