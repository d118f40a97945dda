import { eq, gt, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { viewCustomers } from '../../db/customers.ts'
import { buildConditions, equals, type FilterTable, isBefore, isFrom } from '../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { isProduct } from '../../db/products.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { editionVisibility, isVisibleIn, isVisibleTo } from '../../db/visibility.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { buildNumberKey } from '../../domain/orders/orders.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { PurchaseQuery } from './contract.ts'
import { type PurchaseListRow, purchaseVisibility, buildPurchaseListFields, buildPurchaseJoins } from './queries.ts'

const filters: FilterTable<Omit<PurchaseQuery, 'edition_id' | 'organization_id' | 'search'>> = {
  vendor_code: (code) => sql`purchases.vendor_code = ${code} collate nocase`,
  has_vendor_code: (hasCode) => sql`purchases.vendor_code is ${hasCode ? sql`not null` : sql`null`}`,
  status: equals(purchases.status),
  product_id: (id) => isProduct(sql`purchases.product_id`, id),
  user_id: equals(purchases.user_id),
  is_used: (isUsed) => (isUsed ? gt(purchases.uses_count, 0) : eq(purchases.uses_count, 0)),
  created_after: isFrom(purchases.created_at),
  created_before: isBefore(purchases.created_at),
}

const sortColumns = { created: sql`${purchases.created_at}` }

/** One page of the purchases that the caller sees, newest first. */
export async function listPurchases(ctx: Ctx, page: PageRequest, query: PurchaseQuery): Promise<Page<PurchaseListRow>> {
  const { edition_id, organization_id, user_id } = query
  if (!edition_id && !organization_id && !user_id)
    throw invalid(
      parameterError(null, 'required_filter', 'Add at least one of edition_id, organization_id and user_id.'),
    )
  const view = viewCustomers(ctx.caller)
  const joins = sql`join ${purchases} on ${purchases.id} = page.id ${buildPurchaseJoins(view)}`
  return paginate(ctx.db, page, {
    ...buildPurchaseList(ctx.caller, query, { isWalk: false }),
    columns: buildPurchaseListFields(view),
    joins,
  })
}

/**
 * Builds the list of the purchases that the caller sees. With `isWalk` all pages are read one after another. No page may
 * then read again what an earlier one has read, so the filters are compared with each purchase of the index.
 */
export function buildPurchaseList(caller: Caller, query: PurchaseQuery, { isWalk }: { isWalk: boolean }) {
  const { edition_id, user_id, search } = query
  const buildPart = (column: SQL): SQL => buildScope(caller, query, column)
  const isSorted = edition_id !== undefined && !search && !user_id
  return {
    from: isWalk ? chooseWalk(query) : chooseSource(query, buildPart),
    where: [
      buildPart(sql`purchases.edition_id`),
      ...buildConditions(filters, query),
      ...(isWalk && search ? [containsText(search, buildPart)] : []),
    ],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${purchases.id}`,
    maxOffset: isSorted ? maxIndexedOffset : maxSortedOffset,
  }
}

/** A condition on the edition of a purchase or an order: the list covers an edition, an organisation or a holder. */
function buildScope(caller: Caller, { edition_id, organization_id, user_id }: PurchaseQuery, column: SQL): SQL {
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

/** The indexes of an edition are sorted by creation, the one of codes for each code. */
function chooseSource({ user_id, vendor_code, search }: PurchaseQuery, buildPart: (column: SQL) => SQL): SQL {
  if (search) return sql`(${selectByText(search, buildPart)}) as purchases`
  if (vendor_code) return sql`purchases indexed by purchases_edition_code`
  if (user_id) return sql`purchases indexed by purchases_of_user`
  return sql`purchases indexed by purchases_edition_created`
}

/** Each of these indexes has the purchases of an edition in the order of their creation, for one code or for all. */
const chooseWalk = ({ vendor_code }: PurchaseQuery): SQL =>
  vendor_code ? sql`purchases indexed by purchases_edition_code` : sql`purchases indexed by purchases_edition_created`

const beginsWithText = (text: string): SQL => sql`purchases.vendor_code >= ${text} collate nocase
    and purchases.vendor_code < ${`${text}\u{10FFFF}`} collate nocase`

/** Selects orders by their exact number, external id or id. */
const selectOrdersByText = (text: string, buildPart: (column: SQL) => SQL): SQL => sql`select id from orders
      where ${buildPart(sql`orders.edition_id`)} and number_key = ${buildNumberKey(text)}
    union select id from orders where ${buildPart(sql`orders.edition_id`)} and external_id = ${text}
    union select id from orders where id = ${text}`

/** True for the purchases that `selectByText` selects. */
const containsText = (text: string, buildPart: (column: SQL) => SQL): SQL =>
  sql`(${beginsWithText(text)} or purchases.id = ${text}
    or purchases.order_id in (${selectOrdersByText(text, buildPart)}))`

/** Selects purchases whose code begins with a text, and purchases with this id or with an order of this id, number or external id, each once. */
function selectByText(text: string, buildPart: (column: SQL) => SQL): SQL {
  const columns = sql`purchases.id, purchases.edition_id, purchases.vendor_code, purchases.status, purchases.created_at,
    purchases.product_id, purchases.user_id, purchases.uses_count`
  return sql`select ${columns} from purchases indexed by purchases_edition_code
      where ${buildPart(sql`purchases.edition_id`)} and ${beginsWithText(text)}
    union all
    select ${columns} from (select id from purchases where id = ${text}
        union select id from purchases where order_id in (${selectOrdersByText(text, buildPart)})) as matches
      cross join purchases on purchases.id = matches.id
      where coalesce(not (${beginsWithText(text)}), 1)`
}
