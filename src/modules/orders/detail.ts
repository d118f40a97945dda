import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Ctx } from '../../context.ts'
import { buildOrderRemainder, buildPurchaseRemainder } from '../../db/refunds.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { orders, purchases, transactions } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import { decodeAs, fromJson, makeNullable, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { type CustomerView, buildContactFields, viewCustomers } from '../../db/customers.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import {
  boughtFieldsOf,
  boughtJoins,
  cartLineColumns,
  cartLineFields,
  cartLines,
  purchaseFields,
  type ShownPurchaseRow,
} from '../purchases/index.ts'
import { orderFields } from './list.ts'
import { orderVisibility } from './scope.ts'

const jsonObject = (column: SQL) => fromJson<Record<string, unknown>>(column)

const headFields = (view: CustomerView) => ({
  ...orderFields(view),
  ...organizationSummaryFields,
  completed_transaction_id: orders.completed_transaction_id,
  metadata: orders.metadata,
  cart: orders.cart,
  user_id: orders.user_id,
  ...buildContactFields(view, ['phone_number']),
  user_created_at: sql<number>`${view.column('created_at')}`,
  user_last_seen_at: sql<number | null>`${view.column('last_seen_at')}`,
  user_metadata: jsonObject(view.column('metadata')),
})

type OrderHeadRow = RowOf<ReturnType<typeof headFields>>

function headOf(ctx: Ctx, id: string) {
  const view = viewCustomers(ctx.caller)
  const fields = headFields(view)
  return decodeAs(
    fields,
    sql<OrderHeadRow>`select ${buildSelectList(fields)} from ${orders}
      join ${editions} on ${editions.id} = ${orders.edition_id}
      join ${organizations} on ${organizations.id} = ${orders.organization_id}
      join ${users} on ${users.id} = ${orders.user_id} ${view.join}
      where ${orders.id} = ${id} and ${isVisibleTo(ctx.caller, orderVisibility)}`,
  )
}

const itemFields = { ...cartLineFields, ...boughtFieldsOf(cartLineColumns) }

export type ShownCartItemRow = RowOf<typeof itemFields>

const itemsOf = (orderId: string) =>
  decodeAs(
    itemFields,
    sql<ShownCartItemRow>`select ${buildSelectList(itemFields)} from ${orders} join ${cartLines}
      ${boughtJoins(cartLineColumns)} where ${orders.id} = ${orderId} order by line.key`,
  )

const payment = alias(transactions, 'payment')
const holders = alias(users, 'holders')

/** The columns of the holder are null where that is the customer of the order. */
const heldFields = (view: CustomerView) => ({
  ...purchaseFields,
  rest_minor: sql<number>`${buildPurchaseRemainder(sql`${purchases}`, sql`payment`)}`,
  user_id: makeNullable(holders.id),
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
})

type HeldPurchaseRow = RowOf<ReturnType<typeof heldFields>>

function purchasesOf(ctx: Ctx, orderId: string) {
  const view = viewCustomers(ctx.caller, sql`holders`)
  const fields = heldFields(view)
  return decodeAs(
    fields,
    sql<HeldPurchaseRow>`select ${buildSelectList(fields)} from ${purchases}
      ${boughtJoins(purchases)}
      left join ${transactions} as ${payment} on ${payment.order_id} = ${purchases.order_id} and ${eq(payment.type, 'payment')}
      left join ${users} as ${holders} on ${holders.id} =
        nullif(${purchases.user_id}, (select user_id from orders where orders.id = ${orderId})) ${view.join}
      where ${purchases.order_id} = ${orderId} order by ${purchases.id}`,
  )
}

const transactionFields = (orderId: string) => ({
  ...getTableColumns(transactions),
  rest_minor: sql<number>`iif(${eq(transactions.type, 'payment')},
    ${buildOrderRemainder(sql`${orderId}`, sql`${transactions}`)}, 0)`,
})

export type ShownTransactionRow = RowOf<ReturnType<typeof transactionFields>>

const transactionsOf = (orderId: string) =>
  select(transactionFields(orderId))
    .from(transactions)
    .where(eq(transactions.order_id, orderId))
    .orderBy(asc(transactions.id))

export interface LoadedOrder {
  tenant: Tenant
  head: OrderHeadRow
  items: ShownCartItemRow[]
  purchases: ShownPurchaseRow[]
  transactions: ShownTransactionRow[]
}

/** The order and all its lines, from one snapshot. */
export async function findOrder(ctx: Ctx, id: string): Promise<LoadedOrder> {
  const [[head], items, bought, paid] = await ctx.db.batch([
    headOf(ctx, id),
    itemsOf(id),
    purchasesOf(ctx, id),
    transactionsOf(id),
  ])
  if (!head) throw notFound()
  const buyer = { user_id: head.user_id, first_name: head.first_name, last_name: head.last_name, email: head.email }
  return {
    tenant: { organization_id: head.organization_id, editions: [head.edition_id] },
    head,
    items,
    purchases: bought.map(({ user_id, ...purchase }) => ({ ...purchase, ...(user_id === null ? buyer : { user_id }) })),
    transactions: paid,
  }
}
