import { z } from '@hono/zod-openapi'
import { roleCodes, organizationManagersAndEditionAdmins } from '../../domain/accounts/access.ts'
import { currencies } from '../../domain/money.ts'
import { heldStatuses } from '../../domain/orders/purchases.ts'
import { leftOutReasons, refundBatchStatuses } from '../../domain/refunds/refund-batches.ts'
import { refundReasons } from '../../domain/refunds/refunds.ts'
import { Amount, Count, Id, IdParams, Instant, parseHundredths, Timestamp } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { type ListRequest, ListPage, listQuery } from '../../http/requests/list-query.ts'

const maxMessageLength = 2000
const percents = { min: 0.01, max: 100 } as const

const uses = ['unused', 'used'] as const
const Status = z.enum(heldStatuses as ['active', 'used'])

const Filter = z.object({
  product_id: Id('prd').optional(),
  variant_id: Id('var').optional(),
  location_id: Id('loc').optional(),
  status: Status.optional().openapi({
    description: 'The status of the purchase. Purchases with another status are never paid back.',
  }),
  uses: z.enum(uses).optional().openapi({ description: '`unused`: purchases without uses, apart from reverted ones.' }),
  created_after: Instant.optional().openapi({ description: 'Purchases created at or after this time.' }),
  created_before: Instant.optional().openapi({ description: 'Purchases created before this time.' }),
})

const CreateRefundBatch = z.object({
  filter: Filter.openapi({ description: 'The purchases of the edition to refund. `{}` means all of them.' }),
  amount: z
    .enum(['full', 'percent'])
    .openapi({ description: '`full` pays back everything that is left of each order, `percent` a part of it.' }),
  percent: z.number().min(percents.min).max(percents.max).transform(parseHundredths).optional().openapi({
    multipleOf: 0.01,
    minimum: percents.min,
    maximum: percents.max,
    description: 'Only with `amount: percent`: the percentage of what is left, rounded half up to the cent.',
    example: 50,
  }),
  reason: z.enum(refundReasons),
  message: z.string().trim().max(maxMessageLength).optional().openapi({
    description:
      'A text in the confirmation that each customer gets. In your own messages it is `refund.message`. Empty for none.',
  }),
  include_fees: z.boolean().optional().openapi({
    default: false,
    description: 'Also pays handling fees back, and service fees of orders that are paid back completely.',
  }),
  cancel_purchases: z.boolean().optional().openapi({
    default: false,
    description: 'Sets each purchase to `refunded` when its refund completes, including free purchases of paid orders.',
  }),
  notify_customers: z.boolean().optional().openapi({ default: true }),
})
export type CreateBatchInput = z.output<typeof CreateRefundBatch>

const LeftOut = z
  .array(z.object({ reason: z.enum(leftOutReasons), purchases: Count }))
  .openapi({ description: 'Purchases that match the filter but get no request, by reason.' })

const Totals = z.object({
  orders: Count.openapi({ description: 'Each order gets one request.' }),
  purchases: Count,
  amounts: z.array(z.object({ currency: z.enum(currencies), amount: Amount(22_500) })),
  left_out: LeftOut,
})

