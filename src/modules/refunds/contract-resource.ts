import { z } from '@hono/zod-openapi'
import { paymentServices } from '../../domain/refunds/merchant-accounts.ts'
import { currencies } from '../../domain/money.ts'
import { refundReasons, refundSources, refundStatuses, refundTargets } from '../../domain/refunds/refunds.ts'
import {
  EditionSummary,
  FullName,
  Id,
  JsonObject,
  KnownEmail,
  OrganizationSummary,
  orNull,
  Timestamp,
} from '../../http/fields.ts'
import { boughtFields } from '../purchases/index.ts'

export const maxCommentLength = 2000

const Amount = z.number().openapi({ format: 'double', description: 'Major units.', example: 225 })

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
      order_number: z.string().nullable().openapi({ description: 'Null for an order that came without one.' }),
    }),
    purchase: orNull(
      z.object({
        id: Id('pur'),
        vendor_code: z.string().nullable().openapi({ description: 'Null when its source gave none.' }),
        product: boughtFields.product,
        variant: boughtFields.variant,
      }),
    ).openapi({ description: 'Null for a refund of a whole order or payment.' }),
    transaction_id: Id('trx').openapi({ description: 'The payment that is paid back.' }),
    customer: z.object({
      api_id: Id('usr'),
      full_name: FullName,
      email: KnownEmail.nullable().openapi({ description: 'Null for a customer without an e-mail address.' }),
    }),
    currency: z.enum(currencies),
    requested_amount: Amount,
    approved_amount: Amount.nullable().openapi({ description: 'Null until it is approved.' }),
    refunded_amount: Amount,
    breakdown: z
      .object({ price: Amount, deposit: Amount, handling_fee: Amount, service_fee: Amount })
      .openapi({ description: 'The parts of the approved amount, or of the requested one before.' }),
    reason: z.enum(refundReasons),
    comment: z.string().max(maxCommentLength),
    source: z.enum(refundSources).openapi({
      description:
        '`admin` for a person who signed in, `api` for a token, `provider` for a refund made at the provider.',
    }),
    include_fees: z.boolean(),
    cancel_purchase: z.boolean(),
    notify_customer: z.boolean(),
    requested_by: z
      .string()
      .nullable()
      .openapi({ description: 'The account that asked for it; null for a refund that was made at the provider.' }),
    reviewed_by: z.string().nullable().openapi({
      description: 'The account that approved or rejected it; null before, and where the policy approved it at once.',
    }),
    reviewed_at: Timestamp.nullable().openapi({ description: 'Null until it is reviewed.' }),
    rejection_reason: z
      .string()
      .max(maxCommentLength)
      .nullable()
      .openapi({ description: 'Null unless it was rejected.' }),
    note: z.string().max(maxCommentLength).nullable().openapi({ description: 'Of who approved it; null without one.' }),
    service: z.enum(paymentServices).nullable().openapi({
      description: 'Which service pays it back, `manual` for a person; null until it is approved.',
    }),
    failure_code: z.string().nullable().openapi({ description: 'Null unless it failed.' }),
    failure_message: z.string().nullable().openapi({ description: 'Null unless it failed.' }),
    provider_reference: z.string().nullable().openapi({ description: 'Of the refund; null until one is known.' }),
    attempts: z.int(),
    completed_at: Timestamp.nullable().openapi({ description: 'Null until it is completed.' }),
    allowed_actions: z
      .array(z.enum(allowedActions))
      .openapi({ description: 'What the caller may do with it now, as far as its status and the role say.' }),
    metadata: JsonObject,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('RefundRequest')
