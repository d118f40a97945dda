import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { viewCustomers } from '../../db/customers.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { buildNumberKey } from '../../domain/orders/orders.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import type { PurchaseFilters } from './contract.ts'
import { type PurchaseListRow, purchaseVisibility, buildPurchaseListFields, buildPurchaseJoins } from './queries.ts'

const sortColumns = { created: sql`${purchases.created_at}` }

/** One page of the purchases of an edition, newest first. */
export async function listPurchases(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof sortColumns>[],
  filters: PurchaseFilters,
): Promise<Page<PurchaseListRow>> {
  const { edition_id, vendor_code, search, status } = filters
  if (!edition_id) throw invalid(parameterError('edition_id', 'required_filter', 'Add edition_id.'))
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
    columns: buildPurchaseListFields(view),
    joins: sql`join ${purchases} on ${purchases.id} = page.id ${buildPurchaseJoins(view)}`,
    maxOffset: search ? maxSortedOffset : maxIndexedOffset,
  })
}

/** Both indexes are sorted by creation, the one of codes for each code. */
function chooseSource(editionId: string, { vendor_code, search }: PurchaseFilters): SQL {
  if (search) return sql`(${selectByText(editionId, search)}) as purchases`
  if (vendor_code) return sql`purchases indexed by purchases_edition_code`
  return sql`purchases indexed by purchases_edition_created`
}

/** Selects purchases whose code begins with a text, and purchases with this id, order id or order number, each once. */
function selectByText(editionId: string, text: string): SQL {
  const columns = sql`purchases.id, purchases.edition_id, purchases.vendor_code, purchases.status, purchases.created_at`
  const beginsWithText = sql`vendor_code >= ${text} collate nocase
    and vendor_code < ${`${text}\u{10FFFF}`} collate nocase`
  const ordersByText = sql`select id from orders
      where edition_id = ${editionId} and number_key = ${buildNumberKey(text)}
    union select id from orders where id = ${text}`
  return sql`select ${columns} from purchases indexed by purchases_edition_code
      where edition_id = ${editionId} and ${beginsWithText}
    union all
    select ${columns} from (select id from purchases where id = ${text}
        union select id from purchases where order_id in (${ordersByText})) as matches
      cross join purchases on purchases.id = matches.id
      where coalesce(not (${beginsWithText}), 1)`
}
