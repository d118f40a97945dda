import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { orderRest, purchaseRest } from '../../db/refunds.ts'
import type { carts, orders, transactions } from '../../db/schema/sales/orders.ts'
import { type CustomerView, customersSeenBy } from '../../db/shared-customers.ts'
import { visible } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
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

/** The order and all its lines, from one snapshot. */
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
  const holders = customersSeenBy(ctx.caller, sql`holders`)
  const [[row], items, purchases, transactions] = await ctx.db.batch([
    head,
    itemsOf(id),
    purchasesOf(id, holders),
    transactionsOf(id),
  ])
  if (!row) throw notFound()
  const buyer = { user_id: row.user_id, first_name: row.first_name, last_name: row.last_name, email: row.email }
  return {
    tenant: { organization_id: row.organization_id, editions: [row.edition_id] },
    head: row,
    items,
    purchases: purchases.map((purchase) => ({
      ...purchase,
      ...(purchase.user_id === null ? buyer : { user_id: purchase.user_id }),
    })),
    transactions,
  }
}

const itemsOf = (orderId: string) => sql<ShownCartItemRow>`select cart_items.id, cart_items.quantity,
    cart_items.price_minor, cart_items.deposit_minor, cart_items.handling_fee_minor, ${boughtColumns(sql`cart_items`)}
  from cart_items ${boughtJoins(sql`cart_items`)} where cart_items.order_id = ${orderId}
  order by cart_items.position, cart_items.id`

/** Where the holder is the order's customer, the columns of the holder are null. */
type HeldPurchaseRow = Omit<ShownPurchaseRow, 'user_id'> & { user_id: string | null }

const purchasesOf = (orderId: string, holders: CustomerView) => sql<HeldPurchaseRow>`select purchases.id,
    purchases.vendor_code, purchases.status, purchases.price_minor, purchases.deposit_minor,
    purchases.handling_fee_minor, purchases.uses_limit, purchases.uses_count, purchases.is_unlimited_use,
    purchases.valid_until, purchases.created_at, purchases.modified_at, purchases.refunded_minor,
    purchases.reserved_minor, ${purchaseRest(sql`purchases`, sql`payment`)} as rest_minor,
    holders.id as user_id, ${holders.columns(['first_name', 'last_name', 'email'])}, ${boughtColumns(sql`purchases`)}
  from purchases ${boughtJoins(sql`purchases`)}
    left join transactions as payment on payment.order_id = purchases.order_id and payment.type = 'payment'
    left join users as holders on holders.id =
      nullif(purchases.user_id, (select user_id from orders where orders.id = ${orderId})) ${holders.join}
  where purchases.order_id = ${orderId} order by purchases.id`

const transactionsOf = (orderId: string) => sql<ShownTransactionRow>`select *,
    iif(type = 'payment', ${orderRest(sql`${orderId}`, sql`transactions`)}, 0) as rest_minor
  from transactions where order_id = ${orderId} order by id`
