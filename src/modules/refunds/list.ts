import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { IntervalOrdering } from '../../db/lists/intervals/interval-list.ts'
import { findStartInIntervals } from '../../db/lists/intervals/start-in-intervals.ts'
import type { ListSource, Owners, SortKey } from '../../db/lists/list-source.ts'
import { isFarPage } from '../../db/lists/page-by-number.ts'
import { inAnyRange } from '../../db/lists/ranges.ts'
import { listByRuns } from '../../db/lists/runs/list-by-runs.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { paginateNewest, paginateSearch } from '../../db/lists/paginate-search.ts'
import { areCountable, countOfSpans, type SpannedRows } from '../../db/lists/spans/count-spans.ts'
import type { SpannedList } from '../../db/lists/spans/spanned-list.ts'
import { bySpans, startInGroups } from '../../db/lists/spans/start-of-spans.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { type CustomerView, customersSeenBy } from '../../db/customer-visibility.ts'
import { editionsSeenBy, visibleIn, wholeScope } from '../../db/visibility.ts'
import { isOrderedByOwn, type Page, type PageRequest } from '../../domain/page.ts'
import { shownEdition, shownIn, shownOfEdition } from '../editions/index.ts'
import { organizationSummaryOf } from '../organizations/index.ts'
import { isOfWholeEditions, type RefundFilters } from './filters.ts'
import { refundIntervals } from './intervals.ts'
import {
  byReason,
  indexOf,
  isOfReason,
  type RefundOrdering,
  type RefundIndex,
  sortOf,
  statusesOf,
} from './orderings.ts'
import {
  joinedEditions,
  joinedOrganizations,
  joins,
  pageFields,
  refundFields,
  type RefundDetailRow,
} from './queries.ts'
import { rowsInRuns } from './runs.ts'
import { isFoundBy, ofOrders, refundVisibility, searchOf, stateOf } from './search.ts'
import { organizationRefundSpans, refundSpans } from './spans.ts'

type RefundCondition = (value: string | number, view: CustomerView) => SQL

const own =
  (name: 'order_id' | 'status' | 'reason' | 'source'): RefundCondition =>
  (value) =>
    sql`${refundRequests[name]} = ${value}`

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
  created_after: (at) => sql`${refundRequests.created_at} >= ${at}`,
  created_before: (at) => sql`${refundRequests.created_at} <= ${at}`,
}

/** A list that names no edition and nothing inside one is read as those of its editions. */
const isOfEditions = (filters: RefundFilters): boolean => !filters.edition_id && isOfWholeEditions(filters)

/** The editions of a list, with what is shown of each. */
const shownEditions = (ctx: Ctx, filters: RefundFilters): SQL => editionsSeenBy(ctx.caller, filters, shownEdition)

function ownersOf(ctx: Ctx, filters: RefundFilters, isOrdered: boolean): Owners | undefined {
  if (!isOfEditions(filters)) return undefined
  return { column: sql`${refundRequests.edition_id}`, ids: shownEditions(ctx, filters), isOrdered, areShown: true }
}

/** A plus excludes the indexes of the edition, where others lead to fewer requests. */
const isOfEdition = (filters: RefundFilters, id: string): SQL =>
  isOfWholeEditions(filters) ? sql`${refundRequests.edition_id} = ${id}` : sql`+${refundRequests.edition_id} = ${id}`

function conditions(ctx: Ctx, view: CustomerView, filters: RefundFilters): SQL[] {
  const { edition_id } = filters
  const asked = (Object.keys(conditionsOf) as (keyof typeof conditionsOf)[]).flatMap((name) => {
    const value = filters[name]
    if (value === undefined || (name === 'organization_id' && isOfEditions(filters))) return []
    return [conditionsOf[name](value, view)]
  })
  return [
    ...(edition_id ? [isOfEdition(filters, edition_id)] : []),
    ...asked,
    visibleIn(ctx.caller, refundVisibility, filters),
  ]
}

/** The organisation of a list of all its requests, which its own spans and indexes have. */
const organizationOf = (ctx: Ctx, filters: RefundFilters): string | undefined =>
  isOfEditions(filters) ? wholeScope(ctx.caller, filters) : undefined

