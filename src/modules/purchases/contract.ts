import { z } from '@hono/zod-openapi'
import {
  maxCodeLength,
  maxGoodNameLength,
  maxOptionsPerItem,
  maxOrderNumberLength,
} from '../../domain/orders/external-orders.ts'
import { orderStatuses, orderTypes } from '../../domain/orders/orders.ts'
import { purchaseStatuses } from '../../domain/orders/purchases.ts'
import { refundStatuses } from '../../domain/refunds/refunds.ts'
import {
  EditionSummary,
  FullName,
  Id,
  IdParams,
  Image,
  JsonObject,
  KnownEmail,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
} from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { WalletPassSummary } from '../wallet/index.ts'

const Amount = z.number().openapi({ format: 'double', example: 250 })

const GoodName = RequiredText(maxGoodNameLength)

const Product = z
  .object({ api_id: Id('prd'), name: GoodName, is_draft: z.boolean(), images: z.array(Image) })
  .openapi('ProductSummary')
const Variant = z.object({ api_id: Id('var'), name: GoodName }).openapi('VariantSummary')
export const Location = z
  .object({ api_id: Id('loc'), name: GoodName, is_draft: z.boolean() })
  .openapi('LocationSummary')
const Option = z
  .object({ api_id: Id('opt'), name: GoodName, price_mod: Amount, deposit_mod: Amount })
  .openapi('OptionSummary')

/** The product, shared by the items of a cart and by purchases. */
export const boughtFields = {
  product: Product,
  variant: orNull(Variant).openapi({ description: 'Null for a product that was sold without variants.' }),
  location: orNull(Location).openapi({ description: 'Null for a purchase without a place.' }),
  options: z.array(Option).max(maxOptionsPerItem),
}

export const Purchase = z
  .object({
    id: Id('pur'),
    vendor_code: z.string().max(maxCodeLength).nullable().openapi({ description: 'Null when its source gave none.' }),
    status: z.enum(purchaseStatuses),
    ...boughtFields,
    user: z.object({
      api_id: Id('usr'),
      full_name: FullName,
      email: KnownEmail.nullable().openapi({ description: 'Null for a customer without an e-mail address.' }),
    }),
    price_paid: Amount,
    deposit_paid: Amount,
    handling_fee_paid: Amount,
    max_available_refund_amount: Amount.openapi({
      description:
        'The most that a refund request without `include_fees` can ask for: price and deposit, without what is paid back or asked for, and never more than is left of the payment.',
    }),
    available_uses: z.int().openapi({
      description: 'Uses that are left; with `is_unlimited_use` none is ever taken away.',
    }),
    is_unlimited_use: z.boolean(),
    valid_until: Timestamp.nullable().openapi({ description: 'Null for a purchase that does not end by itself.' }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('Purchase', { description: 'One unit that a customer bought.' })

export const PurchaseUse = z
  .object({
    id: Id('use'),
    quantity: z.int(),
    location: orNull(Location).openapi({ description: 'Null for a use at no known place.' }),
    used_at: Timestamp,
    reverted_at: Timestamp.nullable().openapi({ description: 'Null for a use that counts.' }),
    created: Timestamp,
  })
  .openapi('PurchaseUse', { description: 'One use of a purchase, such as a scan at an entrance.' })

export const PurchaseDetail = Purchase.extend({
  order: z.object({
    id: Id('ord'),
    order_number: z
      .string()
      .max(maxOrderNumberLength)
      .nullable()
      .openapi({ description: 'Null for an order that came without one.' }),
    type: z.enum(orderTypes),
    status: z.enum(orderStatuses),
  }),
  organization: OrganizationSummary,
  edition: EditionSummary,
  currency: z.string(),
  transaction_id: Id('trx').nullable().openapi({ description: 'Null for an order without a payment.' }),
  refunded_amount: Amount,
  pending_refund_amount: Amount.openapi({ description: 'Of refund requests that are open.' }),
  uses: z.array(PurchaseUse).openapi({ description: 'The last 50, the latest first; reverted ones are among them.' }),
  wallet_passes: z.array(WalletPassSummary).openapi({ description: 'The newest twenty, newest first.' }),
  refund_requests: z
    .array(
      z.object({
        id: Id('rfr'),
        status: z.enum(refundStatuses),
        requested_amount: Amount.openapi({ description: 'Of the whole request.' }),
        created: Timestamp,
      }),
    )
    .openapi({ description: 'The newest twenty, newest first; those of its order are among them.' }),
  metadata: JsonObject,
}).openapi('PurchaseDetail')

export const getPurchase = operation({
  id: 'getPurchase',
  tag: 'Purchases',
  method: 'get',
  path: '/v1/purchases/{id}',
  summary: 'Retrieve purchase details',
  roles: ['OA', 'OM', 'OV', 'EA', 'EM', 'EV'],
  params: IdParams('pur'),
  response: PurchaseDetail,
})
