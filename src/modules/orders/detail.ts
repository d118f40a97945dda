import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { orderRest, purchaseRest } from '../../db/refunds.ts'
import type { carts, orders, transactions } from '../../db/schema/orders.ts'
import { type CustomerView, customersSeenBy } from '../../db/shared-customers.ts'
import { visible } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type EditionSummaryRow, editionSummaryColumns } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import { boughtColumns, boughtJoins, type BoughtRow, type ShownPurchaseRow } from '../purchases/index.ts'
import { orderVisibility } from './list.ts'

type ShownTransactionRow = typeof transactions.$inferSelect & { rest_minor: number }

export interface ShownCartItemRow extends BoughtRow {
  id: string
  quantity: number
  price_minor: number
  deposit_minor: number
  handling_fee_minor: number
}

type CartColumns = Omit<typeof carts.$inferSelect, 'id' | 'order_id' | 'status' | 'created_at'>

export interface OrderHeadRow
  extends
    Omit<typeof orders.$inferSelect, 'organization_id' | 'edition_id'>,
    EditionSummaryRow,
    OrganizationSummaryRow,
    CartColumns {
  cart_id: string
  cart_status: string
  cart_created_at: number
  first_name: string
  last_name: string
  email: string | null
  phone_number: string | null
  user_created_at: number
  user_last_seen_at: number | null
  user_metadata: string
}

export interface LoadedOrder {
  tenant: Tenant
  head: OrderHeadRow
  items: ShownCartItemRow[]
  purchases: ShownPurchaseRow[]
  transactions: ShownTransactionRow[]
}

type LineRow =
  | ({ kind: 'item' } & ShownCartItemRow)
  | ({ kind: 'purchase' } & Omit<ShownPurchaseRow, 'user_id'> & { user_id: string | null })
  | ({ kind: 'transaction' } & ShownTransactionRow)

/** The order and all its lines as two statements of one snapshot. */
export async function findOrder(ctx: Ctx, id: string): Promise<LoadedOrder> {
  const { column, columns, join } = customersSeenBy(ctx.caller)
  const head = sql<OrderHeadRow>`select orders.*, ${editionSummaryColumns}, ${organizationSummaryColumns},
      carts.id as cart_id, carts.status as cart_status, carts.created_at as cart_created_at, carts.coupon_code,
      carts.subtotal_minor, carts.deposit_minor, carts.handling_fee_minor, carts.service_fee_minor,
      carts.discount_minor, carts.tax_minor, carts.total_minor,
      ${columns(['first_name', 'last_name', 'email', 'phone_number'])}, ${column('created_at')} as user_created_at,
      ${column('last_seen_at')} as user_last_seen_at, ${column('metadata')} as user_metadata
    from orders
    join editions on editions.id = orders.edition_id
    join organizations on organizations.id = orders.organization_id
    join users on users.id = orders.user_id ${join}
    join carts on carts.order_id = orders.id
    where orders.id = ${id} and ${visible(ctx.caller, orderVisibility)}`
  const [[row], lines] = await ctx.db.batch([head, linesOf(id, customersSeenBy(ctx.caller, sql`holders`))])
  if (!row) throw notFound()
  const of = <Kind extends LineRow['kind']>(kind: Kind) =>
    lines.filter((line): line is Extract<LineRow, { kind: Kind }> => line.kind === kind)
  const buyer = { user_id: row.user_id, first_name: row.first_name, last_name: row.last_name, email: row.email }
  return {
    tenant: { organization_id: row.organization_id, editions: [row.edition_id] },
    head: row,
    items: of('item'),
    purchases: of('purchase').map((line) => ({
      ...line,
      ...(line.user_id === null ? buyer : { user_id: line.user_id }),
    })),
    transactions: of('transaction'),
  }
}

/** Of a purchase whose holder is the order's customer the columns of the holder are null. */
const linesOf = (orderId: string, holders: CustomerView) => sql<LineRow>`
  select 'item' as kind, cart_items.id as id, cart_items.position as position, quantity, cart_items.price_minor as price_minor,
    cart_items.deposit_minor as deposit_minor, cart_items.handling_fee_minor as handling_fee_minor,
    ${boughtColumns(sql`cart_items`)}, null as vendor_code, null as status, null as uses_limit, null as uses_count,
    null as is_unlimited_use, null as valid_until, null as created_at, null as modified_at, null as type, null as service,
    null as amount_minor, null as currency, null as service_fee_minor, null as refunded_minor, null as reserved_minor,
    null as rest_minor, null as provider_reference, null as user_id, null as first_name, null as last_name, null as email
  from cart_items ${boughtJoins(sql`cart_items`)} where cart_items.order_id = ${orderId}
  union all
  select 'purchase', purchases.id, 0, 1, purchases.price_minor, purchases.deposit_minor, purchases.handling_fee_minor,
    ${boughtColumns(sql`purchases`)}, vendor_code, purchases.status, uses_limit, uses_count, is_unlimited_use,
    valid_until, purchases.created_at, purchases.modified_at, null, null, null, null, null, purchases.refunded_minor,
    purchases.reserved_minor, ${purchaseRest(sql`purchases`, sql`payment`)}, null,
    holders.id, ${holders.columns(['first_name', 'last_name', 'email'])}
  from purchases ${boughtJoins(sql`purchases`)}
    left join transactions as payment on payment.order_id = purchases.order_id and payment.type = 'payment'
    left join users as holders on holders.id =
      nullif(purchases.user_id, (select user_id from orders where orders.id = ${orderId})) ${holders.join}
  where purchases.order_id = ${orderId}
  union all
  select 'transaction', id, 0, null, null, null, handling_fee_minor, null, null, null, null, null, null, null, null, null, null,
    null, status, null, null, null, null, created_at, null, type, service, amount_minor, currency, service_fee_minor,
    refunded_minor, reserved_minor, iif(type = 'payment', ${orderRest(sql`${orderId}`, sql`transactions`)}, 0),
    provider_reference, null, null, null, null
  from transactions where order_id = ${orderId}
  order by kind, position, id`
