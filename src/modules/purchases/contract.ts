import { z } from '@hono/zod-openapi'
import { roleCodes, managers } from '../../domain/accounts/access.ts'
import {
  maxCodeLength,
  maxGoodNameLength,
  maxOptionsPerItem,
  maxOrderNumberLength,
} from '../../domain/orders/external-orders.ts'
import { orderStatuses, orderTypes } from '../../domain/orders/orders.ts'
import { maxUses, purchaseStatuses } from '../../domain/orders/purchases.ts'
import { refundStatuses } from '../../domain/refunds/refunds.ts'
import {
  EditionSummary,
  FullName,
  Id,
  IdParams,
  Image,
  Instant,
  JsonObject,
  KnownEmail,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
} from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { buildExportFile, exportDescription, exportQuery } from '../../http/requests/export-query.ts'
import {
  BooleanFilter,
  IdFilter,
  InstantFilter,
  type ListRequest,
  ListPage,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
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

/** The fields that items of a cart and purchases share. */
export const productFields = {
  product: Product,
  variant: orNull(Variant).openapi({ description: 'Null for a product without variants.' }),
  location: orNull(Location).openapi({ description: 'Null for a purchase without a location.' }),
  options: z.array(Option).max(maxOptionsPerItem),
}

export const Purchase = z
  .object({
    id: Id('pur'),
    vendor_code: z
      .string()
      .max(maxCodeLength)
      .nullable()
      .openapi({ description: 'The code of the ticket; null without one.' }),
    status: z.enum(purchaseStatuses),
    ...productFields,
    user: z.object({
      api_id: Id('usr'),
      full_name: FullName,
      email: KnownEmail.nullable().openapi({ description: 'Null for a customer without an e-mail address.' }),
    }),
    price_paid: Amount.openapi({ description: 'The price less its part of the discount of the order.' }),
    deposit_paid: Amount,
    handling_fee_paid: Amount,
    max_available_refund_amount: Amount.openapi({
      description:
        'The most that a refund request without `include_fees` can pay back: price and deposit, minus earlier and open refunds, and at most what is left of the payment.',
    }),
    available_uses: z.int().openapi({
      description: 'The remaining uses. With `is_unlimited_use` the number never decreases.',
    }),
    is_unlimited_use: z.boolean(),
    valid_until: Timestamp.nullable().openapi({ description: 'When the purchase expires; null for never.' }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('Purchase', { description: 'One unit that a customer bought.' })

export const PurchaseUse = z
  .object({
    id: Id('use'),
    quantity: z.int(),
    location: orNull(Location).openapi({ description: 'Null when the location is not known.' }),
    used_at: Timestamp,
    reverted_at: Timestamp.nullable().openapi({ description: 'Null for a use that was not reverted.' }),
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
      .openapi({ description: 'Null for an order without a number.' }),
    external_id: z.string().nullable().openapi({ description: 'Null for an order without an external id.' }),
    type: z.enum(orderTypes),
    status: z.enum(orderStatuses),
  }),
  organization: OrganizationSummary,
  edition: EditionSummary,
  currency: z.string(),
  transaction_id: Id('trx').nullable().openapi({ description: 'Null for an order without a payment.' }),
  refunded_amount: Amount,
  pending_refund_amount: Amount.openapi({ description: 'The amount reserved by open refund requests.' }),
  uses: z.array(PurchaseUse).openapi({ description: 'The latest 50 uses, newest first, including reverted ones.' }),
  wallet_passes: z.array(WalletPassSummary).openapi({ description: 'The newest 20 passes, newest first.' }),
  refund_requests: z
    .array(
      z.object({
        id: Id('rfr'),
        status: z.enum(refundStatuses),
        requested_amount: Amount.openapi({ description: 'The amount of the whole request.' }),
        created: Timestamp,
      }),
    )
    .openapi({ description: 'The newest 20 refund requests, newest first, including requests for the whole order.' }),
  metadata: JsonObject,
}).openapi('PurchaseDetail')

export const getPurchase = operation({
  id: 'getPurchase',
  tag: 'Purchases',
  method: 'get',
  path: '/v1/purchases/{id}',
  summary: 'Retrieve a purchase',
  roles: roleCodes,
  params: IdParams('pur'),
  response: PurchaseDetail,
})

export const PurchaseListItem = Purchase.extend({
  order: z.object({
    id: Id('ord'),
    order_number: z.string().nullable().openapi({ description: 'Null for an order without a number.' }),
    external_id: z.string().nullable().openapi({ description: 'Null for an order without an external id.' }),
  }),
}).openapi('PurchaseListItem')

const purchaseFilters = {
  edition_id: IdFilter.optional(),
  organization_id: IdFilter.optional().openapi({
    description: 'Purchases of all editions of the organisation that you have access to.',
  }),
  product_id: IdFilter.optional(),
  user_id: IdFilter.optional().openapi({ description: 'The holder, in all editions that you have access to.' }),
  vendor_code: TextFilter.optional().openapi({ description: 'The exact code. The case of A to Z is ignored.' }),
  has_vendor_code: BooleanFilter.optional(),
  is_used: BooleanFilter.optional().openapi({
    description: 'True: purchases with a use that is not reverted. False: all others.',
  }),
  status: z.enum(purchaseStatuses).optional(),
  created_after: InstantFilter.optional(),
  created_before: InstantFilter.optional(),
  search: TextFilter.optional().openapi({
    description:
      'The beginning of the code, or an exact order number, external id of the order, order id or purchase id.',
  }),
}

export const listPurchases = operation({
  id: 'listPurchases',
  tag: 'Purchases',
  method: 'get',
  path: '/v1/purchases',
  summary: 'List purchases',
  description: 'At least one of `edition_id`, `organization_id` and `user_id` is required.',
  roles: roleCodes,
  query: listQuery({
    ordering: ['created'],
    filters: purchaseFilters,
  }),
  response: ListPage(PurchaseListItem),
})

export type PurchaseQuery = ListRequest<typeof listPurchases.query>

export const purchaseColumns = [
  'id',
  'vendor_code',
  'status',
  'edition_id',
  'order_id',
  'order_number',
  'product_id',
  'product_name',
  'variant_name',
  'location_name',
  'options',
  'user_id',
  'user_name',
  'user_email',
  'price_paid',
  'deposit_paid',
  'handling_fee_paid',
  'refunded_amount',
  'currency',
  'available_uses',
  'is_unlimited_use',
  'is_used',
  'valid_until',
  'created',
  'modified',
] as const
export type PurchaseColumn = (typeof purchaseColumns)[number]

export const exportPurchases = operation({
  id: 'exportPurchases',
  tag: 'Purchases',
  method: 'get',
  path: '/v1/purchases/export',
  summary: 'Export purchases',
  description: `Exports the purchases that \`GET /v1/purchases\` lists with the same filters. \`edition_id\` or \`organization_id\` is required. ${exportDescription}`,
  roles: managers,
  query: exportQuery({ columns: purchaseColumns, filters: purchaseFilters }),
  file: buildExportFile(
    'id,status,price_paid,currency\r\npur_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8,active,250,dkk\r\n',
    '{"id":"pur_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8","status":"active","price_paid":250,"currency":"dkk"}\n',
  ),
  errors: ['not_found'],
})

export type PurchaseExportQuery = z.output<typeof exportPurchases.query>

export const PurchaseUseResult = PurchaseUse.extend({
  purchase: z.object({
    id: Id('pur'),
    vendor_code: z.string().nullable().openapi({ description: 'The code of the ticket; null without one.' }),
    status: z.enum(purchaseStatuses),
  }),
}).openapi('PurchaseUseResult')

const UseParams = IdParams('pur').extend({
  use_id: z.string().openapi({ param: { name: 'use_id', in: 'path' }, example: 'use_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
})

export const createPurchaseUse = operation({
  id: 'createPurchaseUse',
  tag: 'Purchases',
  method: 'post',
  path: '/v1/purchases/{id}/uses',
  summary: 'Use a purchase',
  description:
    'Counts uses of an active purchase, for example a scan at an entrance, and sends the webhook `purchase.action` with the action `used`. When several scanners use a purchase at the same time, only as many succeed as it has uses left; the others get 409 `no_uses_left`. The last use sets the status to `used`; a purchase with unlimited uses stays active. Send an `Idempotency-Key` to repeat a request that got no answer without counting it twice.',
  roles: managers,
  status: 201,
  params: IdParams('pur'),
  body: z.object({
    quantity: z.int().min(1).max(maxUses).optional().openapi({ default: 1 }),
    location_id: Id('loc')
      .nullish()
      .openapi({ description: 'The location of the scanner. It belongs to the edition.' }),
    used_at: Instant.optional().openapi({
      description:
        'When the purchase was scanned, for scanners that were offline. It must not be in the future or before the purchase.',
    }),
  }),
  example: { quantity: 1 },
  response: PurchaseUseResult,
  errors: ['no_uses_left', 'purchase_not_usable', 'edition_archived'],
})

export const revertPurchaseUse = operation({
  id: 'revertPurchaseUse',
  tag: 'Purchases',
  method: 'post',
  path: '/v1/purchases/{id}/uses/{use_id}/revert',
  summary: 'Revert a use',
  description:
    'Returns the uses to the purchase and sends the webhook `purchase.action` with the action `use_reverted`. A used purchase becomes active again. Reverting a use twice changes nothing and sends no webhook.',
  agentAccess: 'confirm',
  roles: managers,
  params: UseParams,
  response: PurchaseUseResult,
  errors: ['purchase_not_usable', 'edition_archived'],
})
