import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Ctx } from '../../context.ts'
import { buildContactFields, buildOrganizationView, type CustomerView, viewCustomers } from '../../db/customers.ts'
import { prepare } from '../../db/prepare.ts'
import { buildOrderRemainder, buildPurchaseRemainder } from '../../db/refunds.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { orders, transactions } from '../../db/schema/orders.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { decodeAs, fromJson, makeNullable, type RowOf, buildSelectList } from '../../db/select.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type CustomerEmailKind, maxOrderEmails } from '../../domain/messaging/transactional-emails.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import {
  buildProductFields,
  buildProductJoins,
  cartLineColumns,
  cartLineFields,
  cartLines,
  purchaseSummaryFields,
  type PurchaseSummaryRow,
} from '../purchases/index.ts'
import { emailStateColumns } from '../transactional-emails/index.ts'
import { buildOrderSummaryFields } from './list.ts'
import { orderVisibility } from './scope.ts'

const jsonObject = (column: SQL) => fromJson<Record<string, unknown>>(column)

const buildHeadFields = (view: CustomerView) => ({
  ...buildOrderSummaryFields(view),
  ...organizationSummaryFields,
  edition_is_archived: editions.is_archived,
  version: orders.version,
  completed_transaction_id: orders.completed_transaction_id,
  metadata: orders.metadata,
  cart: orders.cart,
  user_id: orders.user_id,
  ...buildContactFields(view, ['phone_number']),
  user_created_at: sql<number>`${view.column('created_at')}`,
  user_last_seen_at: sql<number | null>`${view.column('last_seen_at')}`,
  user_metadata: jsonObject(view.column('metadata')),
})

type OrderHeadRow = RowOf<ReturnType<typeof buildHeadFields>>

function selectHead(ctx: Ctx, id: string) {
  const view = viewCustomers(ctx.caller)
  const fields = buildHeadFields(view)
  return decodeAs(
    fields,
    sql<OrderHeadRow>`select ${buildSelectList(fields)} from ${orders}
      join ${editions} on ${editions.id} = ${orders.edition_id}
      join ${organizations} on ${organizations.id} = ${orders.organization_id}
      join ${users} on ${users.id} = ${orders.user_id} ${view.join}
      where ${orders.id} = ${id} and ${isVisibleTo(ctx.caller, orderVisibility)}`,
  )
}

const itemFields = { ...cartLineFields, ...buildProductFields(cartLineColumns) }

export type CartItemRow = RowOf<typeof itemFields>

const orderId = sql.placeholder('orderId')

export const selectCartItems = prepare(
  decodeAs(
    itemFields,
    sql<CartItemRow>`select ${buildSelectList(itemFields)} from ${orders} join ${cartLines}
      ${buildProductJoins(cartLineColumns)} where ${orders.id} = ${orderId} order by line.key`,
  ),
)

const payment = alias(transactions, 'payment')
const holders = alias(users, 'holders')

/** The holder's columns are null when the customer of the order holds the purchase. */
const buildPurchaseFields = (view: CustomerView) => ({
  ...purchaseSummaryFields,
  remaining_minor: sql<number>`${buildPurchaseRemainder(sql`${purchases}`, sql`payment`)}`,
  user_id: makeNullable(holders.id),
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
})

type OrderPurchaseRow = RowOf<ReturnType<typeof buildPurchaseFields>>

function buildPurchasesQuery(view: CustomerView) {
  const fields = buildPurchaseFields(view)
  return decodeAs(
    fields,
    sql<OrderPurchaseRow>`select ${buildSelectList(fields)} from ${purchases}
      ${buildProductJoins(purchases)}
      left join ${transactions} as ${payment}
        on ${payment.order_id} = ${purchases.order_id} and ${eq(payment.type, 'payment')}
      left join ${users} as ${holders} on ${holders.id} =
        nullif(${purchases.user_id}, (select user_id from orders where orders.id = ${orderId})) ${view.join}
      where ${purchases.order_id} = ${orderId} order by ${purchases.id}`,
  )
}

export const selectPurchasesForOrganization = prepare(buildPurchasesQuery(buildOrganizationView(sql`holders`)))

/** Roles of an edition see columns of their own editions, so their query is rendered for each request. */
function selectPurchases({ caller }: Ctx, values: { orderId: string }) {
  const view = viewCustomers(caller, sql`holders`)
  return view.isOfOrganization ? selectPurchasesForOrganization(values) : prepare(buildPurchasesQuery(view))(values)
}

const transactionFields = {
  ...getTableColumns(transactions),
  remaining_minor: sql<number>`iif(${eq(transactions.type, 'payment')},
    ${buildOrderRemainder(sql`${transactions.order_id}`, sql`${transactions}`)}, 0)`,
  /** The most that a request with `include_fees` can pay back. */
  refundable_minor: sql<number>`iif(${eq(transactions.type, 'payment')},
    ${buildOrderRemainder(sql`${transactions.order_id}`, sql`${transactions}`, sql`1`)}, 0)`,
}

export type OrderTransactionRow = RowOf<typeof transactionFields>

export const selectTransactions = prepare(
  decodeAs(
    transactionFields,
    sql<OrderTransactionRow>`select ${buildSelectList(transactionFields)} from ${transactions}
      where ${transactions.order_id} = ${orderId} order by ${transactions.id}`,
  ),
)

const emailFields = { kind: sql<CustomerEmailKind>`${transactionalEmails.kind}`, ...emailStateColumns }

export type OrderEmailRow = RowOf<typeof emailFields>

/** The latest receipts of an order and mails about its refunds, from the oldest to the newest. */
export const selectEmails = prepare(
  decodeAs(
    emailFields,
    sql<OrderEmailRow>`select * from (select ${buildSelectList(emailFields)} from ${transactionalEmails}
        where ${transactionalEmails.order_id} = ${orderId}
      union all select ${buildSelectList(emailFields)} from refund_requests
        cross join ${transactionalEmails} on ${transactionalEmails.refund_request_id} = refund_requests.id
        where refund_requests.order_id = ${orderId}
      order by created_at desc limit ${maxOrderEmails}) order by created_at`,
  ),
)

export interface LoadedOrder {
  id: string
  tenant: Tenant
  head: OrderHeadRow
  items: CartItemRow[]
  purchases: PurchaseSummaryRow[]
  transactions: OrderTransactionRow[]
  emails: OrderEmailRow[]
}

/** Loads an order with its cart, purchases and transactions in one batch, so that they agree with each other. */
export async function findOrder(ctx: Ctx, id: string): Promise<LoadedOrder> {
  const values = { orderId: id }
  const [[head], items, purchaseRows, transactionRows, emails] = await ctx.db.batch([
    selectHead(ctx, id),
    selectCartItems(values),
    selectPurchases(ctx, values),
    selectTransactions(values),
    selectEmails(values),
  ])
  if (!head) throw notFound()
  const customer = { user_id: head.user_id, first_name: head.first_name, last_name: head.last_name, email: head.email }
  return {
    id,
    tenant: { organization_id: head.organization_id, editions: [head.edition_id] },
    head,
    items,
    purchases: purchaseRows.map(({ user_id, ...purchase }) => ({
      ...purchase,
      ...(user_id === null ? customer : { user_id }),
    })),
    transactions: transactionRows,
    emails,
  }
}
