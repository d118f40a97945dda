import { eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { viewCustomers } from '../../db/customers.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { editionVisibility, isVisibleIn, isVisibleTo } from '../../db/visibility.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { buildNumberKey } from '../../domain/orders/orders.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import type { PurchaseFilters } from './contract.ts'
import { type PurchaseListRow, purchaseVisibility, buildPurchaseListFields, buildPurchaseJoins } from './queries.ts'

const sortColumns = { created: sql`${purchases.created_at}` }

/** One page of the purchases that the caller sees, newest first. */
export async function listPurchases(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof sortColumns>[],
  filters: PurchaseFilters,
): Promise<Page<PurchaseListRow>> {
  const { edition_id, organization_id, user_id, search } = filters
  if (!edition_id && !organization_id && !user_id)
    throw invalid(
      parameterError(null, 'required_filter', 'Add at least one of edition_id, organization_id and user_id.'),
    )
  const view = viewCustomers(ctx.caller)
  const buildPart = (column: SQL): SQL => buildScope(ctx.caller, filters, column)
  const isSorted = edition_id !== undefined && !search && !user_id
  return paginate(ctx.db, page, {
    from: chooseSource(filters, buildPart),
    where: [buildPart(sql`purchases.edition_id`), ...buildConditions(filters)],
    orderBy: buildOrderBy(ordering, '-created', sortColumns),
    id: sql`${purchases.id}`,
    columns: buildPurchaseListFields(view),
    joins: sql`join ${purchases} on ${purchases.id} = page.id ${buildPurchaseJoins(view)}`,
    maxOffset: isSorted ? maxIndexedOffset : maxSortedOffset,
  })
}

/** A condition on the edition of a purchase or an order: the list covers an edition, an organisation or a holder. */
function buildScope(caller: Caller, { edition_id, organization_id, user_id }: PurchaseFilters, column: SQL): SQL {
  const isInOrganization = organization_id ? sql`organization_id = ${organization_id}` : sql`1`
  if (edition_id)
    return sql`${column} = ${edition_id} and ${isVisibleIn(caller, purchaseVisibility, { edition_id })}
      and exists (select 1 from editions where id = ${edition_id} and ${isInOrganization})`
  if (organization_id)
    return sql`${column} in (select id from editions
      where ${isInOrganization} and ${isVisibleTo(caller, editionVisibility)})`
  return sql`${column} in (select edition_id from purchases
    where user_id = ${user_id} and ${isVisibleTo(caller, purchaseVisibility)})`
}

function buildConditions(filters: PurchaseFilters): SQL[] {
  const { vendor_code, has_vendor_code, status, product_id, user_id, is_used, created_after, created_before } = filters
  const conditions = [
    vendor_code ? sql`purchases.vendor_code = ${vendor_code} collate nocase` : null,
    has_vendor_code === undefined ? null : sql`purchases.vendor_code is ${has_vendor_code ? sql`not null` : sql`null`}`,
    status ? eq(purchases.status, status) : null,
    product_id ? eq(purchases.product_id, product_id) : null,
    user_id ? eq(purchases.user_id, user_id) : null,
    is_used === undefined ? null : is_used ? gt(purchases.uses_count, 0) : eq(purchases.uses_count, 0),
    created_after === undefined ? null : gte(purchases.created_at, created_after),
    created_before === undefined ? null : lt(purchases.created_at, created_before),
  ]
  return conditions.filter((condition) => condition !== null)
}

/** The indexes of an edition are sorted by creation, the one of codes for each code. */
function chooseSource({ user_id, vendor_code, search }: PurchaseFilters, buildPart: (column: SQL) => SQL): SQL {
  if (search) return sql`(${selectByText(search, buildPart)}) as purchases`
  if (vendor_code) return sql`purchases indexed by purchases_edition_code`
  if (user_id) return sql`purchases indexed by purchases_of_user`
  return sql`purchases indexed by purchases_edition_created`
}

/** Selects purchases whose code begins with a text, and purchases with this id, order id or order number, each once. */
function selectByText(text: string, buildPart: (column: SQL) => SQL): SQL {
  const columns = sql`purchases.id, purchases.edition_id, purchases.vendor_code, purchases.status, purchases.created_at,
    purchases.product_id, purchases.user_id, purchases.uses_count`
  const beginsWithText = sql`purchases.vendor_code >= ${text} collate nocase
    and purchases.vendor_code < ${`${text}\u{10FFFF}`} collate nocase`
  const ordersByText = sql`select id from orders
      where ${buildPart(sql`orders.edition_id`)} and number_key = ${buildNumberKey(text)}
    union select id from orders where id = ${text}`
  return sql`select ${columns} from purchases indexed by purchases_edition_code
      where ${buildPart(sql`purchases.edition_id`)} and ${beginsWithText}
    union all
    select ${columns} from (select id from purchases where id = ${text}
        union select id from purchases where order_id in (${ordersByText})) as matches
      cross join purchases on purchases.id = matches.id
      where coalesce(not (${beginsWithText}), 1)`
}
