import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { foldedOrDigits } from '../../db/contains.ts'
import type { IntervalOrdering } from '../../db/lists/intervals/interval-list.ts'
import { findStartInIntervals } from '../../db/lists/intervals/start-in-intervals.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import type { ListSource, Owners, OldSortKey } from '../../db/lists/list-source.ts'
import { isFarPage, shortSkipOfTwice } from '../../db/lists/page-by-number.ts'
import { listedKeys } from '../../db/lists/listed-keys.ts'
import { inAnyRange } from '../../db/lists/ranges.ts'
import { listByRuns } from '../../db/lists/runs/list-by-runs.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { paginateNewest } from '../../db/lists/paginate-search.ts'
import { countOfSpans } from '../../db/lists/spans/count-spans.ts'
import { bySpans, startInGroups } from '../../db/lists/spans/start-of-spans.ts'
import { editions } from '../../db/schema/editions.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { type CustomerView, customersSeenBy } from '../../db/customer-visibility.ts'
import { editionsSeenBy, inWords, wholeScope } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { isIndexed as isIndexedText } from '../../domain/text/trigrams.ts'
import { shownEdition, shownIn, shownOfEdition } from '../editions/index.ts'
import { organizationSummaryOf } from '../organizations/index.ts'
import { askedOf, conditions } from './conditions.ts'
import { type CountedRefunds, countedOf, fewMatch, isOfTime } from './count.ts'
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
import { fewEditionsOf, inReach, isOfEditions, organizationOf, rangesOfEditions } from './scope.ts'

/** The editions of a list, with what is shown of each. */
function shownEditions(ctx: Ctx, filters: RefundFilters): SQL {
  const few = fewEditionsOf(ctx, filters)
  if (!few) return editionsSeenBy(ctx.caller, filters, shownEdition)
  return sql`select ${editions.id} as id, ${shownEdition} as shown from ${editions} where ${inWords(sql`${editions.id}`, few)}`
}

function ownersOf(ctx: Ctx, filters: RefundFilters, isOrdered: boolean): Owners | undefined {
  if (!isOfEditions(filters)) return undefined
  return { column: sql`${refundRequests.edition_id}`, ids: shownEditions(ctx, filters), isOrdered, areShown: true }
}

/** The ordering of intervals that an order of lists reads. */
const orderingsOf: Partial<Record<RefundOrdering[number]['name'], IntervalOrdering>> = {
  modified: refundIntervals.orderings.modified,
  requested_amount: refundIntervals.orderings.amount,
}

/** How requests are found that are sorted then. */
const foundBy = (filters: RefundFilters): RefundIndex =>
  isOfReason(filters) ? byReason(filters) : { index: sql`refund_requests_of_edition` }

/** Whether an index has all that is asked for, so that no request is read to compare it. */
const knowsAll = (
  { hasReason = false, hasCreation = false }: RefundIndex,
  filters: RefundFilters,
  counted: CountedRefunds,
) => (hasReason || !isOfReason(filters)) && (hasCreation || !isOfTime(counted))

/** Where a page by number begins: in an order by the status its requests are passed by their counts. */
function bySpansOf(
  counted: CountedRefunds | null,
  filters: RefundFilters,
  ordering: RefundOrdering,
  sort: readonly OldSortKey[],
): Pick<ListSource, 'count' | 'startOf'> {
  if (!counted) return {}
  const { spans } = counted
  const [by] = ordering
  const counting = bySpans(spans, counted, sort)
  if (isOfTime(counted) || ordering.length !== 1 || by?.name !== 'status') return counting
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
  const { edition_id: _edition, organization_id: _organization, status, ...others } = filters
  const { reason, source, created_after, created_before, order_id, purchase_id, customer_id, search, ...unnamed } =
    others
  unnamed satisfies NoFilters
  const uncounted = [reason, source, created_after, created_before, order_id, purchase_id, customer_id, search]
  if (uncounted.some((value) => value !== undefined)) return {}
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

const shownOfPage = (ctx: Ctx, filters: RefundFilters): SQL => shownIn(shownEditions(ctx, filters), sql`edition_id`)

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
  if (foldedOrDigits(text).every(isIndexedText)) return paginate(ctx.db, request, { ...source, from: source.table })
  const scope = { edition_id, organization_id }
  return paginateNewest(ctx.db, request, source, {
    ...source,
    from: source.table,
    where: conditions(ctx, view, scope),
    owners: ownersOf(ctx, scope, true),
    sort: sortOf([], {}, true),
  })
}

