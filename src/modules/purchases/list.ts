import { shortIdOfEdition } from '../../db/short-ids.ts'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { areSpans, purchaseColumn, shortBits, sumBits, sumOfEditions, written } from '../../db/edition-counts.ts'
import { sortedFilters, type NoFilters } from '../../db/lists/filters.ts'
import { idKeys, type ListState } from '../../db/lists/list-hits.ts'
import type { OldSortKey } from '../../db/lists/list-source.ts'
import type { Counting, PageStart } from '../../db/lists/page-by-number.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { paginateKept } from '../../db/lists/paginate-kept.ts'
import { paginateFew } from '../../db/lists/paginate-search.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { behindRowOfDense } from '../../db/lists/spans/dense-spans.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { customersSeenBy } from '../../db/customer-visibility.ts'
import { editionsSeenBy, inWords, visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { purchaseStatuses } from '../../domain/orders/purchases.ts'
import type { PurchaseFilters } from './list-contract.ts'
import { type PurchaseListRow, purchaseVisibility, shownFields, shownJoins } from './queries.ts'
import { isFoundBy, searchOf, sortKeys } from './search.ts'
import { type CountedPurchases, startOfPurchases } from './start-of-page.ts'

function conditions(ctx: Ctx, filters: PurchaseFilters): SQL[] {
  const { edition_id, vendor_code, search, status, ...unnamed } = filters
  unnamed satisfies NoFilters
  if (!edition_id) throw invalid(parameterError('edition_id', 'required_filter', 'Give edition_id.'))
  // A plus excludes an index, so that SQLite takes the one that finds fewer purchases.
  const edition = search ? sql`+${purchases}.edition_short_id` : sql`${purchases}.edition_short_id`
  const ofStatus = search || vendor_code ? sql`+${purchases.status}` : sql`${purchases.status}`
  return [
    sql`${edition} = ${shortIdOfEdition(edition_id)}`,
    ...(vendor_code ? [sql`${purchases.vendor_code} = ${vendor_code} collate nocase`] : []),
    ...(status ? [sql`${ofStatus} = ${status}`] : []),
    visibleIn(ctx.caller, purchaseVisibility, filters),
  ]
}

/** The index of an edition has the purchases of each status by their time: a list of all merges them. */
const allStatuses: Ranges = { columns: [sql`${purchases.status}`], values: purchaseStatuses.map((status) => [status]) }

/** The statuses of an edition are counted where purchases are written; null of codes and searches, of which there are few. */
function countedOf(filters: PurchaseFilters): CountedPurchases | null {
  const { edition_id, status, search, vendor_code, ...unnamed } = filters
  unnamed satisfies NoFilters
  return !edition_id || search || vendor_code ? null : { editionId: edition_id, status }
}

function countOf(ctx: Ctx, { editionId, status }: CountedPurchases): Counting {
  const editions = editionsSeenBy(ctx.caller, { edition_id: editionId })
  const column = status ? purchaseColumn(status) : 'purchases'
  return { statement: sql`select ${sumOfEditions(sql.raw(column), editions)} as n` }
}

/** Where a page by number begins. */
const startOf =
  (counted: CountedPurchases, isDesc: boolean) =>
  (skipped: number): PageStart =>
    startOfPurchases(counted, isDesc, skipped)

type PurchaseOrdering = readonly OrderBy<keyof typeof sortKeys>[]

const listedOf = (ordering: PurchaseOrdering) => ({
  from: sql`${purchases}`,
  key: sql`${purchases.id}`,
  sort: sortBy<keyof typeof sortKeys, OldSortKey['by']>(ordering, '-created', sortKeys),
})

/** The state in which a frequent search is made. */
function stateOf(ctx: Ctx, filters: PurchaseFilters, ordering: PurchaseOrdering): ListState {
  const editions = editionsSeenBy(ctx.caller, { edition_id: filters.edition_id })
  return {
    asked: ['purchases', sortedFilters(filters), ordering],
    keys: idKeys,
    version: sumOfEditions(sql`changes + purchase_changes`, editions),
    rows: sumOfEditions(sql`purchases`, editions),
    keepsOrder: true,
    now: ctx.now,
    afterCommit: ctx.afterCommit,
  }
}

/** A request of a page as one of the page behind a row, where many purchases were made in a short time. */
function behindPurchaseOfDense(
  ctx: Ctx,
  request: PageRequest,
  { ordering, filters }: { ordering: PurchaseOrdering; filters: PurchaseFilters },
): Promise<PageRequest> | PageRequest {
  const counted = countedOf(filters)
  if (!counted) return request
  const { editionId: edition_id, status } = counted
  const isDesc = ordering[0]?.desc ?? true
  const editions = editionsSeenBy(ctx.caller, { edition_id })
  return behindRowOfDense(ctx.db, request, {
    editions,
    placeOf: (skipped) => startOfPurchases(counted, isDesc, skipped).ctes,
    ofSpan: ({ span, from, until }) => ({
      source: {
        ...listedOf(ordering),
        where: [
          ...conditions(ctx, filters),
          inWords(sql`${purchases.status}`, status ? [status] : purchaseStatuses),
          sql`${purchases.created_at} >= ${from} and ${purchases.created_at} < ${until}`,
        ],
      },
      state: {
        ...stateOf(ctx, filters, ordering),
        asked: ['purchases of a span', sortedFilters(filters), isDesc, span],
        version: sql`(select changes + purchase_changes from order_counts where ${areSpans(shortBits + sumBits, editions)}
          and span = ${written(span)} >> ${written(sumBits)})`,
        rows: sql`(select coalesce(sum(purchases), 0) from order_counts where ${areSpans(shortBits, editions)} and span = ${span})`,
        fewest: 0,
      },
    }),
  })
}

export async function listPurchases(
  ctx: Ctx,
  page: PageRequest,
  ordering: PurchaseOrdering,
  filters: PurchaseFilters,
): Promise<Page<PurchaseListRow>> {
  const view = customersSeenBy(ctx.caller)
  const { edition_id, search } = filters
  const where = conditions(ctx, filters)
  const counted = countedOf(filters)
  const isSearch = edition_id !== undefined && search !== undefined
  const source = {
    ...listedOf(ordering),
    where: isSearch ? [isFoundBy(edition_id, search), ...where] : where,
    ranges: counted && !counted.status ? allStatuses : undefined,
    columns: shownFields(view),
    joins: sql`join ${purchases} on ${purchases.id} = page.key ${shownJoins(view)}`,
    read: { table: sql`${purchases}`, joins: sql`cross ${shownJoins(view)}` },
    count: counted && countOf(ctx, counted),
    startOf: counted ? startOf(counted, ordering[0]?.desc ?? true) : undefined,
  }
  if (!isSearch) return paginate(ctx.db, await behindPurchaseOfDense(ctx, page, { ordering, filters }), source)
  return paginateKept(ctx.db, page, {
    source,
    state: stateOf(ctx, filters, ordering),
    few: () => paginateFew(ctx.db, page, source, searchOf(edition_id, search, where)),
  })
}
