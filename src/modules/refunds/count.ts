import type { Ctx } from '../../context.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import { areCountable, countOfSpans, type SpannedRows } from '../../db/lists/spans/count-spans.ts'
import type { SpannedList } from '../../db/lists/spans/spanned-list.ts'
import type { CustomerView } from '../../db/customer-visibility.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import { isOrderedByOwn } from '../../domain/page.ts'
import { askedOf, conditions } from './conditions.ts'
import type { RefundFilters } from './filters.ts'
import { isOfReason, type RefundOrdering } from './orderings.ts'
import { fewEditionsOf, organizationOf } from './scope.ts'
import { organizationRefundSpans, refundSpans } from './spans.ts'

export interface CountedRefunds extends SpannedRows {
  spans: SpannedList
}

/** The spans of an organisation count for all of its editions; for some of them those of each are added up. */
function spansOf(ctx: Ctx, view: CustomerView, filters: RefundFilters): Omit<CountedRefunds, 'facets'> {
  const { edition_id, organization_id, status, reason, source } = filters
  const facets = { status, reason, source }
  const whole = organizationOf(ctx, filters)
  if (whole !== undefined) {
    const where = conditions(ctx, view, { organization_id: whole, ...facets })
    return { spans: organizationRefundSpans, scopes: whole, isOneScope: true, where }
  }
  const few = fewEditionsOf(ctx, filters)
  if (few) return { spans: refundSpans, scopes: few, where: askedOf(view, facets) }
  return {
    spans: refundSpans,
    scopes: editionsSeenBy(ctx.caller, { edition_id, organization_id }),
    isOneScope: edition_id !== undefined,
    where: conditions(ctx, view, facets),
  }
}

/** Requests are counted where they are written; those of an order, a purchase, a customer or a search are few. */
export function countedOf(ctx: Ctx, view: CustomerView, filters: RefundFilters): CountedRefunds | null {
  const { edition_id, organization_id, status, reason, source, created_after, created_before, ...others } = filters
  const { order_id, purchase_id, customer_id, search, ...unnamed } = others
  unnamed satisfies NoFilters
  const facets = [status, reason, source]
  if (order_id || purchase_id || customer_id || search || !areCountable(facets)) return null
  return {
    ...spansOf(ctx, view, { edition_id, organization_id, status, reason, source }),
    facets: [facets],
    from: created_after,
    until: created_before === undefined ? undefined : created_before + 1,
  }
}

/** Rows of a page, and one more. */
const rowsOfPage = 51

/**
 * Whether it is cheaper to find all matching requests and sort them than to read the index of the order until a page of them
 * is found. Of a status an index has no others, and of a range of time where it follows the creation.
 */
export async function fewMatch(ctx: Ctx, counted: CountedRefunds, filters: RefundFilters, ordering: RefundOrdering) {
  const { status } = filters
  const isByCreation = ordering.every(({ name }) => name === 'created' || name === 'status')
  const isInTime = isOfTime(counted)
  const isServed = !isOfReason(filters) || (isOrderedByOwn(ordering, 'created') && status === undefined)
  if (isServed && (isByCreation || !isInTime)) return false
  const read = { ...counted, facets: [[status, undefined, undefined]] }
  const all = isByCreation ? read : { ...read, from: undefined, until: undefined }
  const [[matching], [total]] = await ctx.db.batch([
    countOfSpans(counted.spans, counted).statement,
    countOfSpans(counted.spans, all).statement,
  ])
  return (matching?.n ?? 0) ** 2 < rowsOfPage * (total?.n ?? 0)
}

/** Whether requests are listed of a range of time. */
export const isOfTime = ({ from, until }: CountedRefunds): boolean => from !== undefined || until !== undefined
