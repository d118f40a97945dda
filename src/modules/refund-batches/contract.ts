import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../domain/accounts/access.ts'
import { currencies, toMinor } from '../../domain/money.ts'
import { heldStatuses } from '../../domain/orders/purchases.ts'
import { leftOutReasons, refundBatchStatuses } from '../../domain/refunds/refund-batches.ts'
import { refundReasons } from '../../domain/refunds/refunds.ts'
import { Count, Id, IdParams, Instant, Timestamp } from '../../http/fields.ts'
import { type ListRequest, ListPage, listQuery } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

const maxMessageLength = 2000
const percents = { min: 0.01, max: 100 } as const

const Amount = z.number().openapi({ format: 'double', description: 'Major units.', example: 22_500 })

const uses = ['unused', 'used'] as const
const Status = z.enum(heldStatuses as ['active', 'used'])

const Filter = z.object({
  product_id: Id('prd').optional(),
  variant_id: Id('var').optional(),
  location_id: Id('loc').optional(),
  status: Status.optional().openapi({ description: 'Of the purchase. Others than these are never paid back.' }),
  uses: z.enum(uses).optional().openapi({ description: '`unused` for purchases without a use that counts.' }),
  created_after: Instant.optional().openapi({ description: 'Purchases that were made then or later.' }),
  created_before: Instant.optional().openapi({ description: 'Purchases that were made then or earlier.' }),
})

const CreateRefundBatch = z.object({
  filter: Filter.openapi({ description: 'Which purchases of the edition; all of them with `{}`.' }),
  amount: z.enum(['full', 'percent']).openapi({ description: 'All of what is left of each order, or a part of it.' }),
  percent: z
    .number()
    .min(percents.min)
    .max(percents.max)
    .transform((percent, context) => {
      const hundredths = toMinor(percent)
      if (hundredths !== null) return hundredths
      context.addIssue({ code: 'custom', params: { code: 'max_decimal_places' }, message: 'At most 2 decimals.' })
      return z.NEVER
    })
    .optional()
    .openapi({
      multipleOf: 0.01,
      minimum: percents.min,
      maximum: percents.max,
      description: 'With `amount: percent` alone: of what is left, rounded half up to the cent.',
      example: 50,
    }),
  reason: z.enum(refundReasons),
  message: z.string().trim().max(maxMessageLength).optional().openapi({
    description:
      'Empty for none. Stands in the confirmation that each customer gets, and as `refund.message` in messages of your own.',
  }),
  include_fees: z.boolean().optional().openapi({
    default: false,
    description: 'Pays handling fees back too, and service fees of orders of which everything is paid back.',
  }),
  cancel_purchases: z.boolean().optional().openapi({
    default: false,
    description: 'Each purchase becomes `refunded` when its refund completes; free ones of paid orders too.',
  }),
  notify_customers: z.boolean().optional().openapi({ default: true }),
})
export type CreateBatchInput = z.output<typeof CreateRefundBatch>

const LeftOut = z
  .array(z.object({ reason: z.enum(leftOutReasons), purchases: Count }))
  .openapi({ description: 'Purchases that the filter names and that get no request, by reason.' })

const Found = z.object({
  orders: Count.openapi({ description: 'Each gets one request.' }),
  purchases: Count,
  amounts: z.array(z.object({ currency: z.enum(currencies), amount: Amount })),
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
      status: Status.nullable().openapi({ description: 'Null for both.' }),
      uses: z.enum(uses).nullable().openapi({ description: 'Null for used and unused ones.' }),
      created_after: Timestamp.nullable().openapi({ description: 'Null for no earliest time.' }),
      created_before: Timestamp.nullable().openapi({ description: 'Null for no latest time.' }),
    }),
    amount: z.enum(['full', 'percent']),
    percent: z.number().min(percents.min).max(percents.max).nullable().openapi({ description: 'Null for all of it.' }),
    reason: z.enum(refundReasons),
    message: z.string().max(maxMessageLength).openapi({ description: 'Empty for none.' }),
    include_fees: z.boolean(),
    cancel_purchases: z.boolean(),
    notify_customers: z.boolean(),
    dry_run: Found.extend({ customers: Count }).openapi({
      description: 'What would be paid back, exactly, once the status is no longer `counting`.',
    }),
    requested: Found.openapi({ description: 'What was requested so far.' }),
    requests: z
      .array(
        z.object({
          currency: z.enum(currencies),
          open: Count,
          open_amount: Amount,
          completed: Count,
          completed_amount: Amount,
          failed: Count,
          failed_amount: Amount,
          needs_attention: Count.openapi({ description: 'Also counted by their status.' }),
        }),
      )
      .openapi({ description: 'How the requests stand, of each currency.' }),
    created_by: z.string().openapi({ description: 'The account.' }),
    started_by: z.string().nullable().openapi({ description: 'The account; null until it is started.' }),
    started_at: Timestamp.nullable().openapi({ description: 'Null until it is started.' }),
    ended_at: Timestamp.nullable().openapi({
      description: 'When all was requested, or the batch was cancelled; null until then.',
    }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('RefundBatch')

const tag = 'Refunds' as const
const makers = ['OA', 'OM', 'EA'] as const

export const createRefundBatch = operation({
  id: 'createRefundBatch',
  tag,
  method: 'post',
  path: '/v1/editions/{id}/refund-batches',
  summary: 'Create refund batch',
  description:
    'For an edition that is called off or changed: a dry run counts what would be paid back, and changes nothing. It ends with status `draft`; a large one is counted in the background. Purchases of orders that are made later are not in it.',
  roles: makers,
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
  summary: 'Retrieve refund batch',
  roles: roleCodes,
  params: IdParams('rfb'),
  response: RefundBatch,
})

export const startRefundBatch = operation({
  id: 'startRefundBatch',
  tag,
  method: 'post',
  path: '/v1/refund-batches/{id}/start',
  summary: 'Start refund batch',
  description:
    'Of a draft. In the background each order gets one approved request, in which a purchase is paid back at most once; what changed since the dry run is decided anew, and never beyond the sums of the dry run. The limit of managers and the second pair of eyes of the refund policy are asked for the batch as a whole: with `four_eyes`, another account starts it than made it.',
  roles: makers,
  params: IdParams('rfb'),
  response: RefundBatch,
  errors: ['invalid_transition', 'nothing_to_refund', 'four_eyes_required', 'above_limit', 'edition_archived'],
})

export const cancelRefundBatch = operation({
  id: 'cancelRefundBatch',
  tag,
  method: 'post',
  path: '/v1/refund-batches/{id}/cancel',
  summary: 'Cancel refund batch',
  description: 'Stops what was not requested yet. Requests that were made stay, and are paid back.',
  roles: makers,
  params: IdParams('rfb'),
  response: RefundBatch,
  errors: ['invalid_transition'],
})
