import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { viewCustomers } from '../../db/customers.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { numberKey } from '../../domain/orders/orders.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import type { PurchaseFilters } from './list-contract.ts'
import { type PurchaseListRow, purchaseVisibility, shownFields, shownJoins } from './queries.ts'

const sortColumns = { created: sql`${purchases.created_at}` }

/** One page of the purchases of an edition, newest first. */
export async function listPurchases(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof sortColumns>[],
  filters: PurchaseFilters,
): Promise<Page<PurchaseListRow>> {
  const { edition_id, vendor_code, search, status } = filters
  if (!edition_id) throw invalid(parameterError('edition_id', 'required_filter', 'Give edition_id.'))
  const view = viewCustomers(ctx.caller)
  return paginate(ctx.db, page, {
    from: chooseSource(edition_id, filters),
    where: [
      eq(purchases.edition_id, edition_id),
      isVisibleIn(ctx.caller, purchaseVisibility, filters),
      ...(vendor_code ? [sql`${purchases.vendor_code} = ${vendor_code} collate nocase`] : []),
      ...(status ? [eq(purchases.status, status)] : []),
    ],
    orderBy: buildOrderBy(ordering, '-created', sortColumns),
    id: sql`${purchases.id}`,
    columns: shownFields(view),
    joins: sql`join ${purchases} on ${purchases.id} = page.id ${shownJoins(view)}`,
    maxOffset: search ? maxSortedOffset : maxIndexedOffset,
  })
}

/** Both indexes have purchases in the order of their creation: that of the codes has those of one code. */
function chooseSource(editionId: string, { vendor_code, search }: PurchaseFilters): SQL {
  if (search) return sql`(${findPurchases(editionId, search)}) as purchases`
  if (vendor_code) return sql`purchases indexed by purchases_edition_code`
  return sql`purchases indexed by purchases_edition_created`
}

/** The purchases of an edition whose code begins with a text, and those that it names, each once. */
function findPurchases(editionId: string, text: string): SQL {
  const columns = sql`purchases.id, purchases.edition_id, purchases.vendor_code, purchases.status, purchases.created_at`
  const hasCode = sql`vendor_code >= ${text} collate nocase and vendor_code < ${`${text}\u{10FFFF}`} collate nocase`
  const namedOrders = sql`select id from orders where edition_id = ${editionId} and number_key = ${numberKey(text)}
    union select id from orders where id = ${text}`
  return sql`select ${columns} from purchases indexed by purchases_edition_code
      where edition_id = ${editionId} and ${hasCode}
    union all
    select ${columns} from (select id from purchases where id = ${text} union select id from purchases where order_id in (${namedOrders})) as named
      cross join purchases on purchases.id = named.id
      where coalesce(not (${hasCode}), 1)`
}