export const RefundBatch = z
  .object({
    id: Id('rfb'),
    status: z.enum(refundBatchStatuses),
    organization_id: Id('org'),
    edition_id: Id('edt'),
    filter: z.object({
      product_id: Id('prd').nullable().openapi({ description: 'Null for all products.' }),
      variant_id: Id('var').nullable().openapi({ description: 'Null for all variants.' }),
      location_id: Id('loc').nullable().openapi({ description: 'Null for all locations.' }),
      status: Status.nullable().openapi({ description: 'Null for both statuses.' }),
      uses: z.enum(uses).nullable().openapi({ description: 'Null for used and unused purchases.' }),
      created_after: Timestamp.nullable().openapi({ description: 'Null for no lower limit.' }),
      created_before: Timestamp.nullable().openapi({ description: 'Null for no upper limit.' }),
    }),
    amount: z.enum(['full', 'percent']),
    percent: z
      .number()
      .min(percents.min)
      .max(percents.max)
      .nullable()
      .openapi({ description: 'Null for `amount: full`.' }),
    reason: z.enum(refundReasons),
    message: z.string().max(maxMessageLength).openapi({ description: 'Empty for none.' }),
    include_fees: z.boolean(),
    cancel_purchases: z.boolean(),
    notify_customers: z.boolean(),
    dry_run: Totals.extend({ customers: Count }).openapi({
      description: 'What the batch would pay back. The numbers are final when the status is no longer `counting`.',
    }),
    requested: Totals.openapi({ description: 'What the batch has requested so far.' }),
    requests: z
      .array(
        z.object({
          currency: z.enum(currencies),
          open: Count,
          open_amount: Amount(22_500),
          completed: Count,
          completed_amount: Amount(22_500),
          failed: Count,
          failed_amount: Amount(22_500),
          needs_attention: Count.openapi({
            description: 'Requests that a person has to check. They are also counted by their status.',
          }),
        }),
      )
      .openapi({ description: 'The progress of the requests, by currency.' }),
    created_by: z.string().openapi({ description: 'The account that created the batch.' }),
    is_own: z.boolean().openapi({
      description: 'Whether your account created the batch. With `four_eyes` you cannot start it then.',
    }),
    started_by: z.string().nullable().openapi({ description: 'The account that started the batch; null until then.' }),
    started_at: Timestamp.nullable().openapi({ description: 'Null until the batch is started.' }),
    ended_at: Timestamp.nullable().openapi({
      description: 'When the batch finished or was cancelled; null until then.',
    }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('RefundBatch')

const tag = 'Refunds' as const

export const createRefundBatch = operation({
  id: 'createRefundBatch',
  tag,
  method: 'post',
  path: '/v1/editions/{id}/refund-batches',
  summary: 'Create a refund batch',
  description:
    'Refunds many purchases of an edition, for example when it is cancelled. Creating a batch only starts a dry run, which counts what would be paid back and ends with the status `draft`; for a large edition it runs in the background. Later orders are not part of the batch.',
  roles: organizationManagersAndEditionAdmins,
  status: 201,
  params: IdParams('edt'),
  body: CreateRefundBatch,
  example: { filter: { uses: 'unused' }, amount: 'full', reason: 'event_cancelled', cancel_purchases: true },
  response: RefundBatch,
  errors: ['edition_archived'],
})

export const listRefundBatches = operation({
  id: 'listRefundBatches',
  tag,
  method: 'get',
  path: '/v1/editions/{id}/refund-batches',
  summary: 'List refund batches',
  roles: roleCodes,
  params: IdParams('edt'),
  query: listQuery({ ordering: ['created', 'modified'], filters: { status: z.enum(refundBatchStatuses).optional() } }),
  response: ListPage(RefundBatch),
})

export type BatchQuery = ListRequest<typeof listRefundBatches.query>

export const getRefundBatch = operation({
  id: 'getRefundBatch',
  tag,
  method: 'get',
  path: '/v1/refund-batches/{id}',
  summary: 'Retrieve a refund batch',
  roles: roleCodes,
  params: IdParams('rfb'),
  response: RefundBatch,
})

export const startRefundBatch = operation({
  id: 'startRefundBatch',
  tag,
  ...action('/v1/refund-batches', 'rfb', 'start'),
  summary: 'Start a refund batch',
  description:
    'Starts a draft. In the background, each order gets one approved refund request. Changes since the dry run are taken into account, but the batch never pays back more than the dry run counted. The refund policy applies to the batch as a whole: `manager_limit` to its total, and with `four_eyes` another account than its creator must start it.',
  agentAccess: 'confirm',
  roles: organizationManagersAndEditionAdmins,
  response: RefundBatch,
  errors: ['invalid_transition', 'nothing_to_refund', 'four_eyes_required', 'above_limit', 'edition_archived'],
})

export const cancelRefundBatch = operation({
  id: 'cancelRefundBatch',
  tag,
  ...action('/v1/refund-batches', 'rfb', 'cancel'),
  summary: 'Cancel a refund batch',
  description: 'Stops the batch. Requests that it has already made are still paid back.',
  agentAccess: 'confirm',
  roles: organizationManagersAndEditionAdmins,
  response: RefundBatch,
  errors: ['invalid_transition'],
})