interface CountedRefunds extends SpannedRows {
  spans: SpannedList
}

/** Requests are counted where they are written; those of an order, a purchase, a customer or a search are few. */
function countedOf(ctx: Ctx, view: CustomerView, filters: RefundFilters): CountedRefunds | null {
  const { status, reason, source, search, created_after, created_before } = filters
  const { edition_id, organization_id, order_id, purchase_id, customer_id } = filters
  const facets = [status, reason, source]
  if (order_id || purchase_id || customer_id || search || !areCountable(facets)) return null
  const whole = organizationOf(ctx, filters)
  return {
    spans: whole === undefined ? refundSpans : organizationRefundSpans,
    scopes: whole ?? editionsSeenBy(ctx.caller, { edition_id, organization_id }),
    isOneScope: edition_id !== undefined || whole !== undefined,
    facets: [facets],
    where: conditions(ctx, view, { organization_id: whole, status, reason, source }),
    from: created_after,
    until: created_before === undefined ? undefined : created_before + 1,
  }
}

/** The ordering of intervals that an order of lists reads. */
const orderingsOf: Partial<Record<RefundOrdering[number]['name'], IntervalOrdering>> = {
  modified: refundIntervals.orderings.modified,
  requested_amount: refundIntervals.orderings.amount,
}

/** Rows of a page, and one more. */
const rowsOfPage = 51

/**
 * Whether it is cheaper to find all matching requests and sort them than to read the index of the order until a page of them
 * is found. Of a status an index has no others, and of a range of time where it follows the creation.
 */
