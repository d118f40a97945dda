import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { purchaseRest } from '../../db/refunds.ts'
import type { purchases } from '../../db/schema/sales/orders.ts'
import { customersSeenBy } from '../../db/shared-customers.ts'
import { visibilityOf, visible } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { RefundStatus } from '../../domain/refunds/refunds.ts'
import { type EditionSummaryRow, editionSummaryColumns } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import { walletPassesOf } from '../wallet/index.ts'
import { boughtColumns, boughtJoins, type BoughtRow } from './bought.ts'
import { type PurchaseUseRow, useColumns, useJoins } from './uses/use-row.ts'

/** A purchase with its customer and the state of its payment. */
export interface ShownPurchaseRow extends BoughtRow {
  id: string
  vendor_code: string | null
  status: string
  user_id: string
  first_name: string
  last_name: string
  email: string | null
  price_minor: number
  deposit_minor: number
  handling_fee_minor: number
  uses_limit: number
  uses_count: number
  is_unlimited_use: number
  valid_until: number | null
  created_at: number
  modified_at: number
  refunded_minor: number
  reserved_minor: number
  /** The most that can be paid back, without fees. */
  rest_minor: number
}

export interface PurchaseDetailRow
  extends ShownPurchaseRow, EditionSummaryRow, OrganizationSummaryRow, Pick<typeof purchases.$inferSelect, 'metadata'> {
  tenant: Tenant
  order_id: string
  order_number: string | null
  order_type: string
  order_status: string
  currency: string
  transaction_id: string | null
  uses: PurchaseUseRow[]
  /** JSON of `PassSummaryRow`s. */
  wallet_passes: string
  /** JSON of `RefundSummaryRow`s. */
  refund_requests: string
}

export const purchaseVisibility = visibilityOf(sql`purchases.organization_id`, sql`purchases.edition_id`)

/** More are counted, and not shown. */
const shownUses = 50

/** Without a guard: the purchase itself is read with one, in the same snapshot. */
const usesOf = (purchaseId: string) => sql<PurchaseUseRow>`select ${useColumns} from purchase_uses ${useJoins}
  where purchase_uses.purchase_id = ${purchaseId}
  order by purchase_uses.used_at desc, purchase_uses.id desc limit ${shownUses}`

/** More are listed by `GET /v1/refund-requests`. */
const shownRefunds = 20

export interface RefundSummaryRow {
  id: string
  status: RefundStatus
  requested_minor: number
  created_at: number
}

const refundsOf = (
  purchaseId: SQL,
): SQL => sql`(select coalesce(json_group_array(json_object('id', id, 'status', status,
    'requested_minor', requested_minor, 'created_at', created_at)), '[]')
  from (select refund_requests.id, status, requested_minor, created_at
    from refund_items cross join refund_requests on refund_requests.id = refund_items.refund_request_id
    where refund_items.purchase_id = ${purchaseId}
    order by refund_items.refund_request_id desc limit ${shownRefunds}))`

export async function findPurchase(ctx: Ctx, id: string): Promise<PurchaseDetailRow> {
  const view = customersSeenBy(ctx.caller)
  const found = sql<Omit<PurchaseDetailRow, 'tenant' | 'uses'>>`select purchases.*,
      ${boughtColumns(sql`purchases`)}, ${editionSummaryColumns}, ${organizationSummaryColumns},
      ${view.columns(['first_name', 'last_name', 'email'])}, orders.order_number, orders.type as order_type,
      orders.status as order_status, orders.currency, transactions.id as transaction_id,
      ${purchaseRest(sql`purchases`, sql`transactions`)} as rest_minor,
      ${walletPassesOf(sql`purchases.id`)} as wallet_passes, ${refundsOf(sql`purchases.id`)} as refund_requests
    from purchases
    join orders on orders.id = purchases.order_id
    join users on users.id = purchases.user_id ${view.join}
    join editions on editions.id = purchases.edition_id
    join organizations on organizations.id = purchases.organization_id
    ${boughtJoins(sql`purchases`)}
    left join transactions on transactions.order_id = orders.id and transactions.type = 'payment'
    where purchases.id = ${id}
      and ${visible(ctx.caller, purchaseVisibility)}
    limit 1`
  const [[row], uses] = await ctx.db.batch([found, usesOf(id)])
  if (!row) throw notFound()
  return { ...row, uses, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}
