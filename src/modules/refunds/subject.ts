import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { orderRest, purchaseRest, purchaseShare } from '../../db/refunds.ts'
import type { purchases, transactions } from '../../db/schema/sales/orders.ts'
import { customersSeenBy } from '../../db/shared-customers.ts'
import { inList, visible } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import { type PriceParts, partsOf, type Remaining } from '../../domain/refunds/refund-shares.ts'
import { refundStatuses, reservedStatuses, type refundTargets } from '../../domain/refunds/refunds.ts'
import { type EditionSummaryRow, editionSummaryColumns } from '../editions/index.ts'
import { orderVisibility } from '../orders/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import {
  type AnnouncedPurchase,
  announcedColumns,
  announcedJoins,
  imagesOfProduct,
  purchaseVisibility,
} from '../purchases/index.ts'
import type { Nullable } from '../../domain/nullable.ts'

export interface RefundTarget {
  kind: (typeof refundTargets)[number]
  id: string
}

type PurchaseColumns = Pick<
  typeof purchases.$inferSelect,
  'status' | 'price_minor' | 'deposit_minor' | 'handling_fee_minor' | 'refunded_minor' | 'reserved_minor'
>

/** A purchase that a request may pay back. */
export interface SubjectPurchase extends AnnouncedPurchase, PurchaseColumns {
  product_is_draft: number
  product_images: string
  status_before: null
  /** What is left of it, whatever is left of the payment, and what of that can be asked for. */
  share_minor: number
  rest_minor: number
  /** What requests pay back or reserve of each part. */
  price_taken: number
  deposit_taken: number
  handling_fee_taken: number
}

type SubjectPayment = Pick<
  typeof transactions.$inferSelect,
  'amount_minor' | 'refunded_minor' | 'reserved_minor' | 'service' | 'provider_reference' | 'merchant_account_id'
>

interface HeadRow extends EditionSummaryRow, OrganizationSummaryRow {
  order_id: string
  order_number: string | null
  user_id: string
  first_name: string
  last_name: string
  email: string | null
  currency: Currency
  is_archived: number
  refund_policy: string
  /** The account of the edition. */
  edition_account_id: string | null
  rest_minor: number
}

interface PaymentColumns extends SubjectPayment {
  transaction_id: string
  transaction_status: string
}

/** What a request is about: an order with its payment, and the purchases that are meant. */
export interface RefundSubject extends HeadRow, Nullable<PaymentColumns> {
  tenant: Tenant
  purchases: SubjectPurchase[]
}

const takenStatuses = [...reservedStatuses, ...refundStatuses.filter((status) => status === 'completed')]

const taken = (part: string): SQL =>
  sql`coalesce((select sum(refund_items.${sql.raw(part)}) from refund_items
    join refund_requests on refund_requests.id = refund_items.refund_request_id
    where refund_items.purchase_id = purchases.id and ${inList(sql`refund_requests.status`, takenStatuses)}), 0)`

const orderOf = ({ kind, id }: RefundTarget): SQL => {
  if (kind === 'order') return sql`${id}`
  return kind === 'purchase'
    ? sql`(select order_id from purchases where id = ${id})`
    : sql`(select order_id from transactions where id = ${id} and type = 'payment')`
}

const payment = sql`transactions`

type SubjectCtx = Pick<Ctx, 'db' | 'caller'>

function headOf(ctx: SubjectCtx, target: RefundTarget, fees: SQL): SQL<HeadRow & Nullable<PaymentColumns>> {
  const view = customersSeenBy(ctx.caller)
  return sql`select orders.id as order_id, orders.order_number, orders.user_id, orders.currency,
      ${view.columns(['first_name', 'last_name', 'email'])}, ${editionSummaryColumns}, ${organizationSummaryColumns},
      editions.is_archived, editions.merchant_account_id as edition_account_id, organizations.refund_policy,
      transactions.id as transaction_id, transactions.status as transaction_status, transactions.amount_minor,
      transactions.refunded_minor, transactions.reserved_minor, transactions.service, transactions.provider_reference,
      transactions.merchant_account_id, ${orderRest(sql`orders.id`, payment, fees)} as rest_minor
    from orders
    join users on users.id = orders.user_id ${view.join}
    join editions on editions.id = orders.edition_id
    join organizations on organizations.id = orders.organization_id
    left join transactions on transactions.order_id = orders.id and transactions.type = 'payment'
    where orders.id = ${orderOf(target)} and ${visible(ctx.caller, orderVisibility)}
    limit 1`
}