interface ReadRefunds extends RefundQuery {
  view: CustomerView
  counted: CountedRefunds | null
  /** The editions of the caller, where they are few and all of them are listed. */
  few: readonly string[] | null
}

/** A page to which runs led, or a request of the one behind a row to which they led; null where they serve no list like this. */
async function readRuns(ctx: Ctx, request: PageRequest, { view, filters, ordering, counted, few }: ReadRefunds) {
  const ids = few ? sql`select column1 as id from ${listedKeys(few)}` : editionsSeenBy(ctx.caller, filters)
  const rows = rowsInRuns(counted, { editions: ids, by: ordering, isFar: few !== null && isFarPage(request) })
  if (!rows || !counted) return null
  const count = countOfSpans(counted.spans, counted)
  const source = () => ({
    ...shownOf(view, filters, false, shownOfPage(ctx, filters)),
    from: sql`${refundRequests}`,
    where: few
      ? [inWords(sql`${refundRequests.edition_id}`, few), ...askedOf(view, filters)]
      : conditions(ctx, view, filters),
    owners: few ? undefined : ownersOf(ctx, filters, false),
    sort: sortOf(ordering, filters, false),
    count,
  })
  const isSortedHere = few !== null || !isOfEditions(filters)
  return listByRuns(ctx.db, request, { rows, count: count.statement, source, isSortedHere })
}

async function readIndexes(ctx: Ctx, page: PageRequest, { view, filters, ordering, counted, few }: ReadRefunds) {
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
    // Rows that are passed are read whole.
    shortSkip: startOf && !areFew ? shortSkipOfTwice : undefined,
  }
  const isNear = !!startOf || !isFarPage(page)
  const whole = organizationOf(ctx, filters)
  // Its editions are looked up in rows that are read whole.
  if (whole !== undefined && isIndexed && served.ofOrganization && isNear)
    return paginate(ctx.db, page, {
      ...shared,
      ...shownOf(view, filters, false, shownOfPage(ctx, filters)),
      index: served.ofOrganization,
      where: [sql`${refundRequests.organization_id} = ${whole}`, ...conditions(ctx, view, filters)],
    })
  const ofFew = few && counted && isIndexed ? rangesOfEditions(few, served.ranges) : null
  // Rows that are passed one by one are not read, where the index has all that is asked for.
  if (ofFew && isIndexed && counted && (isNear || knowsAll(served, filters, counted)))
    return paginate(ctx.db, page, {
      ...shared,
      ...shownOf(view, filters, false, shownOfPage(ctx, filters)),
      ...(isNear ? {} : { read: undefined, carried: sql`${refundRequests.edition_id}` }),
      index: served.index,
      ranges: ofFew,
      where: askedOf(view, filters),
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

export async function listRefunds(
  ctx: Ctx,
  request: PageRequest,
  ordering: RefundOrdering,
  asked: RefundFilters,
): Promise<Page<RefundDetailRow>> {
  const filters = inReach(ctx, asked)
  const view = customersSeenBy(ctx.caller)
  if (filters.search && isOfWholeEditions(filters)) return searchRefunds(ctx, view, request, { ordering, filters })
  const read = {
    view,
    filters,
    ordering,
    counted: countedOf(ctx, view, filters),
    few: fewEditionsOf(ctx, filters),
  }
  const byRuns = await readRuns(ctx, request, read)
  return byRuns?.page ?? readIndexes(ctx, byRuns?.request ?? request, read)
}