async function fewMatch(ctx: Ctx, counted: CountedRefunds, filters: RefundFilters, ordering: RefundOrdering) {
  const { status } = filters
  const isByCreation = ordering.every(({ name }) => name === 'created' || name === 'status')
  const isInTime = counted.from !== undefined || counted.until !== undefined
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

/** How requests are found that are sorted then. */
const foundBy = (filters: RefundFilters): RefundIndex =>
  isOfReason(filters) ? byReason(filters) : { index: sql`refund_requests_of_edition` }

/** Where a page by number begins: in an order by the status its requests are passed by their counts. */
function bySpansOf(
  counted: CountedRefunds | null,
  filters: RefundFilters,
  ordering: RefundOrdering,
  sort: readonly SortKey[],
): Pick<ListSource, 'count' | 'startOf'> {
  if (!counted) return {}
  const { spans, from, until } = counted
  const [by] = ordering
  const counting = bySpans(spans, counted, sort)
  const isInTime = from !== undefined || until !== undefined
  if (isInTime || ordering.length !== 1 || by?.name !== 'status') return counting
  const values = statusesOf(filters.status)
  const groups = { facet: 0, values: by.desc ? values.toReversed() : values, isDesc: by.desc }
  return { ...counting, startOf: (skipped: number) => startInGroups(spans, counted, groups, skipped) }
}

/** Where a page by number begins in an order that intervals lead through. They count requests by status alone. */
function byIntervals(ctx: Ctx, ordering: RefundOrdering, filters: RefundFilters | null): Pick<ListSource, 'findStart'> {
  const [by] = ordering
  const one = ordering.length === 1 && by && orderingsOf[by.name]
  const scope = filters && wholeScope(ctx.caller, filters)
  if (!one || !scope) return {}
  const { status, reason, source, created_after, created_before } = filters
  if ([reason, source, created_after, created_before].some((value) => value !== undefined)) return {}
  const rows = { scope, facets: [status], orderings: [one], isDesc: by.desc }
  return { findStart: (skipped, nearest) => findStartInIntervals(ctx.db, refundIntervals, rows, { skipped, nearest }) }
}

/** What a list shows of its requests. Merged ones have their edition already, and so has a list of one edition. */
function shownOf(view: CustomerView, { edition_id, organization_id }: RefundFilters, areMerged: boolean, shown?: SQL) {
  const isShown = edition_id !== undefined || areMerged || shown !== undefined
  const fields = isShown ? pageFields(view) : refundFields(view)
  const joined = sql`${joins(view)} ${isShown ? sql`` : joinedEditions} ${organization_id ? sql`` : joinedOrganizations}`
  return {
    key: sql`${refundRequests.id}`,
    shown: edition_id === undefined ? shown : shownOfEdition(edition_id),
    columns: organization_id ? { ...fields, ...organizationSummaryOf(organization_id) } : fields,
    joins: sql`join ${refundRequests} on ${refundRequests.id} = page.key ${joined}`,
    read: { table: sql`${refundRequests}`, joins: sql`cross ${joined}` },
  }
}

interface RefundQuery {
  ordering: RefundOrdering
  filters: RefundFilters
}

/** Requests of editions that a text finds. */
function searchRefunds(ctx: Ctx, view: CustomerView, request: PageRequest, { ordering, filters }: RefundQuery) {
  const { edition_id, organization_id, search: text = '' } = filters
  const source = {
    ...shownOf(view, filters, false),
    table: sql`${refundRequests}`,
    where: conditions(ctx, view, filters),
    owners: ownersOf(ctx, filters, false),
    sort: sortOf(ordering, filters, false),
  }
  const search = searchOf(ctx, filters)
  if (search && search !== 'short') {
    const state = stateOf(ctx, filters, ordering, view)
    return paginateSearch(ctx.db, request, { ...source, ofOrders: ofOrders(view, text), state }, search)
  }
  const scope = { edition_id, organization_id }
  return paginateNewest(ctx.db, request, source, {
    ...source,
    from: source.table,
    where: conditions(ctx, view, scope),
    owners: ownersOf(ctx, scope, true),
    sort: sortOf([], {}, true),
  })
}

export async function listRefunds(
  ctx: Ctx,
  request: PageRequest,
  ordering: RefundOrdering,
  filters: RefundFilters,
): Promise<Page<RefundDetailRow>> {
  const view = customersSeenBy(ctx.caller)
  if (filters.search && isOfWholeEditions(filters)) return searchRefunds(ctx, view, request, { ordering, filters })
  const counted = countedOf(ctx, view, filters)
  const counting = counted && countOfSpans(counted.spans, counted)
  const inRuns = rowsInRuns(counted, editionsSeenBy(ctx.caller, filters), ordering)
  const shownOfPage = shownIn(shownEditions(ctx, filters), sql`edition_id`)
  const sortedSource = () => ({
    ...shownOf(view, filters, false, shownOfPage),
    from: sql`${refundRequests}`,
    where: conditions(ctx, view, filters),
    owners: ownersOf(ctx, filters, false),
    sort: sortOf(ordering, filters, false),
    count: counting,
  })
  const ofRuns = inRuns && counting && { rows: inRuns, count: counting.statement, source: sortedSource }
  const byRuns = ofRuns && (await listByRuns(ctx.db, request, ofRuns))
  if (byRuns?.page) return byRuns.page
  const page = byRuns?.request ?? request
  const served = isOfWholeEditions(filters) ? indexOf(filters, ordering) : null
  const areFew = !!served && !!counted && (await fewMatch(ctx, counted, filters, ordering))
  const found = areFew ? foundBy(filters) : served
  const isIndexed = !!served && !areFew
  const sort = sortOf(ordering, filters, isIndexed)
  const { count, startOf } = bySpansOf(counted, filters, ordering, sort)
  const shared = {
    from: sql`${refundRequests}`,
    ranges: isIndexed ? served.ranges : undefined,
    sort,
    count,
    startOf: areFew ? undefined : startOf,
  }
  const whole = organizationOf(ctx, filters)
  // Its editions are looked up in rows that are read whole.
  if (whole !== undefined && isIndexed && served.ofOrganization && (startOf || !isFarPage(page)))
    return paginate(ctx.db, page, {
      ...shared,
      ...shownOf(view, filters, false, shownOfPage),
      index: served.ofOrganization,
      where: [sql`${refundRequests.organization_id} = ${whole}`, ...conditions(ctx, view, filters)],
    })
  const owners = ownersOf(ctx, filters, isIndexed)
  return paginate(ctx.db, page, {
    ...shared,
    ...shownOf(view, filters, owners?.isOrdered === true),
    index: found?.index,
    where: [...conditions(ctx, view, filters), ...(areFew && found?.ranges ? [inAnyRange(found.ranges)] : [])],
    owners,
    ...(areFew ? {} : byIntervals(ctx, ordering, counted && filters)),
  })
}
