import { z } from '@hono/zod-openapi'
import { roleCodes, managers } from '../../domain/accounts/access.ts'
import { currencies, maxAmountMinor, toMajor } from '../../domain/money.ts'
import { paymentServices } from '../../domain/refunds/merchant-accounts.ts'
import { refundReasons, refundSources, refundStatuses, refundTargets } from '../../domain/refunds/refunds.ts'
import {
  Amount,
  EditionSummary,
  FullName,
  AnyCase,
  Id,
  IdParams,
  JsonObject,
  KnownEmail,
  OrganizationSummary,
  orNull,
  Timestamp,
  waitingFields,
  parseHundredths,
} from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import {
  ListPage,
  type ListRequest,
  IdFilter,
  InstantFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { productFields } from '../purchases/index.ts'

const maxCommentLength = 2000

const allowedActions = ['approve', 'reject', 'cancel', 'retry', 'settle'] as const
export type AllowedAction = (typeof allowedActions)[number]

export const RefundRequest = z
  .object({
    id: Id('rfr'),
    status: z.enum(refundStatuses),
    target: z.enum(refundTargets),
    organization: OrganizationSummary,
    edition: EditionSummary,
    order: z.object({
      id: Id('ord'),
      order_number: z.string().nullable().openapi({ description: 'Null for an order without a number.' }),
      external_id: z.string().nullable().openapi({ description: 'Null for an order without an external id.' }),
    }),
    purchase: orNull(
      z.object({
        id: Id('pur'),
        vendor_code: z.string().nullable().openapi({ description: 'The code of the ticket; null without one.' }),
        product: productFields.product,
        variant: productFields.variant,
      }),
    ).openapi({ description: 'Null for a refund of a whole order or payment.' }),
    transaction_id: Id('trx').openapi({ description: 'The payment that is refunded.' }),
    refund_batch_id: Id('rfb')
      .nullable()
      .openapi({ description: 'The batch that made the request; null for any other.' }),
    customer: z.object({
      api_id: Id('usr'),
      full_name: FullName,
      email: KnownEmail.nullable().openapi({ description: 'Null for a customer without an e-mail address.' }),
    }),
    currency: z.enum(currencies),
    requested_amount: Amount(225),
    approved_amount: Amount(225).nullable().openapi({ description: 'Null until the request is approved.' }),
    refunded_amount: Amount(225),
    breakdown: z
      .object({ price: Amount(225), deposit: Amount(225), handling_fee: Amount(225), service_fee: Amount(225) })
      .openapi({ description: 'The parts of the approved amount; before the approval, of the requested amount.' }),
    reason: z.enum(refundReasons),
    comment: z.string().max(maxCommentLength),
    source: z.enum(refundSources).openapi({
      description:
        '`admin`: a signed-in person. `api`: an API token. `provider`: the refund was made at the payment provider.',
    }),
    include_fees: z.boolean(),
    cancel_purchase: z.boolean(),
    notify_customer: z.boolean(),
    requested_by: z
      .string()
      .nullable()
      .openapi({ description: 'The account that made the request; null for a refund that was made at the provider.' }),
    is_own: z.boolean().openapi({
      description: 'Whether your account made the request. With `four_eyes` you cannot approve it then.',
    }),
    reviewed_by: z.string().nullable().openapi({
      description:
        'The account that approved or rejected the request; null before, and when the refund policy approved it automatically.',
    }),
    reviewed_at: Timestamp.nullable().openapi({ description: 'Null until the request is reviewed.' }),
    rejection_reason: z
      .string()
      .max(maxCommentLength)
      .nullable()
      .openapi({ description: 'Null unless the request was rejected.' }),
    note: z
      .string()
      .max(maxCommentLength)
      .nullable()
      .openapi({ description: 'The note of the reviewer; null without one.' }),
    service: z.enum(paymentServices).nullable().openapi({
      description: 'The service that pays the refund; `manual` means a person. Null until the request is approved.',
    }),
    failure_code: z.string().nullable().openapi({
      description:
        'Null unless the refund failed. `payment_not_found` may also mean that a role of the organisation has to approve it.',
    }),
    failure_message: z.string().nullable().openapi({ description: 'Null unless the refund failed.' }),
    provider_reference: z
      .string()
      .nullable()
      .openapi({ description: 'The id of the refund at its provider; null until it is known.' }),
    attempts: z.int(),
    ...waitingFields,
    waiting_reason: waitingFields.waiting_reason.openapi({
      description: 'A person who has to pay it, or a provider that fails. Null while it does not wait.',
    }),
    completed_at: Timestamp.nullable().openapi({ description: 'Null until the refund is completed.' }),
    allowed_actions: z
      .array(z.enum(allowedActions))
      .openapi({ description: 'The actions that the status and your role allow now.' }),
    metadata: JsonObject,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('RefundRequest')

/**
 * Parses an amount in major units to minor units. An amount of 0 is checked later, because only a request that cancels
 * a purchase may have it.
 */
const RequestedAmount = z
  .number()
  .max(toMajor(maxAmountMinor))
  .transform(parseHundredths)
  .openapi({ minimum: 0, multipleOf: 0.01, example: 225 })

const requestFields = {
  amount: RequestedAmount.optional().openapi({
    description:
      'The amount to pay back; by default everything that is left. 0 is allowed only with `cancel_purchase`.',
  }),
  currency: AnyCase(currencies)
    .optional()
    .openapi({ description: 'The currency of the order. Optional: a different currency is refused.' }),
  reason: z.enum(refundReasons),
  comment: z.string().max(maxCommentLength).optional(),
  include_fees: z.boolean().optional().openapi({
    default: false,
    description:
      'Also pays back handling fees and, for an order or payment, the service fee and everything else that is left of the payment.',
  }),
  cancel_purchase: z.boolean().optional().openapi({
    default: false,
    description: 'Sets the purchases to `refunded` when the refund completes.',
  }),
  notify_customer: z.boolean().optional().openapi({ default: true }),
  metadata: JsonObject.optional(),
}

const CreatePurchaseRefundRequest = z.object(requestFields)
const CreateRefundRequest = z.object({
  purchase_id: Id('pur').nullish(),
  order_id: Id('ord').nullish(),
  transaction_id: Id('trx').nullish().openapi({ description: 'The id of a payment.' }),
  ...requestFields,
})

export type CreateInput = z.output<typeof CreatePurchaseRefundRequest>
export type CreateForTargetInput = z.output<typeof CreateRefundRequest>

const ApproveRefundRequest = z.object({
  amount: RequestedAmount.optional().openapi({
    description: 'At most the requested amount, which is also the default.',
  }),
  note: z.string().max(maxCommentLength).nullish(),
  cancel_purchase: z.boolean().optional(),
  notify_customer: z.boolean().optional(),
})
export type ApproveInput = z.output<typeof ApproveRefundRequest>

const RejectRefundRequest = z.object({
  reason: z.string().trim().min(1).max(maxCommentLength),
  notify_customer: z.boolean().optional().openapi({ description: 'Whether to e-mail the reason to the customer.' }),
})
export type RejectInput = z.output<typeof RejectRefundRequest>

const createDescription =
  'The request reserves its amount. Of simultaneous requests, only as many succeed as there is money left; the others get 400 `amount_exceeds_available` or 409 `nothing_to_refund`. Price and deposit are paid back, the handling fee only with `include_fees`. The refund policy of the organisation may approve small amounts automatically.'

const createErrors = [
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
  summary: 'Create a refund request for a purchase',
  description: createDescription,
  agentAccess: 'confirm',
  roles: managers,
  status: 201,
  params: IdParams('pur'),
  body: CreatePurchaseRefundRequest,
  example: { amount: 225, reason: 'customer_request' },
  response: RefundRequest,
  errors: createErrors,
})

export const createRefundRequest = operation({
  id: 'createRefundRequest',
  tag: 'Refunds',
  method: 'post',
  path: '/v1/refund-requests',
  summary: 'Create a refund request',
  description: `Send exactly one of \`purchase_id\`, \`order_id\` and \`transaction_id\`. The amount for an order or a payment is divided among the purchases in proportion to what is left of each, rounded to the cent by the largest remainder. With \`include_fees\`, the amount beyond the purchases is the service fee. ${createDescription}`,
  agentAccess: 'confirm',
  roles: managers,
  status: 201,
  body: CreateRefundRequest,
  example: { order_id: 'ord_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', reason: 'event_cancelled', cancel_purchase: true },
  response: RefundRequest,
  errors: createErrors,
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
      purchase_id: IdFilter.optional().openapi({
        description: 'Includes requests for the whole order of the purchase.',
      }),
      customer_id: IdFilter.optional(),
      refund_batch_id: IdFilter.optional(),
      status: z.enum(refundStatuses).optional(),
      reason: z.enum(refundReasons).optional(),
      source: z.enum(refundSources).optional(),
      search: TextFilter.optional().openapi({
        description:
          'An exact request id or provider reference, or a part of the order number, order id, transaction id, customer e-mail or phone number.',
      }),
      created_after: InstantFilter.optional(),
      created_before: InstantFilter.optional(),
    },
  }),
  response: ListPage(RefundRequest),
})

