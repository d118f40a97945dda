import { shortIdOfEdition } from '../../db/short-ids.ts'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { boughtIn } from '../../db/purchases.ts'
import { purchaseColumn, sumOfEditions } from '../../db/edition-counts.ts'
import type { ListSource, SortKey } from '../../db/lists/list-source.ts'
import type { Counting } from '../../db/lists/page-by-number.ts'
import { paginate } from '../../db/lists/paginate.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { ofKinds } from '../../db/order-kinds.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { customersSeenBy } from '../../db/customer-visibility.ts'
import { editionsSeenBy, visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { numberKey } from '../../domain/orders/orders.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { type PurchaseStatus, purchaseStatuses } from '../../domain/orders/purchases.ts'
import { type PurchaseListRow, purchaseVisibility, shownFields, shownJoins } from './queries.ts'
import { startOfPurchases } from './start-of-page.ts'

export interface PurchaseFilters {
  edition_id?: string | undefined
  vendor_code?: string | undefined
  status?: PurchaseStatus | undefined
  search?: string | undefined
}

/** The codes of an edition that begin with the text, as a range of the index. */
const codesFrom = (editionId: string, text: string): SQL =>
  sql`select id from purchases where edition_short_id = ${shortIdOfEdition(editionId)}
    and vendor_code >= ${text} collate nocase and vendor_code < ${`${text}\u{10FFFF}`} collate nocase`

const ordersOf = (editionId: string, text: string): SQL =>
  sql`select id from orders where edition_short_id = ${shortIdOfEdition(editionId)} and ${ofKinds({})}
      and number_key = ${numberKey(text)}
    union select id from orders where id = ${text}`

/** Conditions that indexes look up first, so that no other purchase is read. */
const foundBy = (editionId: string, text: string): SQL =>
  sql`purchases.id in (${codesFrom(editionId, text)}
    union select id from purchases where id = ${text}
    union select id from ${boughtIn(ordersOf(editionId, text))})`

function conditions(ctx: Ctx, filters: PurchaseFilters): SQL[] {
  const { edition_id, vendor_code, search, status } = filters
  if (!edition_id) throw invalid(parameterError('edition_id', 'required_filter', 'Give edition_id.'))
  // A plus excludes an index, so that SQLite takes the one that finds fewer purchases.
  const edition = search ? sql`+${purchases}.edition_short_id` : sql`${purchases}.edition_short_id`
  const ofStatus = search || vendor_code ? sql`+${purchases.status}` : sql`${purchases.status}`
  return [
    ...(search ? [foundBy(edition_id, search)] : []),
    sql`${edition} = ${shortIdOfEdition(edition_id)}`,
    ...(vendor_code ? [sql`${purchases.vendor_code} = ${vendor_code} collate nocase`] : []),
    ...(status ? [sql`${ofStatus} = ${status}`] : []),
    visibleIn(ctx.caller, purchaseVisibility, filters),
  ]
}

/** The index of an edition has the purchases of each status by their time: a list of all merges them. */
const allStatuses: Ranges = { columns: [sql`${purchases.status}`], values: purchaseStatuses.map((status) => [status]) }

const rangesOf = ({ search, vendor_code, status }: PurchaseFilters): Ranges | undefined =>
  search || vendor_code || status ? undefined : allStatuses

/** The statuses of an edition are counted where purchases are written; of codes and searches there are few. */
function countOf(ctx: Ctx, filters: PurchaseFilters): Counting | null {
  if (filters.search || filters.vendor_code) return null
  const editions = editionsSeenBy(ctx.caller, { edition_id: filters.edition_id })
  const column = filters.status ? purchaseColumn(filters.status) : 'purchases'
  return { statement: sql`select ${sumOfEditions(sql.raw(column), editions)} as n` }
}

/** Where a page by number begins; of codes and searches there are few. */
const startOf = (
  { edition_id, search, vendor_code, status }: PurchaseFilters,
  isDesc: boolean,
): ListSource['startOf'] =>
  !edition_id || search || vendor_code
    ? undefined
    : (skipped) => startOfPurchases({ editionId: edition_id, status }, isDesc, skipped)

const sortKeys = { created: sql`${purchases.created_at}` }

export function listPurchases(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof sortKeys>[],
  filters: PurchaseFilters,
): Promise<Page<PurchaseListRow>> {
  const view = customersSeenBy(ctx.caller)
  return paginate(ctx.db, page, {
    from: sql`${purchases}`,
    key: sql`${purchases.id}`,
    where: conditions(ctx, filters),
    ranges: rangesOf(filters),
    sort: sortBy<keyof typeof sortKeys, SortKey['by']>(ordering, '-created', sortKeys),
    columns: shownFields(view),
    joins: sql`join ${purchases} on ${purchases.id} = page.key ${shownJoins(view)}`,
    read: { table: sql`${purchases}`, joins: sql`cross ${shownJoins(view)}` },
    count: countOf(ctx, filters),
    startOf: startOf(filters, ordering[0]?.desc ?? true),
  })
}
