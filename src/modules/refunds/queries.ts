import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { RefundRow } from '../../db/schema/sales/refunds.ts'
import { type CustomerView, customersSeenBy } from '../../db/shared-customers.ts'
import { visibilityOf, visible, visibleIn } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Share } from '../../domain/refunds/refund-shares.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { type EditionSummaryRow, editionSummaryColumns } from '../editions/index.ts'
import { containsText } from '../orders/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import { imagesOfProduct } from '../purchases/index.ts'

/** A purchase as a request shows it; null for a refund of a whole order or payment. */
interface ShownPurchase {
  vendor_code: string | null
  product_id: string | null
  product_name: string | null
  product_is_draft: number | null
  /** JSON: ids and keys. */
  product_images: string | null
  variant_id: string | null
  variant_name: string | null
}

export interface RefundDetailRow extends RefundRow, ShownPurchase, EditionSummaryRow, OrganizationSummaryRow {
  order_number: string | null
  /** Who has the order now. */
  customer_id: string
  first_name: string
  last_name: string
  email: string | null
}

export interface LoadedRefund extends RefundDetailRow {
  tenant: Tenant
  is_archived: number
  refund_policy: string
}

const refundVisibility = visibilityOf(sql`refund_requests.organization_id`, sql`refund_requests.edition_id`)

const columns = (view: CustomerView): SQL => sql`refund_requests.*, orders.order_number,
  orders.user_id as customer_id, ${view.columns(['first_name', 'last_name', 'email'])},
  ${editionSummaryColumns}, ${organizationSummaryColumns}, purchases.vendor_code, purchases.product_id,
  products.name as product_name, products.is_draft as product_is_draft,
  ${imagesOfProduct} as product_images, purchases.variant_id,
  variants.name as variant_name`

const joins = (view: CustomerView): SQL => sql`join orders on orders.id = refund_requests.order_id
  join users on users.id = orders.user_id ${view.join}
  join editions on editions.id = refund_requests.edition_id
  join organizations on organizations.id = refund_requests.organization_id
  left join purchases on purchases.id = refund_requests.purchase_id
  left join products on products.id = purchases.product_id
  left join variants on variants.id = purchases.variant_id`

export async function findRefund(ctx: Ctx, id: string): Promise<LoadedRefund> {
  const view = customersSeenBy(ctx.caller)
  const row = await ctx.db.first(
    sql<Omit<LoadedRefund, 'tenant'>>`select ${columns(view)}, editions.is_archived, organizations.refund_policy
      from refund_requests ${joins(view)}
      where refund_requests.id = ${id} and ${visible(ctx.caller, refundVisibility)}`,
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

interface RefundFilters {
  edition_id?: string | undefined
  organization_id?: string | undefined
  order_id?: string | undefined
  purchase_id?: string | undefined
  customer_id?: string | undefined
  status?: string | undefined
  reason?: string | undefined
  source?: string | undefined
  search?: string | undefined
  created_after?: number | undefined
  created_before?: number | undefined
}

type RefundCondition = (value: string | number, view: CustomerView) => SQL

const own = (column: string): RefundCondition => {
  const name = sql.raw(column)
  return (value) => sql`refund_requests.${name} = ${value}`
}

const conditionsOf: Record<keyof RefundFilters, RefundCondition> = {
  edition_id: own('edition_id'),
  organization_id: own('organization_id'),
  order_id: own('order_id'),
  purchase_id: (id) =>
    sql`refund_requests.id in (select refund_request_id from refund_items where purchase_id = ${id})`,
  customer_id: (id) => sql`refund_requests.order_id in (select id from orders where user_id = ${id})`,
  status: own('status'),
  reason: own('reason'),
  source: own('source'),
  search: (text, view) => sql`(refund_requests.id = ${text} or refund_requests.provider_reference = ${text}
    or exists (select 1 from orders where orders.id = refund_requests.order_id
      and ${containsText(view, String(text))}))`,
  created_after: (at) => sql`refund_requests.created_at >= ${at}`,
  created_before: (at) => sql`refund_requests.created_at <= ${at}`,
}

function conditions(ctx: Ctx, view: CustomerView, filters: RefundFilters): SQL[] {
  const asked = (Object.keys(conditionsOf) as (keyof RefundFilters)[]).flatMap((name) => {
    const value = filters[name]
    return value === undefined ? [] : [conditionsOf[name](value, view)]
  })
  return [...asked, visibleIn(ctx.caller, refundVisibility, filters)]
}

export function listRefunds(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created' | 'modified' | 'requested_amount' | 'status'>[],
  filters: RefundFilters,
): Promise<Page<RefundDetailRow>> {
  const view = customersSeenBy(ctx.caller)
  return paginate<RefundDetailRow>(ctx.db, page, {
    from: sql`refund_requests`,
    key: sql`refund_requests.id`,
    where: conditions(ctx, view, filters),
    sort: sortBy(ordering, '-created', {
      created: sql`refund_requests.created_at`,
      modified: sql`refund_requests.modified_at`,
      requested_amount: sql`refund_requests.requested_minor`,
      status: sql`refund_requests.status`,
    }),
    columns: columns(view),
    joins: sql`join refund_requests on refund_requests.id = page.key ${joins(view)}`,
  })
}

export const itemsOf = (ctx: Ctx, refundId: string): Promise<Share[]> =>
  ctx.db.all(sql<Share>`select purchase_id, amount_minor, price_minor, deposit_minor, handling_fee_minor
    from refund_items where refund_request_id = ${refundId} order by purchase_id`)
