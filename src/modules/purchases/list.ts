import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate, type SortKey } from '../../db/paginate.ts'
import { purchaseRest } from '../../db/refunds.ts'
import { customersSeenBy } from '../../db/shared-customers.ts'
import { visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { numberKey } from '../../domain/orders/orders.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { boughtColumns, boughtJoins } from './bought.ts'
import { type ShownPurchaseRow, purchaseVisibility } from './queries.ts'

export interface PurchaseListRow extends ShownPurchaseRow {
  order_id: string
  order_number: string | null
}

export interface PurchaseFilters {
  edition_id?: string | undefined
  vendor_code?: string | undefined
  status?: string | undefined
  search?: string | undefined
}

/** The codes of an edition that begin with the text, as a range of the index. */
const codesFrom = (editionId: string, text: string): SQL =>
  sql`select id from purchases where edition_id = ${editionId}
    and vendor_code >= ${text} collate nocase and vendor_code < ${`${text}\u{10FFFF}`} collate nocase`

const ordersOf = (editionId: string, text: string): SQL =>
  sql`select id from orders where edition_id = ${editionId} and number_key = ${numberKey(text)}
    union select id from orders where id = ${text}`

/** Looked up by indexes before anything else, so that no further purchase is read. */
const foundBy = (editionId: string, text: string): SQL =>
  sql`purchases.id in (${codesFrom(editionId, text)}
    union select id from purchases where id = ${text}
    union select purchases.id from (${ordersOf(editionId, text)}) as named
      cross join purchases on purchases.order_id = named.id)`

function conditions(ctx: Ctx, filters: PurchaseFilters): SQL[] {
  const { edition_id, vendor_code, search, status } = filters
  if (!edition_id) throw invalid(parameterError('edition_id', 'required_filter', 'Give edition_id.'))
  // A plus keeps an index from being read in place of the one that finds fewer purchases.
  const edition = search ? sql`+purchases.edition_id` : sql`purchases.edition_id`
  const ofStatus = search || vendor_code ? sql`+purchases.status` : sql`purchases.status`
  return [
    ...(search ? [foundBy(edition_id, search)] : []),
    sql`${edition} = ${edition_id}`,
    ...(vendor_code ? [sql`purchases.vendor_code = ${vendor_code} collate nocase`] : []),
    ...(status ? [sql`${ofStatus} = ${status}`] : []),
    visibleIn(ctx.caller, purchaseVisibility, filters),
  ]
}

const sortKeys = { created: sql`purchases.created_at` }

export function listPurchases(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof sortKeys>[],
  filters: PurchaseFilters,
): Promise<Page<PurchaseListRow>> {
  const view = customersSeenBy(ctx.caller)
  return paginate<PurchaseListRow>(ctx.db, page, {
    from: sql`purchases`,
    key: sql`purchases.id`,
    where: conditions(ctx, filters),
    sort: sortBy<keyof typeof sortKeys, SortKey['by']>(ordering, '-created', sortKeys),
    columns: sql`purchases.*, ${boughtColumns(sql`purchases`)}, ${view.columns(['first_name', 'last_name', 'email'])},
      orders.order_number, ${purchaseRest(sql`purchases`, sql`transactions`)} as rest_minor`,
    joins: sql`join purchases on purchases.id = page.key
      join orders on orders.id = purchases.order_id
      join users on users.id = purchases.user_id ${view.join}
      ${boughtJoins(sql`purchases`)}
      left join transactions on transactions.order_id = orders.id and transactions.type = 'payment'`,
  })
}
