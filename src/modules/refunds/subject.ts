import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import {
  buildOrderRemainder,
  buildPurchaseRemainder,
  buildPurchaseShare,
  buildSharedRemainder,
} from '../../db/refunds.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { products } from '../../db/schema/sales/catalog.ts'
import { orders, purchases, transactions } from '../../db/schema/sales/orders.ts'
import { refundItems, refundRequests } from '../../db/schema/sales/refunds.ts'
import { users } from '../../db/schema/users.ts'
import { decodeAs, makeNullable, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { type CustomerView, buildContactFields, viewCustomers } from '../../db/customers.ts'
import { inList, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type PriceParts, partsOf, type Remaining } from '../../domain/refunds/refund-shares.ts'
import { refundStatuses, reservedStatuses, type refundTargets } from '../../domain/refunds/refunds.ts'
import { editionSummaryFields } from '../editions/index.ts'
import { orderVisibility } from '../orders/index.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import { announcedFields, announcedJoins, imagesOfProduct, purchaseVisibility } from '../purchases/index.ts'

export interface RefundTarget {
  kind: (typeof refundTargets)[number]
  id: string
}

const takenStatuses = [...reservedStatuses, ...refundStatuses.filter((status) => status === 'completed')]

const taken = (part: 'price_minor' | 'deposit_minor' | 'handling_fee_minor') =>
  sql<number>`coalesce((select sum(${refundItems[part]}) from ${refundItems}
    join ${refundRequests} on ${refundRequests.id} = ${refundItems.refund_request_id}
    where ${refundItems.purchase_id} = ${purchases.id}
      and ${inList(sql`${refundRequests.status}`, takenStatuses)}), 0)`

const orderOf = ({ kind, id }: RefundTarget): SQL => {
  if (kind === 'order') return sql`${id}`
  return kind === 'purchase'
    ? sql`(select order_id from purchases where id = ${id})`
    : sql`(select order_id from transactions where id = ${id} and type = 'payment')`
}

const payment = sql`${transactions}`
const isPayment = eq(transactions.type, 'payment')

type SubjectCtx = Pick<Ctx, 'db' | 'caller'>

/** The order with its payment, where it has one. */
const headFields = (view: CustomerView, fees: SQL) => ({
  order_id: orders.id,
  order_number: orders.order_number,
  user_id: orders.user_id,
  currency: orders.currency,
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
  ...editionSummaryFields,
  ...organizationSummaryFields,
  is_archived: editions.is_archived,
  refund_policy: organizations.refund_policy,
  /** The account of the edition. */
  edition_account_id: editions.merchant_account_id,
  transaction_id: makeNullable(transactions.id),
  transaction_status: makeNullable(transactions.status),
  amount_minor: makeNullable(transactions.amount_minor),
  refunded_minor: makeNullable(transactions.refunded_minor),
  reserved_minor: makeNullable(transactions.reserved_minor),
  service: makeNullable(transactions.service),
  provider_reference: transactions.provider_reference,
  merchant_account_id: transactions.merchant_account_id,
  rest_minor: sql<number>`${buildOrderRemainder(sql`${orders.id}`, payment, fees)}`,
  /** What all orders with its reference have left together. Null where no provider pays back. */
  shared_minor: sql<number | null>`iif(exists (select 1 from merchant_accounts
    where id = coalesce(${transactions.merchant_account_id}, ${editions.merchant_account_id}) and type <> 'manual'),
    ${buildSharedRemainder(payment, sql`${orders.edition_id}`)}, null)`,
})

type HeadRow = RowOf<ReturnType<typeof headFields>>

function headOf(ctx: SubjectCtx, target: RefundTarget, fees: SQL) {
  const view = viewCustomers(ctx.caller)
  const fields = headFields(view, fees)
  return decodeAs(
    fields,
    sql<HeadRow>`select ${buildSelectList(fields)} from ${orders}
      join ${users} on ${users.id} = ${orders.user_id} ${view.join}
      join ${editions} on ${editions.id} = ${orders.edition_id}
      join ${organizations} on ${organizations.id} = ${orders.organization_id}
      left join ${transactions} on ${transactions.order_id} = ${orders.id} and ${isPayment}
      where ${orders.id} = ${orderOf(target)} and ${isVisibleTo(ctx.caller, orderVisibility)}
      limit 1`,
  )
}

/** A purchase that a request may pay back. */
const purchaseFieldsOf = (fees: SQL) => ({
  ...announcedFields,
  product_is_draft: products.is_draft,
  product_images: imagesOfProduct,
  status: purchases.status,
  price_minor: purchases.price_minor,
  deposit_minor: purchases.deposit_minor,
  handling_fee_minor: purchases.handling_fee_minor,
  refunded_minor: purchases.refunded_minor,
  reserved_minor: purchases.reserved_minor,
  status_before: sql<null>`null`,
  /** The rest of the purchase by itself, and as much of it as the rest of the payment covers. */
  share_minor: sql<number>`${buildPurchaseShare(sql`${purchases}`, fees)}`,
  rest_minor: sql<number>`${buildPurchaseRemainder(sql`${purchases}`, payment, fees)}`,
  /** Paid back or reserved by requests, for each part. */
  price_taken: taken('price_minor'),
  deposit_taken: taken('deposit_minor'),
  handling_fee_taken: taken('handling_fee_minor'),
})

export type SubjectPurchase = RowOf<ReturnType<typeof purchaseFieldsOf>>

function purchasesOf(target: RefundTarget, fees: SQL) {
  const { kind, id } = target
  const isMeant = kind === 'purchase' ? eq(purchases.id, id) : sql`${purchases.order_id} = ${orderOf(target)}`
  const fields = purchaseFieldsOf(fees)
  return decodeAs(
    fields,
    sql<SubjectPurchase>`select ${buildSelectList(fields)} from ${purchases} ${announcedJoins}
      left join ${transactions} on ${transactions.order_id} = ${purchases.order_id} and ${isPayment}
      where ${isMeant} order by ${purchases.id}`,
  )
}

/** The order of a request with its payment, and the purchases that the request is for. */
export interface RefundSubject extends HeadRow {
  tenant: Tenant
  purchases: SubjectPurchase[]
}

const sharedMax = ({ shared_minor }: Pick<HeadRow, 'shared_minor'>): number =>
  shared_minor === null ? Number.POSITIVE_INFINITY : Math.max(0, shared_minor)

/**
 * The subjects of the targets, from one snapshot; undefined for a target that is not there or that the caller does not
 * see.
 */
export async function findSubjects(
  ctx: SubjectCtx,
  targets: readonly RefundTarget[],
  includeFees: boolean,
): Promise<(RefundSubject | undefined)[]> {
  const fees = includeFees ? sql`1` : sql`0`
  const found = await ctx.db.batchGroups(
    targets.map((target) => [headOf(ctx, target, fees), purchasesOf(target, fees)] as const),
  )
  return found.map(([[head], bought]) => {
    if (!head) return undefined
    return {
      ...head,
      rest_minor: Math.min(head.rest_minor, sharedMax(head)),
      purchases: bought,
      tenant: { organization_id: head.organization_id, editions: [head.edition_id] },
    }
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
  kind === 'purchase' ? Math.min(subject.purchases[0]?.rest_minor ?? 0, sharedMax(subject)) : subject.rest_minor

/**
 * As `maxOf`, for some purchases of an order. Fees of the payment, which belong to no purchase, are added for the whole
 * order only.
 */
export const restOf = (subject: RefundSubject, bought: readonly SubjectPurchase[], isWhole: boolean): number =>
  isWhole
    ? subject.rest_minor
    : Math.min(
        subject.rest_minor,
        bought.reduce((sum, { share_minor }) => sum + share_minor, 0),
      )

/**
 * The rest of a purchase by parts. An amount that was paid back without a request, as an import says, is subtracted
 * from the price first.
 */
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
    select({ organization_id: editions.organization_id, edition_id: editions.id })
      .from(purchases)
      .innerJoin(editions, eq(editions.id, purchases.edition_id))
      .where(and(eq(purchases.id, id), isVisibleTo(ctx.caller, purchaseVisibility))),
  )
  if (!row) throw notFound()
  return { purchase_id: id, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}
