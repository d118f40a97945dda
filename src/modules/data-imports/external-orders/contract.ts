import { z } from '@hono/zod-openapi'
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
import { EditionSummary, Id, OrganizationSummary, RequiredText, Timestamp } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { FieldProblem } from '../../../http/problem.ts'

const Source = RequiredText(maxExternalSourceLength)
const Orders = z.int().min(0).max(maxOrdersPerCall)

const Result = z
  .object({
    index: z
      .int()
      .min(0)
      .max(maxOrdersPerCall - 1)
      .openapi({ description: 'Position in the call, from 0.' }),
    external_id: z
      .string()
      .max(maxExternalIdLength)
      .nullable()
      .openapi({ description: 'Null when the order names none that can be read.' }),
    action: z.enum(importActions),
    order_id: Id('ord').nullable().openapi({
      description:
        'The order that was made, changed or found. Null for one that was refused, and for a new one of a dry run.',
    }),
    errors: z.array(FieldProblem),
    warnings: z.array(FieldProblem).openapi({ description: 'What was not as it says, of an order that was taken.' }),
  })
  .openapi('ExternalOrderResult')

export const ExternalOrdersImport = z
  .object({
    id: Id('imp').nullable().openapi({ description: 'Null for a dry run, which leaves nothing behind.' }),
    name: z.string(),
    source: z.enum(['csv', 'api']),
    external_source: Source.nullable().openapi({ description: 'Null for an import without a source.' }),
    status: z.enum(importStatuses),
    organization: OrganizationSummary,
    edition: EditionSummary,
    dry_run: z.boolean(),
    options: z.object({
      on_duplicate: z.enum(duplicatePolicies),
      emit_webhooks: z.boolean(),
      send_receipts: z.boolean(),
      skipped: z.boolean(),
    }),
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
    description: 'What becomes of an order whose `external_id` is known: left alone, brought up to date, or an error.',
  }),
  dry_run: z.boolean().default(false).openapi({ description: 'Answers what would happen and writes nothing.' }),
  emit_webhooks: z.boolean().default(false).openapi({
    description:
      'Sends `purchase.action` for every purchase that becomes active or is cancelled by this, and the events of the consents.',
  }),
  send_receipts: z.boolean().default(false).openapi({
    description:
      'Sends the receipt of the edition to the customer of every order that this makes, if it is confirmed or completed and the customer has an e-mail address. 400 `no_receipt_message` when neither the edition nor the platform has one.',
  }),
  skipped: z.boolean().default(false).openapi({
    description:
      'What `false` in the `consents` of an order means: with this, that the question was shown and skipped; without, nothing.',
  }),
  orders: z
    .array(z.unknown())
    .min(1)
    .max(maxOrdersPerCall)
    .superRefine((orders, context) => {
      const beyond = findItemBeyondLimit(orders)
      if (beyond === null) return
      const message = `The items of one call have at most ${maxUnitsPerCall} units in all.`
      const path = [beyond.order, 'items', beyond.item, 'quantity']
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
  description: `Brings in up to ${maxOrdersPerCall} orders of another system, of at most ${maxUnitsPerCall} units in all. Each order is taken whole or not at all, and
\`results\` says what became of it; an order that cannot be taken does not keep the others out. Customers are found by
e-mail address, else by number; products, variants, options and locations by name without case; what is new is made.
The same \`external_id\` never makes a second order. Roles of an edition add orders to a customer whom other editions
know, and change nothing of them.`,
  roles: ['OA', 'OM', 'EA', 'EM'],
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
  errors: ['edition_archived'],
})
