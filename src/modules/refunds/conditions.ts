import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { valueInRanges } from '../../db/lists/ranges.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import type { CustomerView } from '../../db/customer-visibility.ts'
import { visibilityOf, visibleIn } from '../../db/visibility.ts'
import { isOfWholeEditions, type RefundFilters } from './filters.ts'
import { isOfEditions } from './scope.ts'
import { isFoundBy, refundVisibility } from './search.ts'

type RefundCondition = (value: string | number, view: CustomerView) => SQL

const own =
  (name: 'order_id' | 'status' | 'reason' | 'source'): RefundCondition =>
  (value) =>
    sql`${refundRequests[name]} = ${valueInRanges(value)}`

const conditionsOf: Record<Exclude<keyof RefundFilters, 'edition_id'>, RefundCondition> = {
  // A plus excludes the indexes of the organisation, where others lead to fewer requests.
  organization_id: (id) => sql`+${refundRequests.organization_id} = ${id}`,
  order_id: own('order_id'),
  purchase_id: (id) =>
    sql`${refundRequests.id} in (select refund_request_id from refund_items where purchase_id = ${id})`,
  customer_id: (id) => sql`${refundRequests.order_id} in (select id from orders where user_id = ${id})`,
  status: own('status'),
  reason: own('reason'),
  source: own('source'),
  search: (text, view) => isFoundBy(view, String(text)),
  created_after: (at) => sql`${refundRequests.created_at} >= ${valueInRanges(at)}`,
  created_before: (at) => sql`${refundRequests.created_at} <= ${valueInRanges(at)}`,
}

/** A plus excludes the indexes of the edition, where others lead to fewer requests. */
const isOfEdition = (filters: RefundFilters, id: string): SQL =>
  isOfWholeEditions(filters) ? sql`${refundRequests.edition_id} = ${id}` : sql`+${refundRequests.edition_id} = ${id}`

/** Requests of an order, a purchase or a customer are few, and the editions of a caller may have many. */
const visibilityInside = visibilityOf(sql`+${refundRequests.organization_id}`, sql`+${refundRequests.edition_id}`)

/** What is asked for beside the edition. */
export const askedOf = (view: CustomerView, filters: RefundFilters): SQL[] =>
  (Object.keys(conditionsOf) as (keyof typeof conditionsOf)[]).flatMap((name) => {
    const value = filters[name]
    if (value === undefined || (name === 'organization_id' && isOfEditions(filters))) return []
    return [conditionsOf[name](value, view)]
  })

export function conditions(ctx: Ctx, view: CustomerView, filters: RefundFilters): SQL[] {
  const { edition_id } = filters
  const visibility = isOfWholeEditions(filters) ? refundVisibility : visibilityInside
  return [
    ...(edition_id ? [isOfEdition(filters, edition_id)] : []),
    ...askedOf(view, filters),
    visibleIn(ctx.caller, visibility, filters),
  ]
}