export type RefundQuery = ListRequest<typeof listRefundRequests.query>

export const getRefundRequest = operation({
  id: 'getRefundRequest',
  tag: 'Refunds',
  method: 'get',
  path: '/v1/refund-requests/{id}',
  summary: 'Retrieve a refund request',
  roles: roleCodes,
  params: IdParams('rfr'),
  response: RefundRequest,
})

const approvalErrors = [
  'invalid_transition',
  'four_eyes_required',
  'above_limit',
  'merchant_not_ready',
  ...createErrors,
] as const

export const approveRefundRequest = operation({
  id: 'approveRefundRequest',
  tag: 'Refunds',
  ...action('/v1/refund-requests', 'rfr', 'approve'),
  summary: 'Approve a refund request',
  description:
    'Approves a pending or failed request. A smaller amount releases the rest. The money is paid back in the background, through the account of the payment. Without one, or with `settle_manually`, the answer is `processing`: a person has to pay it and confirm it with `settle`, and the customer is told then.',
  agentAccess: 'confirm',
  roles: managers,
  body: ApproveRefundRequest,
  example: { note: 'As agreed by telephone' },
  response: RefundRequest,
  errors: approvalErrors,
})

export const rejectRefundRequest = operation({
  id: 'rejectRefundRequest',
  tag: 'Refunds',
  ...action('/v1/refund-requests', 'rfr', 'reject'),
  summary: 'Reject a refund request',
  agentAccess: 'confirm',
  roles: managers,
  body: RejectRefundRequest,
  example: { reason: 'Tickets are not refundable in the last 48 hours' },
  response: RefundRequest,
  errors: ['invalid_transition', 'edition_archived'],
})

export const cancelRefundRequest = operation({
  id: 'cancelRefundRequest',
  tag: 'Refunds',
  ...action('/v1/refund-requests', 'rfr', 'cancel'),
  summary: 'Cancel a refund request',
  description:
    'Only the account that made the request can cancel it, with any of its tokens, while the request is pending. Other accounts reject it.',
  agentAccess: 'confirm',
  roles: managers,
  response: RefundRequest,
  errors: ['invalid_transition', 'edition_archived'],
})

export const retryRefundRequest = operation({
  id: 'retryRefundRequest',
  tag: 'Refunds',
  ...action('/v1/refund-requests', 'rfr', 'retry'),
  summary: 'Retry a refund request',
  description:
    'Approves a failed request again with the same amount, as a new attempt. The amount must still be available.',
  agentAccess: 'confirm',
  roles: managers,
  response: RefundRequest,
  errors: approvalErrors,
})
