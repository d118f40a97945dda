import { z } from '@hono/zod-openapi'
import { organizationManagers, organizationReaders } from '../../domain/accounts/access.ts'
import { maxEmailLength } from '../../domain/accounts/users.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import { maxSuppressionDetailLength, suppressionReasons } from '../../domain/messaging/suppressions.ts'
import { Id, IdParams, Instant, RequiredText, Timestamp } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { ByteOrderMark } from '../../http/requests/export-query.ts'
import { IdFilter, ListPage, type ListRequest, listQuery, TextFilter } from '../../http/requests/list-query.ts'

const Channel = z.enum(channels)
const Reason = z.enum(suppressionReasons).openapi({
  description:
    '`unsubscribed` and `complaint` stop marketing. `hard_bounce` and `invalid` stop every message, receipts too.',
})
const Detail = z.string().max(maxSuppressionDetailLength)
const address = 'An e-mail address, or a phone number with its country code.'

const LiftReason = RequiredText(maxSuppressionDetailLength).openapi({
  description: 'Why the suppression is lifted. The audit log keeps the text, so it must not name a person.',
  example: 'Asked for it by telephone',
})

const SuppressionFields = z.object({
  id: Id('sup'),
  organization_id: Id('org'),
  channel: Channel,
  address: z.string().max(maxEmailLength).openapi({ description: address, example: 'aegir@example.dk' }),
  reason: Reason,
  detail: Detail.openapi({ description: 'More about the reason, such as its text in an imported list.' }),
  campaign_id: Id('cmp').nullable().openapi({
    description: 'The campaign from which the person unsubscribed or that bounced. Null for any other suppression.',
  }),
  created: Timestamp.openapi({ description: 'Since when the address is suppressed.' }),
})

export const Suppression = SuppressionFields.openapi('Suppression')

const LiftedSuppression = SuppressionFields.extend({
  lift_reason: LiftReason,
}).openapi('LiftedSuppression')

const AddSuppression = z.object({
  organization_id: Id('org'),
  channel: Channel,
  address: z.string().max(maxEmailLength).openapi({ description: address, example: 'aegir@example.dk' }),
  reason: Reason.default('unsubscribed'),
  detail: Detail.default(''),
  created: Instant.optional().openapi({ description: 'Since when the address is suppressed. Default: now.' }),
})

const ImportSuppressions = z.object({
  organization_id: Id('org'),
  channel: Channel.default('email'),
  csv: z.string().min(1).max(900_000).openapi({
    description:
      'A CSV text with a header. The column `address` (or `email`, `phone_number`) has the address, `reason` the reason, and `date` (or `UNSUB_TIME`) since when, in ISO 8601. The column `status`, `subscribed` or `unsubscribed` says whether the person is subscribed. Other columns are ignored.',
    example: 'email,reason,date\naegir@example.dk,unsubscribed,2025-03-01\n',
  }),
})

const ImportResult = z
  .object({
    organization_id: Id('org'),
    total_rows: z.int(),
    added: z.int().openapi({ description: 'Addresses that were not suppressed before.' }),
    existing: z.int().openapi({ description: 'Addresses that were suppressed already, and rows that repeat one.' }),
    subscribed: z.int().openapi({
      description: 'Rows whose status says that the person is subscribed. They suppress nothing.',
    }),
    invalid: z.int().openapi({
      description: 'Rows whose address or status cannot be read. They suppress nothing.',
    }),
    problems: z
      .array(
        z.object({
          line: z.int(),
          code: z.enum(['invalid_address', 'invalid_date', 'unknown_status']),
          message: z.string(),
        }),
      )
      .openapi({
        description: 'The first 100 rows with a problem. A row with an invalid date is suppressed from now.',
      }),
  })
  .openapi('SuppressionImport')

export type AddSuppressionInput = z.output<typeof AddSuppression>
export type ImportSuppressionsInput = z.output<typeof ImportSuppressions>

const tag = 'Consents' as const
const path = '/v1/suppressions'

const ofOrganization =
  'Suppressions belong to the organisation and hold in all its editions, so roles of an edition do not see them.'

export const listSuppressions = operation({
  id: 'listSuppressions',
  tag,
  method: 'get',
  path,
  summary: 'List suppressions',
  description: `Lists the addresses that get no marketing, or no messages at all. ${ofOrganization}`,
  roles: organizationReaders,
  query: listQuery({
    ordering: ['created', 'address'],
    filters: {
      organization_id: IdFilter.optional(),
      channel: Channel.optional(),
      reason: z.enum(suppressionReasons).optional(),
      address: TextFilter.optional().openapi({ description: 'The whole address, in any spelling.' }),
    },
  }),
  response: ListPage(Suppression),
})

export type SuppressionQuery = ListRequest<typeof listSuppressions.query>

export const addSuppression = operation({
  id: 'addSuppression',
  tag,
  method: 'post',
  path,
  summary: 'Suppress an address',
  description: `No marketing goes to the address from now on, whatever its owner has agreed to. ${ofOrganization}`,
  roles: organizationManagers,
  status: 201,
  body: AddSuppression,
  example: { organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', channel: 'email', address: 'aegir@example.dk' },
  response: Suppression,
})

export const importSuppressions = operation({
  id: 'importSuppressions',
  tag,
  method: 'post',
  path: `${path}/import`,
  summary: 'Import suppressions',
  description: `Takes over the list of another system. In a list of everybody with a status, people who are subscribed are
skipped and counted, and a status that is unknown is a problem of its row. A \`reason\` that is unknown counts as
\`unsubscribed\` and is kept in \`detail\`. An address that is suppressed already stays so; a bounce or a complaint replaces
\`unsubscribed\`.`,
  agentAccess: 'confirm',
  roles: organizationManagers,
  body: ImportSuppressions,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    csv: 'email,reason,date\naegir@example.dk,unsubscribed,2025-03-01\n',
  },
  response: ImportResult,
})

export const exportSuppressions = operation({
  id: 'exportSuppressions',
  tag,
  method: 'get',
  path: `${path}/export`,
  summary: 'Export suppressions as CSV',
  description:
    'Exports all suppressions of an organisation, in a form that the import reads. The audit log records each export.',
  roles: organizationManagers,
  query: z.object({
    organization_id: IdFilter,
    bom: ByteOrderMark,
  }),
  file: {
    type: 'text/csv',
    description: 'CSV (RFC 4180) in UTF-8 with a header row.',
    example: 'channel,address,reason,detail,date\r\nemail,aegir@example.dk,unsubscribed,,2026-06-01T08:00:00.000Z\r\n',
  },
  errors: ['not_found'],
})

export const getSuppression = operation({
  id: 'getSuppression',
  tag,
  method: 'get',
  path: `${path}/{id}`,
  summary: 'Retrieve a suppression',
  roles: organizationReaders,
  params: IdParams('sup'),
  response: Suppression,
})

export const liftSuppression = operation({
  id: 'liftSuppression',
  tag,
  ...action(path, 'sup', 'lift'),
  summary: 'Lift a suppression',
  description: `Messages go to the address again. Lift a suppression only when the owner of the address asked you to, or when
you know that it was a mistake. The audit log records the reason. Consents that were withdrawn stay withdrawn.`,
  agentAccess: 'confirm',
  roles: organizationManagers,
  body: z.object({ lift_reason: LiftReason }),
  example: { lift_reason: 'Asked for it by telephone' },
  response: LiftedSuppression,
})
