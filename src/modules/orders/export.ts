import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildContactFields, viewCustomers } from '../../db/customers.ts'
import { readPages } from '../../db/paginate.ts'
import { orders, transactions } from '../../db/schema/orders.ts'
import { makeNullable, type RowOf, select } from '../../db/select.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { toMajor } from '../../domain/money.ts'
import type { Table } from '../../domain/text/table-file.ts'
import { toIso } from '../../domain/time/instants.ts'
import { exportEditions, type ExportTarget } from '../editions/index.ts'
import type { OrderColumn, OrderExportQuery } from './contract.ts'
import { buildOrderList, buildOrderListFields } from './list.ts'
import { orderVisibility } from './scope.ts'

export { findExportTarget } from '../editions/index.ts'

const buildExportFields = (view: ReturnType<typeof viewCustomers>) => ({
  ...buildOrderListFields(view),
  ...buildContactFields(view, ['phone_number']),
  user_id: orders.user_id,
  coupon_code: sql<string | null>`${orders.cart} ->> 'coupon_code'`,
  service_fee_minor: sql<number>`coalesce(${orders.cart} ->> 'service_fee_minor', 0)`,
  discount_minor: sql<number>`coalesce(${orders.cart} ->> 'discount_minor', 0)`,
  tax_minor: sql<number>`coalesce(${orders.cart} ->> 'tax_minor', 0)`,
  refunded_minor: makeNullable(transactions.refunded_minor),
  service: makeNullable(transactions.service),
  provider_reference: transactions.provider_reference,
})

type ExportRow = RowOf<ReturnType<typeof buildExportFields>>

const cells: Table<OrderColumn, ExportRow>['cells'] = {
  id: (row) => row.id,
  order_number: (row) => row.order_number,
  external_id: (row) => row.external_id,
  source: (row) => row.external_source,
  type: (row) => row.type,
  status: (row) => row.status,
  edition_id: (row) => row.edition_id,
  amount: (row) => toMajor(row.amount_minor),
  currency: (row) => row.currency,
  refunded_amount: (row) => toMajor(row.refunded_minor ?? 0),
  items_count: (row) => row.items_count,
  has_payment: (row) => row.has_payment,
  payment_service: (row) => row.service,
  payment_reference: (row) => row.provider_reference,
  coupon_code: (row) => row.coupon_code,
  service_fee: (row) => toMajor(row.service_fee_minor),
  discount: (row) => toMajor(row.discount_minor),
  tax: (row) => toMajor(row.tax_minor),
  customer_id: (row) => row.user_id,
  customer_name: (row) => formatFullName(row),
  customer_email: (row) => row.email,
  customer_phone: (row) => row.phone_number,
  created: (row) => toIso(row.created_at),
  modified: (row) => toIso(row.modified_at),
}

/** Builds the file of the orders that the list has with the same filters. */
export function exportOrders(ctx: Ctx, target: ExportTarget, query: OrderExportQuery) {
  const { columns, format, bom, after, ...filters } = query
  const view = viewCustomers(ctx.caller)
  const fields = buildExportFields(view)
  return exportEditions(
    ctx,
    target,
    { columns, format, bom, after, filters },
    {
      name: 'orders',
      cells,
      hasRows: sql`exists (select 1 from orders where orders.edition_id = editions.id)`,
      findPosition: async (id) => {
        const order = await ctx.db.first(
          select({ edition_id: orders.edition_id, created_at: orders.created_at, seq: orders.seq })
            .from(orders)
            .where(and(eq(orders.id, id), isVisibleTo(ctx.caller, orderVisibility))),
        )
        return order && { edition_id: order.edition_id, keys: [order.created_at, order.seq] }
      },
      readPages: async function* (edition_id, page) {
        const ordering = [{ name: 'created' as const, desc: false }]
        const { list } = await buildOrderList(ctx, { ...filters, edition_id, ordering }, { view, isWalk: true })
        const joins = sql`${list.joins}
          left join ${transactions} on ${transactions.order_id} = ${orders.id} and ${eq(transactions.type, 'payment')}`
        yield* readPages(ctx.db, { ...list, columns: fields, joins }, page)
      },
    },
  )
}
