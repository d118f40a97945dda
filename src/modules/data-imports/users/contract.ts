import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import { maxUsersPerCall } from '../../../domain/accounts/imported-users.ts'
import { importActions, importStatuses, maxExternalSourceLength } from '../../../domain/orders/external-orders.ts'
import { Code, Id } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { FieldProblem } from '../../../http/problem.ts'

export { ImportedUserSchema } from '../../user-import/index.ts'

const Source = Code(maxExternalSourceLength).min(1)
const Users = z.int().min(0).max(maxUsersPerCall)

const Result = z
  .object({
    index: z
      .int()
      .min(0)
      .max(maxUsersPerCall - 1),
    action: z.enum(importActions),
    user_id: Id('usr').nullable().openapi({
      description: 'The created, updated or skipped customer. Null for an error, and for a new customer of a dry run.',
    }),
    errors: z.array(FieldProblem),
    warnings: z.array(FieldProblem),
  })
  .openapi('ImportedUserResult', {
    description:
      'The outcome of a customer. `created`: the edition did not know them, or, for roles of the organisation, the organisation did not.',
  })

export const UsersImport = z
  .object({
    id: Id('imp').nullable().openapi({ description: 'Null for a dry run.' }),
    status: z.enum(importStatuses),
    dry_run: z.boolean(),
    total_rows: Users,
    created_users: Users,
    updated_users: Users,
    skipped_users: Users,
    failed_users: Users,
    results: z.array(Result).max(maxUsersPerCall),
  })
  .openapi('UsersImport')

const ImportUsers = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt'),
  source: Source.openapi({ description: 'Name of the other system.', example: 'mailchimp' }),
  dry_run: z.boolean().default(false),
  emit_webhooks: z.boolean().default(false),
  users: z
    .array(z.unknown())
    .min(1)
    .max(maxUsersPerCall)
    .openapi({
      type: 'array',
      minItems: 1,
      maxItems: maxUsersPerCall,
      items: { $ref: '#/components/schemas/ImportedUser' },
    }),
})

export type ImportUsersInput = z.output<typeof ImportUsers>

export const importUsers = operation({
  id: 'importUsers',
  tag: 'Data Imports',
  method: 'post',
  path: '/v1/data-imports/users',
  summary: 'Import users',
  description: `Adds up to ${maxUsersPerCall} customers without orders to an edition, with their answers to consents. \`results\` shows the outcome of
each. A customer who exists is completed, and nothing is overwritten; sending a customer again changes nothing. Nothing
is sent to them. **When every customer is refused, nothing is stored and the answer is 422 \`users_refused\`.** What only a
role of the organisation may do is refused in its row with \`organization_role_required\`. The import can be undone;
withdrawals and suppressions stay.`,
  agentAccess: 'confirm',
  roles: managers,
  status: 201,
  body: ImportUsers,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    source: 'mailchimp',
    users: [{ email: 'aegir@example.dk', first_name: 'Ægir', last_name: 'Holm', status: 'subscribed' }],
  },
  response: UsersImport,
  errors: ['edition_archived', 'users_refused'],
})
