import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../domain/accounts/access.ts'
import { customerEmailKinds, maxOrderEmails } from '../../domain/messaging/transactional-emails.ts'
import { currencies } from '../../domain/money.ts'
import {
  maxCodeLength,
  maxExternalIdLength,
  maxOrderNumberLength,
  maxProviderReferenceLength,
  maxExternalSourceLength,
  maxUnitsPerItem,
} from '../../domain/orders/external-orders.ts'
import {
  cartStatuses,
  orderActions,
  orderStatuses,
  orderTypes,
  transactionServices,
  transactionStatuses,
  transactionTypes,
} from '../../domain/orders/orders.ts'
import {
  Amount,
  Count,
  EditionSummary,
  FullName,
  Id,
  Code,
  IdParams,
  JsonObject,
  KnownEmail,
  KnownPhone,
  LastSeen,
  OrganizationSummary,
  Timestamp,
} from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { buildExportFile, exportDescription, exportQuery } from '../../http/requests/export-query.ts'
import {
  ListPage,
  type ListRequest,
  IdFilter,
  InstantFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { productFields, Purchase } from '../purchases/index.ts'
import { emailStateFields } from '../transactional-emails/index.ts'

const OrderNumber = z.string().max(maxOrderNumberLength).nullable().openapi({
  description: 'Null for an order without a number.',
  example: '100023',
})

const commonFields = {
  id: Id('ord'),
  order_number: OrderNumber,
  external_id: z.string().max(maxExternalIdLength).nullable().openapi({
    description: 'The id of the order in the system that it was imported from; null for orders that were not imported.',
    example: 'A-1001',
  }),
  source: z.string().max(maxExternalSourceLength).nullable().openapi({
    description: 'The system that the order was imported from; null for orders that were not imported.',
    example: 'ticketshop',
  }),
  type: z.enum(orderTypes),
  status: z.enum(orderStatuses),
  edition: EditionSummary,
  amount: Amount().min(0),
  currency: z.enum(currencies),
  created: Timestamp,
  modified: Timestamp,
}

export const OrderListItem = z
  .object({
    ...commonFields,
    customer_name: FullName,
    customer_email: KnownEmail.nullable().openapi({ description: 'Null for a customer without an e-mail address.' }),
    items_count: Count,
    has_payment: z.boolean(),
  })
  .openapi('OrderListItem')

const CartItem = z
  .object({
    id: Id('itm'),
    ...productFields,
    quantity: z.int().min(1).max(maxUnitsPerItem),
    price_with_options: Amount(),
    deposit_with_options: Amount(),
    handling_fee: Amount(),
  })
  .openapi('CartItem', { description: 'An item of a cart. Amounts are per unit.' })

const Cart = z
  .object({
    id: Id('crt'),
    status: z.enum(cartStatuses),
    items: z.array(CartItem),
    coupon_code: z
      .string()
      .max(maxCodeLength)
      .nullable()
      .openapi({ description: 'Null when the customer used no coupon.' }),
    subtotal: Amount(),
    deposit: Amount(),
    handling_fee: Amount(),
    service_fee: Amount(),
    discount: Amount(),
    tax: Amount(),
    total: Amount(),
    summary: z.object({
      summary_lines: z.array(
        z.object({
          key: z.string(),
          label: z.string(),
          amount: Amount(),
          formatted: z.string(),
          is_negative: z.boolean(),
          is_total: z.boolean(),
          note: z.string(),
        }),
      ),
      currency: z.enum(currencies),
    }),
    created: Timestamp,
  })
  .openapi('Cart')

const Transaction = z
  .object({
    id: Id('trx'),
    type: z.enum(transactionTypes),
    status: z.enum(transactionStatuses),
    service: z.enum(transactionServices),
    provider_reference: z.string().max(maxProviderReferenceLength).nullable().openapi({
      description: 'The id of the payment at its provider; null when it is not known.',
      example: 'pi_3QW8ZtLkdIwHu7ix',
    }),
    amount: Amount(),
    currency: z.enum(currencies),
    service_fee: Amount(),
    handling_fee: Amount(),
    refunded_amount: Amount(),
    pending_refund_amount: Amount().openapi({
      description: 'The amount reserved by open refund requests. Major units.',
    }),
    available_refund_amount: Amount().openapi({
      description:
        'The most that a refund request without `include_fees` can pay back. Major units; 0 for transactions that are not payments.',
    }),
    created: Timestamp,
  })
  .openapi('Transaction')

export const OrderDetail = z
  .object({
    ...commonFields,
    organization: OrganizationSummary,
    cart: Cart,
    customer: z.object({
      api_id: Id('usr'),
      full_name: FullName,
      email: KnownEmail.nullable().openapi({ description: 'Null for a customer without an e-mail address.' }),
      phone_number: KnownPhone.nullable().openapi({ description: 'Null for a customer without a number.' }),
      date_joined: Timestamp,
      last_seen: LastSeen,
      metadata: JsonObject,
    }),
    refunded_amount: Amount(),
    pending_refund_amount: Amount().openapi({
      description: 'The amount reserved by open refund requests. Major units.',
    }),
    max_available_refund_amount: Amount().openapi({
      description: 'The most that a refund request without `include_fees` can pay back. Major units.',
    }),
    transactions: z.array(Transaction),
    purchases: z.array(Purchase),
    emails: z
      .array(z.object({ kind: z.enum(customerEmailKinds), ...emailStateFields }))
      .max(maxOrderEmails)
      .openapi({ description: 'The latest receipts of the order and e-mails about its refunds.' }),
    completed_transaction_id: Id('trx')
      .nullable()
      .openapi({ description: 'The payment that completed the order; null until there is one.' }),
    allowed_actions: z.array(z.enum(orderActions)).openapi({
      description:
        'The actions that the order and your role allow now. `refund`: `POST /v1/refund-requests`, possibly with `include_fees`. `cancel` may need `accept`.',
    }),
    metadata: JsonObject,
  })
  .openapi('OrderDetail')

const partialMatch = 'A part of the value. Case and accents are ignored.'

const orderFilters = {
  edition_id: IdFilter.optional(),
  organization_id: IdFilter.optional().openapi({ description: 'Orders of all editions of the organisation.' }),
  customer_id: IdFilter.optional().openapi({
    description: 'Orders of the customer in all editions that you have access to.',
  }),
  transaction_id: IdFilter.optional(),
  order_number: TextFilter.optional().openapi({ description: partialMatch }),
  external_id: Code(maxExternalIdLength)
    .optional()
    .openapi({ description: 'The exact id in the other system, from any source.' }),
  source: Code(maxExternalSourceLength)
    .optional()
    .openapi({ description: 'The exact name of the system that the orders were imported from.' }),
  data_import_id: IdFilter.optional().openapi({
    description:
      'Orders that the import created or updated and that were not undone. It finds nothing once the rows of the import are deleted, 30 days after its end.',
  }),
  product_id: IdFilter.optional().openapi({ description: 'Orders with a purchase of the product, in any status.' }),
  customer_name: TextFilter.optional().openapi({
    description:
      'Words of the customer’s name, in any order. Each may be a part of a name. Case and accents are ignored.',
  }),
  customer_email: TextFilter.optional().openapi({ description: partialMatch }),
  customer_phone: TextFilter.optional().openapi({ description: 'A part of the number. Only digits are compared.' }),
  ticket_code: TextFilter.optional().openapi({
    description: 'The exact `vendor_code` of a purchase of the order. The case of A to Z is ignored.',
  }),
  search: TextFilter.optional().openapi({
    description:
      'A part of the order number, order id, external id, customer e-mail, customer phone number or transaction id. Texts of one or two characters are searched in the newest 10,000 orders only.',
  }),
  status: z.enum(orderStatuses).optional(),
  type: z.enum(orderTypes).optional(),
  created_after: InstantFilter.optional(),
  created_before: InstantFilter.optional(),
}

export const listOrders = operation({
  id: 'listOrders',
  tag: 'Orders',
  method: 'get',
  path: '/v1/orders',
  summary: 'List orders',
  description:
    'At least one of `edition_id`, `organization_id` and `customer_id` is required. The sort key `order_number` compares digits as numbers and ignores case; orders without a number come last in both directions.',
  roles: roleCodes,
  query: listQuery({
    ordering: ['created', 'modified', 'order_number', 'status', 'type', 'amount'],
    filters: orderFilters,
  }),
  response: ListPage(OrderListItem),
})

export type OrderQuery = ListRequest<typeof listOrders.query>

export const getOrder = operation({
  id: 'getOrder',
  tag: 'Orders',
  method: 'get',
  path: '/v1/orders/{id}',
  summary: 'Retrieve an order',
  description: 'Returns the order with its cart, customer, transactions and purchases.',
  roles: roleCodes,
  params: IdParams('ord'),
  response: OrderDetail,
})

export const orderColumns = [
  'id',
  'order_number',
  'external_id',
  'source',
  'type',
  'status',
  'edition_id',
  'amount',
  'currency',
  'refunded_amount',
  'items_count',
  'has_payment',
  'payment_service',
  'payment_reference',
  'coupon_code',
  'service_fee',
  'discount',
  'tax',
  'customer_id',
  'customer_name',
  'customer_email',
  'customer_phone',
  'created',
  'modified',
] as const
export type OrderColumn = (typeof orderColumns)[number]

export const exportOrders = operation({
  id: 'exportOrders',
  tag: 'Orders',
  method: 'get',
  path: '/v1/orders/export',
  summary: 'Export orders',
  description: `Exports the orders that \`GET /v1/orders\` lists with the same filters. \`edition_id\` or \`organization_id\` is required. ${exportDescription}`,
  roles: managers,
  query: exportQuery({ columns: orderColumns, filters: orderFilters }),
  file: buildExportFile(
    'id,amount,currency\r\nord_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8,250,dkk\r\n',
    '{"id":"ord_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8","amount":250,"currency":"dkk"}\n',
  ),
  errors: ['not_found'],
})

export type OrderExportQuery = z.output<typeof exportOrders.query>
