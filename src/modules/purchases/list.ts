import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate, type SortKey } from '../../db/paginate.ts'
import { customersSeenBy } from '../../db/shared-customers.ts'
import { visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { numberKey } from '../../domain/orders.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { boughtColumns, boughtJoins } from './bought.ts'
import { type PurchaseRow, purchaseStanding } from './queries.ts'

export interface PurchaseListRow extends PurchaseRow {
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

/** Each is looked up by an index before anything else, so that no further purchase is read. */
const lookUps = {
  vendor_code: (editionId: string, code: string): SQL =>
    sql`select id from purchases where edition_id = ${editionId} and vendor_code = ${code} collate nocase`,
  search: (editionId: string, text: string): SQL => sql`${codesFrom(editionId, text)}
    union select id from purchases where id = ${text}
    union select purchases.id from (${ordersOf(editionId, text)}) as named
      cross join purchases on purchases.order_id = named.id`,
}

function conditions(ctx: Ctx, filters: PurchaseFilters): SQL[] {
  const { edition_id, vendor_code, search, status } = filters
  if (!edition_id) throw invalid(parameterError('edition_id', 'required_filter', 'Give edition_id.'))
  const found = [
    ...(vendor_code ? [lookUps.vendor_code(edition_id, vendor_code)] : []),
    ...(search ? [lookUps.search(edition_id, search)] : []),
  ]
  // The plus keeps an index of the edition from being read in place of the few purchases that were looked up.
  const plus = found.length ? sql`+` : sql``
  return [
    ...found.map((ids) => sql`purchases.id in (${ids})`),
    sql`${plus}purchases.edition_id = ${edition_id}`,
    ...(status ? [sql`${plus}purchases.status = ${status}`] : []),
    visibleIn(ctx.caller, purchaseStanding, filters),
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
      orders.order_number, transactions.status as transaction_status`,
    joins: sql`join purchases on purchases.id = page.key
      join orders on orders.id = purchases.order_id
      join users on users.id = purchases.user_id ${view.join}
      ${boughtJoins(sql`purchases`)}
      left join transactions on transactions.order_id = orders.id and transactions.type = 'payment'`,
  })
}