function purchasesOf(target: RefundTarget, fees: SQL): SQL<SubjectPurchase> {
  const meant =
    target.kind === 'purchase' ? sql`purchases.id = ${target.id}` : sql`purchases.order_id = ${orderOf(target)}`
  return sql`select ${announcedColumns}, products.is_draft as product_is_draft,
      ${imagesOfProduct} as product_images, purchases.status,
      purchases.price_minor, purchases.deposit_minor, purchases.handling_fee_minor, purchases.refunded_minor,
      purchases.reserved_minor, null as status_before, ${purchaseShare(sql`purchases`, fees)} as share_minor,
      ${purchaseRest(sql`purchases`, payment, fees)} as rest_minor, ${taken('price_minor')} as price_taken,
      ${taken('deposit_minor')} as deposit_taken, ${taken('handling_fee_minor')} as handling_fee_taken
    from purchases ${announcedJoins}
    left join transactions on transactions.order_id = purchases.order_id and transactions.type = 'payment'
    where ${meant} order by purchases.id`
}

/** What the targets are about, from one snapshot; undefined for what is not there or not seen. */
export async function findSubjects(
  ctx: SubjectCtx,
  targets: readonly RefundTarget[],
  includeFees: boolean,
): Promise<(RefundSubject | undefined)[]> {
  const fees = includeFees ? sql`1` : sql`0`
  const found = await ctx.db.batch(
    targets.flatMap((target): Statement[] => [headOf(ctx, target, fees), purchasesOf(target, fees)]),
  )
  return targets.map((_, index) => {
    const [head] = found[2 * index] as (HeadRow & Nullable<PaymentColumns>)[]
    const purchases = found[2 * index + 1] as SubjectPurchase[]
    if (!head) return undefined
    return { ...head, purchases, tenant: { organization_id: head.organization_id, editions: [head.edition_id] } }
  })
}

/** As `findSubjects`, of one target. */
export const findSubject = async (
  ctx: SubjectCtx,
  target: RefundTarget,
  includeFees: boolean,
): Promise<RefundSubject | undefined> => (await findSubjects(ctx, [target], includeFees))[0]

/** The most that can be asked for. */
export const maxOf = (subject: RefundSubject, kind: RefundTarget['kind']): number =>
  kind === 'purchase' ? (subject.purchases[0]?.rest_minor ?? 0) : subject.rest_minor

/** As `maxOf`, for some purchases of an order. What its payment has beyond all purchases counts with `isWhole` alone. */
export const restOf = (subject: RefundSubject, purchases: readonly SubjectPurchase[], isWhole: boolean): number =>
  isWhole
    ? subject.rest_minor
    : Math.min(
        subject.rest_minor,
        purchases.reduce((sum, { share_minor }) => sum + share_minor, 0),
      )

/** What is left of a purchase in parts. What was paid back by no request, as an import says, counts price first. */
export function remaining(purchase: SubjectPurchase): Remaining {
  const left: PriceParts = {
    price_minor: Math.max(0, purchase.price_minor - purchase.price_taken),
    deposit_minor: Math.max(0, purchase.deposit_minor - purchase.deposit_taken),
    handling_fee_minor: Math.max(0, purchase.handling_fee_minor - purchase.handling_fee_taken),
  }
  const byRequests = purchase.price_taken + purchase.deposit_taken + purchase.handling_fee_taken
  const beside = partsOf(Math.max(0, purchase.refunded_minor + purchase.reserved_minor - byRequests), left)
  return {
    purchase_id: purchase.id,
    rest_minor: purchase.share_minor,
    price_minor: left.price_minor - beside.price_minor,
    deposit_minor: left.deposit_minor - beside.deposit_minor,
    handling_fee_minor: Math.max(0, left.handling_fee_minor - beside.handling_fee_minor),
  }
}

/** The tenant of a purchase, to check the caller before anything else is read. */
export async function findPurchaseTenant(ctx: Ctx, id: string): Promise<{ purchase_id: string; tenant: Tenant }> {
  const row = await ctx.db.first(
    sql<{ organization_id: string; edition_id: string }>`select purchases.organization_id, purchases.edition_id
      from purchases where purchases.id = ${id} and ${visible(ctx.caller, purchaseVisibility)}`,
  )
  if (!row) throw notFound()
  return { purchase_id: id, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}
