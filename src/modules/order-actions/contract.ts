import { z } from '@hono/zod-openapi'
import { managers } from '../../domain/accounts/access.ts'
import { maxOrderNumberLength } from '../../domain/orders/external-orders.ts'
import { acceptableUses, orderStatuses } from '../../domain/orders/orders.ts'
import { refundReasons } from '../../domain/refunds/refunds.ts'
import { Count, Id, KnownEmail, LanguageCode, orNull, Timestamp } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { RefundRequest } from '../refunds/index.ts'
import { emailStateFields } from '../transactional-emails/index.ts'

const maxCommentLength = 2000

const OrderNumber = z
  .string()
  .max(maxOrderNumberLength)
  .nullable()
  .openapi({ description: 'Null for an order without a number.' })

const CancelOrder = z.object({
  accept: z
    .array(z.enum(acceptableUses))
    .max(acceptableUses.length)
    .optional()
    .openapi({ uniqueItems: true, description: '`used`: cancel the order although purchases were used.' }),
  refund: z.boolean().optional().openapi({
    default: false,
    description: 'Also request a refund of everything that is left of the payment. The other fields describe it.',
  }),
  reason: z.enum(refundReasons).optional().openapi({ default: 'other' }),
  comment: z.string().max(maxCommentLength).optional(),
  include_fees: z.boolean().optional().openapi({ default: false, description: 'Also pay back the fees.' }),
  notify_customer: z
    .boolean()
    .optional()
    .openapi({ default: true, description: 'Whether to e-mail the customer about the refund.' }),
})
export type CancelOrderInput = z.output<typeof CancelOrder>

export const OrderCancellation = z
  .object({
    order: z.object({
      id: Id('ord'),
      order_number: OrderNumber,
      status: z.enum(orderStatuses),
      modified: Timestamp,
    }),
    cancelled_purchases: Count.openapi({ description: 'How many purchases this request cancelled.' }),
    used_purchases: Count.openapi({
      description: 'How many purchases of the order are used up and keep the status `used`.',
    }),
    refund_request: orNull(RefundRequest).openapi({ description: 'Null without `refund`.' }),
  })
  .openapi('OrderCancellation')

export const cancelOrder = operation({
  id: 'cancelOrder',
  tag: 'Orders',
  ...action('/v1/orders', 'ord', 'cancel'),
  summary: 'Cancel an order',
  description:
    'Cancels the order and its pending and active purchases. Their wallet passes become void. A later import does not revive the order. With `refund`, a refund request for the rest of the payment is made in the same transaction; if nothing is left to refund, nothing is cancelled. Open refund requests stay open.',
  agentAccess: 'confirm',
  roles: managers,
  body: CancelOrder,
  example: { refund: true, reason: 'customer_request' },
  response: OrderCancellation,
  errors: ['invalid_transition', 'order_has_uses', 'edition_archived', 'nothing_to_refund', 'transaction_not_captured'],
})

export const ResentReceipt = z
  .object({
    order: z.object({ id: Id('ord'), order_number: OrderNumber }),
    recipient: KnownEmail.nullable().openapi({
      description: 'The present address of the customer. Null if your edition does not know it.',
    }),
    language: LanguageCode,
    ...emailStateFields,
  })
  .openapi('ResentReceipt')

export const resendReceipt = operation({
  id: 'resendReceipt',
  tag: 'Orders',
  ...action('/v1/orders', 'ord', 'resend-receipt'),
  summary: 'Send the receipt of an order again',
  description:
    'Sends the receipt to the present address of the customer, in their language, at most once in five minutes. A receipt of the order that still waits to be sent gives way to it. `emails` of the order shows what became of each.',
  agentAccess: 'confirm',
  roles: managers,
  response: ResentReceipt,
  errors: ['address_suppressed', 'edition_archived', 'email_missing', 'receipt_sent_recently', 'receipt_unavailable'],
})
