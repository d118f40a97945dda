import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { managers, mayAt } from '../../domain/accounts/access.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { receiptStatuses } from '../../domain/messaging/transactional-emails.ts'
import { toMajor } from '../../domain/money.ts'
import { readCart } from '../../domain/orders/carts.ts'
import { buildSummaryLines, isPaid, type OrderAction, orderLifecycle } from '../../domain/orders/orders.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { presentEditionSummary } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import { presentProductFields, presentPurchase } from '../purchases/index.ts'
import { presentEmailState } from '../transactional-emails/index.ts'
import type { OrderDetail, OrderListItem } from './contract.ts'
import type { LoadedOrder, CartItemRow, OrderEmailRow, OrderTransactionRow } from './detail.ts'
import type { OrderListRow, OrderSummaryRow } from './list.ts'

type Detail = z.input<typeof OrderDetail>

const presentCommonFields = (row: OrderSummaryRow) => ({
  id: row.id,
  order_number: row.order_number,
  external_id: row.external_id,
  source: row.external_source,
  type: row.type,
  status: row.status,
  edition: presentEditionSummary(row),
  amount: toMajor(row.amount_minor),
  currency: row.currency,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentOrderListItem = (row: OrderListRow): z.input<typeof OrderListItem> => ({
  ...presentCommonFields(row),
  customer_name: formatFullName(row),
  customer_email: row.email,
  items_count: row.items_count,
  has_payment: row.has_payment,
})

const presentItem = (row: CartItemRow, ctx: Ctx): Detail['cart']['items'][number] => ({
  id: row.id,
  ...presentProductFields(row, ctx),
  quantity: row.quantity,
  price_with_options: toMajor(row.price_minor),
  deposit_with_options: toMajor(row.deposit_minor),
  handling_fee: toMajor(row.handling_fee_minor),
})

function presentCart({ head, items }: LoadedOrder, ctx: Ctx): Detail['cart'] {
  const cart = readCart(head)
  return {
    id: cart.id,
    status: cart.status,
    items: items.map((item) => presentItem(item, ctx)),
    coupon_code: cart.coupon_code,
    subtotal: toMajor(cart.subtotal_minor),
    deposit: toMajor(cart.deposit_minor),
    handling_fee: toMajor(cart.handling_fee_minor),
    service_fee: toMajor(cart.service_fee_minor),
    discount: toMajor(cart.discount_minor),
    tax: toMajor(cart.tax_minor),
    total: toMajor(cart.total_minor),
    summary: {
      summary_lines: buildSummaryLines(cart, head.currency).map(({ amount_minor, ...line }) => ({
        ...line,
        amount: toMajor(amount_minor),
      })),
      currency: head.currency,
    },
    created: toIso(head.created_at),
  }
}

const presentTransaction = (row: OrderTransactionRow): Detail['transactions'][number] => ({
  id: row.id,
  type: row.type,
  status: row.status,
  service: row.service,
  provider_reference: row.provider_reference,
  amount: toMajor(row.amount_minor),
  currency: row.currency,
  service_fee: toMajor(row.service_fee_minor),
  handling_fee: toMajor(row.handling_fee_minor),
  refunded_amount: toMajor(row.refunded_minor),
  pending_refund_amount: toMajor(row.reserved_minor),
  available_refund_amount: toMajor(row.remaining_minor),
  created: toIso(row.created_at),
})

const presentEmail = (row: OrderEmailRow, ctx: Ctx): Detail['emails'][number] => ({
  kind: row.kind,
  ...presentEmailState(row, ctx),
})

function listAllowedActions({ tenant, head, transactions }: LoadedOrder, ctx: Ctx): OrderAction[] {
  if (head.edition_is_archived || !mayAt(ctx.caller, managers, tenant)) return []
  const isRefundable = transactions.some(({ status, refundable_minor }) => isPaid(status) && refundable_minor > 0)
  return [
    ...(isRefundable ? (['refund'] as const) : []),
    ...(orderLifecycle.allows(head.status, 'cancelled') ? (['cancel'] as const) : []),
    ...(receiptStatuses.includes(head.status) && head.email !== null ? (['resend_receipt'] as const) : []),
  ]
}

export function presentOrder(order: LoadedOrder, ctx: Ctx): Detail {
  const { head } = order
  const payment = order.transactions.find(({ type }) => type === 'payment')
  return {
    ...presentCommonFields(head),
    organization: presentOrganizationSummary(head, ctx),
    cart: presentCart(order, ctx),
    customer: {
      api_id: head.user_id,
      full_name: formatFullName(head),
      email: head.email,
      phone_number: head.phone_number,
      date_joined: toIso(head.user_created_at),
      last_seen: toIsoOrNull(head.user_last_seen_at),
      metadata: head.user_metadata,
    },
    refunded_amount: toMajor(payment?.refunded_minor ?? 0),
    pending_refund_amount: toMajor(payment?.reserved_minor ?? 0),
    max_available_refund_amount: toMajor(payment?.remaining_minor ?? 0),
    transactions: order.transactions.map(presentTransaction),
    purchases: order.purchases.map((purchase) => presentPurchase(purchase, ctx)),
    emails: order.emails.map((row) => presentEmail(row, ctx)),
    completed_transaction_id: head.completed_transaction_id,
    allowed_actions: listAllowedActions(order, ctx),
    metadata: head.metadata,
  }
}
