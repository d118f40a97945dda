import { shortIdOfEdition } from '../../db/short-ids.ts'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import type { OldSortKey } from '../../db/lists/list-source.ts'
import { paginate } from '../../db/lists/paginate.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { customersSeenBy } from '../../db/customer-visibility.ts'
import { visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { purchaseStatuses } from '../../domain/orders/purchases.ts'
import type { PurchaseFilters } from './list-contract.ts'
import { type PurchaseListRow, purchaseVisibility, shownFields, shownJoins } from './queries.ts'
import { isFoundBy, sortKeys } from './search.ts'

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

export async function listPurchases(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof sortKeys>[],
  filters: PurchaseFilters,
): Promise<Page<PurchaseListRow>> {
  const view = customersSeenBy(ctx.caller)
  const { edition_id, search, vendor_code, status } = filters
  const where = conditions(ctx, filters)
  const isSearch = edition_id !== undefined && search !== undefined
  return paginate(ctx.db, page, {
    from: sql`${purchases}`,
    key: sql`${purchases.id}`,
    sort: sortBy<keyof typeof sortKeys, OldSortKey['by']>(ordering, '-created', sortKeys),
    where: isSearch ? [isFoundBy(edition_id, search), ...where] : where,
    ranges: search || vendor_code || status ? undefined : allStatuses,
    columns: shownFields(view),
    joins: sql`join ${purchases} on ${purchases.id} = page.key ${shownJoins(view)}`,
    read: { table: sql`${purchases}`, joins: sql`cross ${shownJoins(view)}` },
  })
}
