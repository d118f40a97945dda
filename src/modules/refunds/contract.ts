import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../domain/accounts/access.ts'
import { currencies, maxAmountMinor, toMajor, toMinor } from '../../domain/money.ts'
import { refundReasons, refundSources, refundStatuses } from '../../domain/refunds/refunds.ts'
import { Id, IdParams, JsonObject, RequiredText } from '../../http/fields.ts'
import {
  ListPage,
  type ListFilters,
  IdFilter,
  InstantFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'
import { maxCommentLength, RefundRequest } from './contract-resource.ts'

/**
 * Takes an amount in major units and answers minor units. Amounts of 0 are judged later, because a request that cancels
 * a purchase may have one.
 */
const RequestedAmount = z
  .number()
  .max(toMajor(maxAmountMinor))
  .transform((major, context) => {
    const minor = toMinor(major)
    if (minor !== null) return minor
    context.addIssue({ code: 'custom', params: { code: 'max_decimal_places' }, message: 'At most 2 decimals.' })
    return z.NEVER
  })
  .openapi({ minimum: 0, multipleOf: 0.01, example: 225 })

const requestFields = {
  amount: RequestedAmount.optional().openapi({
    description: 'All that is left without it. 0 only together with `cancel_purchase`.',
  }),
  currency: z.enum(currencies).optional().openapi({ description: 'That of the order: a check, and never needed.' }),
  reason: z.enum(refundReasons),
  comment: z.string().max(maxCommentLength).optional(),
  include_fees: z.boolean().optional().openapi({
    default: false,
    description: 'Pays handling fees back too, and for an order or payment all that is left of the payment.',
  }),
  cancel_purchase: z.boolean().optional().openapi({
    default: false,
    description: 'The purchases become `refunded` when the refund completes, and not before.',
  }),
  notify_customer: z.boolean().optional().openapi({ default: true }),
  metadata: JsonObject.optional(),
}

const CreatePurchaseRefundRequest = z.object(requestFields)
const CreateRefundRequest = z.object({
  purchase_id: Id('pur').nullish(),
  order_id: Id('ord').nullish(),
  transaction_id: Id('trx').nullish().openapi({ description: 'A payment.' }),
  ...requestFields,
})

export type CreateInput = z.output<typeof CreatePurchaseRefundRequest>
export type CreateForTargetInput = z.output<typeof CreateRefundRequest>

const ApproveRefundRequest = z.object({
  amount: RequestedAmount.optional().openapi({ description: 'At most the requested amount, which is the default.' }),
  note: z.string().max(maxCommentLength).nullish(),
  cancel_purchase: z.boolean().optional(),
  notify_customer: z.boolean().optional(),
})
export type ApproveInput = z.output<typeof ApproveRefundRequest>

const RejectRefundRequest = z.object({
  reason: RequiredText(maxCommentLength),
  notify_customer: z.boolean().optional().openapi({ description: 'Whether the customer gets the reason by e-mail.' }),
})
export type RejectInput = z.output<typeof RejectRefundRequest>

const deciders = ['OA', 'OM', 'EA', 'EM'] as const

const creation =
  'Reserves the amount at once: of requests at the same moment only as many succeed as there is money left, the others are 400 `amount_exceeds_available` or 409 `nothing_to_refund`. Price and deposit are paid back, the handling fee only with `include_fees`. The policy of the organisation may approve small amounts at once.'

const creationErrors = [
  'nothing_to_refund',
  'purchase_not_refundable',
  'transaction_not_captured',
  'edition_archived',
] as const

export const createPurchaseRefundRequest = operation({
  id: 'createPurchaseRefundRequest',
  tag: 'Purchases',
  method: 'post',
  path: '/v1/purchases/{id}/refund-requests',
  summary: 'Create refund request for purchase',
  description: creation,
  roles: deciders,
  status: 201,
  params: IdParams('pur'),
  body: CreatePurchaseRefundRequest,
  example: { amount: 225, reason: 'customer_request' },
  response: RefundRequest,
  errors: creationErrors,
})

export const createRefundRequest = operation({
  id: 'createRefundRequest',
  tag: 'Refunds',
  method: 'post',
  path: '/v1/refund-requests',
  summary: 'Create refund request',
  description: `Exactly one of \`purchase_id\`, \`order_id\` and \`transaction_id\`. For an order or a payment the amount is spread over the purchases in proportion to what is left of each, by the largest remainder, to the cent; with \`include_fees\`, what goes beyond them is the service fee. ${creation}`,
  roles: deciders,
  status: 201,
  body: CreateRefundRequest,
  example: { order_id: 'ord_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', reason: 'event_cancelled', cancel_purchase: true },
  response: RefundRequest,
  errors: creationErrors,
})

export const listRefundRequests = operation({
  id: 'listRefundRequests',
  tag: 'Refunds',
  method: 'get',
  path: '/v1/refund-requests',
  summary: 'List refund requests',
  roles: roleCodes,
  query: listQuery({
    ordering: ['created', 'modified', 'requested_amount', 'status'],
    filters: {
      edition_id: IdFilter.optional(),
      organization_id: IdFilter.optional(),
      order_id: IdFilter.optional(),
      purchase_id: IdFilter.optional().openapi({ description: 'Also refunds of an order that pay it back in part.' }),
      customer_id: IdFilter.optional(),
      status: z.enum(refundStatuses).optional(),
      reason: z.enum(refundReasons).optional(),
      source: z.enum(refundSources).optional(),
      search: TextFilter.optional().openapi({
        description:
          'All of a request id or of a provider reference, or part of order number, order id, transaction id, customer e-mail or phone.',
      }),
      created_after: InstantFilter.optional(),
      created_before: InstantFilter.optional(),
    },
  }),
  response: ListPage(RefundRequest),
})

export type RefundFilters = ListFilters<typeof listRefundRequests.query>

export const getRefundRequest = operation({
  id: 'getRefundRequest',
  tag: 'Refunds',
  method: 'get',
  path: '/v1/refund-requests/{id}',
  summary: 'Retrieve refund request details',
  roles: roleCodes,
  params: IdParams('rfr'),
  response: RefundRequest,
})

const approvalErrors = [
  'invalid_transition',
  'four_eyes_required',
  'above_limit',
  'merchant_not_ready',
  ...creationErrors,
] as const

export const approveRefundRequest = operation({
  id: 'approveRefundRequest',
  tag: 'Refunds',
  method: 'post',
  path: '/v1/refund-requests/{id}/approve',
  summary: 'Approve refund request',
  description:
    'Of a pending request, or of one that failed. A smaller amount releases the rest. The money is paid back in the background; a refund that a person pays by hand is completed at once, unless its merchant account waits for `settle`.',
  roles: deciders,
  params: IdParams('rfr'),
  body: ApproveRefundRequest,
  example: { note: 'As agreed by telephone' },
  response: RefundRequest,
  errors: approvalErrors,
})

export const rejectRefundRequest = operation({
  id: 'rejectRefundRequest',
  tag: 'Refunds',
  method: 'post',
  path: '/v1/refund-requests/{id}/reject',
  summary: 'Reject refund request',
  roles: deciders,
  params: IdParams('rfr'),
  body: RejectRefundRequest,
  example: { reason: 'Tickets are not refundable in the last 48 hours' },
  response: RefundRequest,
  errors: ['invalid_transition', 'edition_archived'],
})

export const cancelRefundRequest = operation({
  id: 'cancelRefundRequest',
  tag: 'Refunds',
  method: 'post',
  path: '/v1/refund-requests/{id}/cancel',
  summary: 'Cancel refund request',
  description:
    'By the account that asked for it, with whichever of its tokens, while the request is pending. Others reject it.',
  roles: deciders,
  params: IdParams('rfr'),
  response: RefundRequest,
  errors: ['invalid_transition', 'edition_archived'],
})

export const retryRefundRequest = operation({
  id: 'retryRefundRequest',
  tag: 'Refunds',
  method: 'post',
  path: '/v1/refund-requests/{id}/retry',
  summary: 'Retry refund request',
  description: 'Of one that failed: approves the same amount again, if it is still there, as a new attempt.',
  roles: deciders,
  params: IdParams('rfr'),
  response: RefundRequest,
  errors: approvalErrors,
})
