import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildContactFields, type CustomerView, viewCustomers } from '../../db/customers.ts'
import { products, variants } from '../../db/schema/catalog.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { orders } from '../../db/schema/orders.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { refundItems, refundRequests } from '../../db/schema/refunds.ts'
import { decodeAs, makeNullable, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Share } from '../../domain/refunds/refund-shares.ts'
import { editionSummaryFields } from '../editions/index.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import { productImageList } from '../purchases/index.ts'
import { refundVisibility } from '../refund-payments/index.ts'

export const buildRefundFields = (view: CustomerView) => ({
  ...editionSummaryFields,
  ...organizationSummaryFields,
  ...getTableColumns(refundRequests),
  order_number: orders.order_number,
  order_external_id: orders.external_id,
  /** The present customer of the order. `user_id` is the one at the time of the request. */
  customer_id: orders.user_id,
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
  // A refund of a whole order or payment has no purchase, so its columns are null.
  vendor_code: purchases.vendor_code,
  product_id: makeNullable(purchases.product_id),
  product_name: makeNullable(products.name),
  product_is_draft: makeNullable(products.is_draft),
  product_images: productImageList,
  variant_id: purchases.variant_id,
  variant_name: makeNullable(variants.name),
})

export const buildRefundJoins = (
  view: CustomerView,
): SQL => sql`join ${orders} on ${orders.id} = ${refundRequests.order_id}
  join ${users} on ${users.id} = ${orders.user_id} ${view.join}
  left join ${purchases} on ${purchases.id} = ${refundRequests.purchase_id}
  left join ${products} on ${products.id} = ${purchases.product_id}
  left join ${variants} on ${variants.id} = ${purchases.variant_id}
  join ${editions} on ${editions.id} = ${refundRequests.edition_id}
  join ${organizations} on ${organizations.id} = ${refundRequests.organization_id}`

const buildLoadedFields = (view: CustomerView) => ({
  ...buildRefundFields(view),
  is_archived: editions.is_archived,
  refund_policy: organizations.refund_policy,
})

type LoadedFields = RowOf<ReturnType<typeof buildLoadedFields>>

export type RefundDetailRow = RowOf<ReturnType<typeof buildRefundFields>>
export type LoadedRefund = LoadedFields & { tenant: Tenant }

export async function findRefund(ctx: Ctx, id: string): Promise<LoadedRefund> {
  const view = viewCustomers(ctx.caller)
  const fields = buildLoadedFields(view)
  const statement = sql<LoadedFields>`select ${buildSelectList(fields)} from ${refundRequests} ${buildRefundJoins(view)}
    where ${refundRequests.id} = ${id} and ${isVisibleTo(ctx.caller, refundVisibility)}`
  const row = await ctx.db.first(decodeAs(fields, statement))
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

const { purchase_id, amount_minor, price_minor, deposit_minor, handling_fee_minor } = refundItems

export const loadRefundItems = (ctx: Ctx, refundId: string): Promise<Share[]> =>
  ctx.db.all(
    select({ purchase_id, amount_minor, price_minor, deposit_minor, handling_fee_minor })
      .from(refundItems)
      .where(eq(refundItems.refund_request_id, refundId))
      .orderBy(asc(refundItems.purchase_id)),
  )
