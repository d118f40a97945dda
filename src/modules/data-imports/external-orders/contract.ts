import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import {
  duplicatePolicies,
  importActions,
  importStatuses,
  findItemBeyondLimit,
  maxExternalIdLength,
  maxOrdersPerCall,
  maxExternalSourceLength,
  maxUnitsPerCall,
} from '../../../domain/orders/external-orders.ts'
import { EditionSummary, Id, OrganizationSummary, Code, Timestamp } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { FieldProblem } from '../../../http/problem.ts'

const Source = Code(maxExternalSourceLength).min(1)
const Orders = z.int().min(0).max(maxOrdersPerCall)

const Result = z
  .object({
    index: z
      .int()
      .min(0)
      .max(maxOrdersPerCall - 1)
      .openapi({ description: 'Position in the request, from 0.' }),
    external_id: z
      .string()
      .max(maxExternalIdLength)
      .nullable()
      .openapi({ description: 'Null if the order has no readable id.' }),
    action: z.enum(importActions),
    order_id: Id('ord').nullable().openapi({
      description: 'The created, updated or skipped order. Null for an error, and for a new order of a dry run.',
    }),
    errors: z.array(FieldProblem),
    warnings: z.array(FieldProblem).openapi({ description: 'What was imported differently from the request.' }),
  })
  .openapi('ExternalOrderResult')

export const ExternalOrdersImport = z
  .object({
    id: Id('imp').nullable().openapi({ description: 'Null for a dry run.' }),
    name: z.string(),
    source: z.enum(['csv', 'api']),
    external_source: Source.nullable().openapi({ description: 'Null for an import without a source.' }),
    status: z.enum(importStatuses),
    organization: OrganizationSummary,
    edition: EditionSummary,
    dry_run: z.boolean(),
    on_duplicate: z.enum(duplicatePolicies),
    emit_webhooks: z.boolean(),
    send_receipts: z.boolean(),
    skipped: z.boolean(),
    options: z
      .object({
        on_duplicate: z.enum(duplicatePolicies),
        emit_webhooks: z.boolean(),
        send_receipts: z.boolean(),
        skipped: z.boolean(),
      })
      .openapi({ deprecated: true, description: 'Deprecated: the same fields are in the import itself.' }),
    total_rows: Orders,
    created_orders: Orders,
    updated_orders: Orders,
    skipped_orders: Orders,
    failed_orders: Orders,
    results: z.array(Result).max(maxOrdersPerCall),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('ExternalOrdersImport')

const ImportExternalOrders = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt'),
  source: Source.openapi({ description: 'Name of the other system.', example: 'webshop' }),
  on_duplicate: z.enum(duplicatePolicies).default('skip').openapi({
    description: 'How to treat an order whose `external_id` already exists: skip it, update it, or report an error.',
  }),
  dry_run: z.boolean().default(false).openapi({ description: 'Shows the results without writing anything.' }),
  emit_webhooks: z.boolean().default(false).openapi({
    description:
      'Sends `order.*` for every order that is created or changed, `purchase.action` for every purchase that becomes active or cancelled, `user.updated` for customers whose fields change, and the events of consents.',
  }),
  send_receipts: z
    .boolean()
    .default(false)
    .openapi({
      description:
        'Sends the receipt of the edition to the customer of every new order that is confirmed or completed. Needs ' +
        'an e-mail address of the customer. 400 `no_receipt_message` if neither the edition nor the platform has a ' +
        'receipt. A customer who unsubscribed and agrees to marketing by e-mail in a later order is asked to confirm ' +
        'it, once in 30 days.',
    }),
  skipped: z
    .boolean()
    .default(false)
    .openapi({
      description:
        'True: `false` in the `consents` of an order means that the question was shown and skipped. False: it means ' +
        'nothing.',
    }),
  orders: z
    .array(z.unknown())
    .min(1)
    .max(maxOrdersPerCall)
    .superRefine((orders, context) => {
      const item = findItemBeyondLimit(orders)
      if (item === null) return
      const message = `The items of a request have at most ${maxUnitsPerCall} units in total.`
      const path = [item.orderIndex, 'items', item.itemIndex, 'quantity']
      context.addIssue({ code: 'custom', params: { code: 'max_value' }, path, message })
    })
    .openapi({
      type: 'array',
      minItems: 1,
      maxItems: maxOrdersPerCall,
      items: { $ref: '#/components/schemas/ExternalOrder' },
    }),
})

export type ImportExternalOrdersInput = z.output<typeof ImportExternalOrders>

export const importExternalOrders = operation({
  id: 'importExternalOrders',
  tag: 'Data Imports',
  method: 'post',
  path: '/v1/data-imports/external-orders',
  summary: 'Import external orders',
  description: `Imports up to ${maxOrdersPerCall} orders of another system with at most ${maxUnitsPerCall} units in total. Each order is imported completely or
not at all, independently of the others, and \`results\` shows its outcome. Customers are found by e-mail address or else
by phone number; products, variants, options and locations by name, ignoring case. New ones are created. The same
\`external_id\` never creates a second order. **When every order is refused, nothing is stored and the answer is 422
\`orders_refused\`**: \`errors\` point at the orders, and \`data_import\` and \`results\` are those of a 201. Roles of an edition can add orders to a customer of other editions, but do
not change the customer.`,
  agentAccess: 'confirm',
  roles: managers,
  status: 201,
  body: ImportExternalOrders,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    source: 'webshop',
    orders: [
      {
        external_id: 'A-1001',
        currency: 'dkk',
        customer: { email: 'aegir@example.dk', first_name: 'Ægir', last_name: 'Holm' },
        items: [{ product: 'Day ticket', quantity: 2, unit_price: 225 }],
      },
    ],
  },
  response: ExternalOrdersImport,
  errors: ['edition_archived', 'orders_refused'],
})
