import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList, inWords } from '../../db/conditions.ts'
import { buildContactFields, type CustomerView, viewCustomers } from '../../db/customers.ts'
import { buildConditions, equals, type FilterTable, isBefore, isFrom } from '../../db/filters.ts'
import {
  addCreatedKey,
  buildOrderBy,
  joinConditions,
  maxIndexedOffset,
  maxSortedOffset,
  paginate,
} from '../../db/paginate.ts'
import { isProduct } from '../../db/products.ts'
import { orders } from '../../db/schema/orders.ts'
import { isShortSearch, maxNewest } from '../../db/search.ts'
import type { RowOf } from '../../db/select.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { editionSummaryFields } from '../editions/index.ts'
import type { OrderQuery } from './contract.ts'
import { chooseOrderScope, type OrderScope } from './scope.ts'
import {
  buildTextFilters,
  chooseIndexedFilter,
  findOrdersByCode,
  findOrdersByText,
  hasTicketCode,
  type OrderTextFilter,
} from './search.ts'

/** Columns that both the list and the detail of an order show. */
export const buildOrderSummaryFields = (view: CustomerView) => ({
  id: orders.id,
  order_number: orders.order_number,
  external_id: orders.external_id,
  external_source: orders.external_source,
  type: orders.type,
  status: orders.status,
  amount_minor: orders.amount_minor,
  currency: orders.currency,
  created_at: orders.created_at,
  modified_at: orders.modified_at,
  ...buildContactFields(view, ['first_name', 'last_name', 'email']),
  ...editionSummaryFields,
})

export const buildOrderListFields = (view: CustomerView) => ({
  ...buildOrderSummaryFields(view),
  items_count: orders.items_count,
  has_payment: orders.has_payment,
})

export type OrderSummaryRow = RowOf<ReturnType<typeof buildOrderSummaryFields>>
export type OrderListRow = RowOf<ReturnType<typeof buildOrderListFields>>

const sortColumns = {
  created: sql`${orders.created_at}`,
  modified: sql`${orders.modified_at}`,
  order_number: { nullable: sql`${orders.number_key}` },
  status: sql`${orders.status}`,
  type: sql`${orders.type}`,
  amount: sql`${orders.amount_minor}`,
}

type ScopeFilter = 'edition_id' | 'organization_id'
type TextFilter = 'order_number' | 'customer_name' | 'customer_email' | 'customer_phone' | 'search' | 'ticket_code'

const buildFilters = ({ organization_id }: OrderQuery): FilterTable<Omit<OrderQuery, ScopeFilter | TextFilter>> => ({
  customer_id: equals(orders.user_id),
  transaction_id: (id) => sql`${orders.id} = (select order_id from transactions where id = ${id})`,
  // The index of external ids begins with the edition.
  external_id: (id) =>
    organization_id
      ? sql`${eq(orders.external_id, id)}
          and ${orders.edition_id} in (select id from editions where organization_id = ${organization_id})`
      : eq(orders.external_id, id),
  source: equals(orders.external_source),
  data_import_id: (id) => sql`exists (select 1 from import_orders
    where order_id = ${orders.id} and import_id = ${id} and ${isWrittenByImport})`,
  product_id: (id) => sql`exists (select 1 from purchases
    where purchases.order_id = ${orders.id} and ${isProduct(sql`purchases.product_id`, id)})`,
  status: equals(orders.status),
  type: equals(orders.type),
  created_after: isFrom(orders.created_at),
  created_before: isBefore(orders.created_at),
})

const isWrittenByImport = sql`${inWords(sql`outcome`, ['created', 'updated'])} and undo_outcome is not 'undone'`

/** Selects the ids of orders that an import wrote, as long as the service has its report. */
const selectImportedOrders = (importId: string): SQL =>
  sql`select distinct order_id from import_orders where import_id = ${importId} and order_id is not null
    and ${isWrittenByImport}`

/** Selects the ids of orders with a purchase of a product. All of them belong to the product's edition. */
const selectOrdersOfProduct = (productId: string): SQL =>
  sql`select distinct order_id from purchases indexed by purchases_edition_created
    where edition_id = (select edition_id from products where id = ${productId})
      and ${isProduct(sql`product_id`, productId)}`

/** One page of the orders that the caller sees, newest first. */
export async function listOrders(ctx: Ctx, page: PageRequest, query: OrderQuery): Promise<Page<OrderListRow>> {
  const { edition_id, organization_id, customer_id } = query
  if (!edition_id && !organization_id && !customer_id)
    throw invalid(
      parameterError(null, 'required_filter', 'Add at least one of edition_id, organization_id and customer_id.'),
    )
  const view = viewCustomers(ctx.caller)
  const { list, scope } = await buildOrderList(ctx, query, { view, isWalk: false })
  return paginate(ctx.db, page, { ...list, columns: buildOrderListFields(view), count: buildStoredCount(scope, query) })
}

/**
 * Builds the list of the orders that the caller sees. With `isWalk` all pages are read one after another. No page may
 * then read again what an earlier one has read, so the filters are compared with each order of the index.
 */
export async function buildOrderList(
  ctx: Ctx,
  query: OrderQuery,
  { view, isWalk }: { view: CustomerView; isWalk: boolean },
) {
  const { ticket_code } = query
  const scope = chooseOrderScope(ctx.caller, query)
  const textFilters = buildTextFilters(view, query)
  const isSelective = hasSelectiveFilter(query)
  const tickets = ticket_code && !isSelective ? await findOrdersByCode(ctx, scope, query) : null
  const candidates = isSelective ? null : (tickets?.candidates ?? (await findCandidates(ctx, scope, textFilters)))
  const index = chooseIndex(scope, query, isWalk)
  const otherFilters = index.filter && !candidates ? { ...query, [index.filter]: undefined } : query
  const hasCode = isWalk ? null : tickets?.condition
  const list = {
    // `not indexed` makes SQLite look the candidates up by their rowid.
    from: candidates ? sql`orders not indexed` : index.from,
    where: [
      ...(candidates ? [candidates] : []),
      scope.condition,
      ...buildConditions(buildFilters(query), otherFilters),
      ...(ticket_code ? [hasCode ?? hasTicketCode(sql`${orders.id}`, ticket_code)] : []),
      ...textFilters.map((filter) => filter.condition),
    ],
    orderBy: buildOrderBy(addCreatedKey(query.ordering), '-created', sortColumns),
    id: sql`${orders.seq}`,
    joins: sql`
      join orders on orders.seq = page.id
      join users on users.id = orders.user_id ${view.join}
      join editions on editions.id = orders.edition_id`,
    maxOffset: index.isSorted && !candidates ? maxIndexedOffset : maxSortedOffset,
  }
  return { list, scope }
}

/** Filters that leave so few orders that the text filters can compare each of them. */
const hasSelectiveFilter = ({ customer_id, transaction_id, external_id, data_import_id }: OrderQuery): boolean =>
  !!customer_id || transaction_id !== undefined || !!external_id || !!data_import_id

/** Finds the orders that may match the text filters. Returns null when there is no text, or too many orders match. */
async function findCandidates(
  ctx: Ctx,
  scope: OrderScope,
  textFilters: readonly OrderTextFilter[],
): Promise<SQL | null> {
  if (textFilters.length === 0 || textFilters.some(({ terms }) => terms.flat().length === 0)) return null
  const indexedFilter = chooseIndexedFilter(textFilters)
  if (indexedFilter) return findOrdersByText(ctx, scope, indexedFilter)
  if (!textFilters.every(({ terms }) => isShortSearch(terms))) return null
  return sql`${orders.seq} in (select seq from ${buildCreatedIndex(scope)}
    where ${scope.condition} order by ${orders.created_at} desc, ${orders.seq} desc limit ${maxNewest})`
}

const buildCreatedIndex = ({ editionIds }: OrderScope): SQL =>
  editionIds ? sql`orders indexed by orders_edition_created` : sql`orders indexed by orders_organization_created`

interface ListIndex {
  from: SQL
  /** True if the index is sorted as the list is. Otherwise SQLite sorts the orders. */
  isSorted: boolean
  /** The filter whose orders `from` selects. */
  filter?: 'data_import_id' | 'product_id'
}

/** SQLite reads the left side of a cross join first, and finds each order by its id. */
const readByIds = (ids: SQL, filter: NonNullable<ListIndex['filter']>): ListIndex => ({
  from: sql`(${ids}) as matches cross join orders on orders.id = matches.order_id`,
  isSorted: false,
  filter,
})

/** Chooses the index that a list is read from, because SQLite does not know how many orders an edition has. */
function chooseIndex(scope: OrderScope, query: OrderQuery, isWalk: boolean): ListIndex {
  const { edition_id, organization_id, customer_id, transaction_id, external_id, source, ordering } = query
  const { data_import_id, product_id } = query
  if (transaction_id !== undefined) return { from: sql`orders`, isSorted: false }
  if (external_id && (edition_id || organization_id))
    return { from: sql`orders indexed by orders_by_external_id`, isSorted: false }
  if (customer_id) return { from: sql`orders indexed by orders_of_user`, isSorted: false }
  if (data_import_id && !isWalk) return readByIds(selectImportedOrders(data_import_id), 'data_import_id')
  if (product_id && !isWalk) return readByIds(selectOrdersOfProduct(product_id), 'product_id')
  const createdIndex = buildCreatedIndex(scope)
  const [first = { name: 'created' }, ...others] = ordering
  const needsSort = others.length > 0 || (scope.editionIds && scope.editionIds.length > 1)
  // Only the wide indexes have the source.
  if (needsSort || (source && first.name !== 'created')) return { from: createdIndex, isSorted: false }
  const modifiedIndex = scope.editionIds
    ? sql`orders indexed by orders_edition_modified`
    : sql`orders indexed by orders_organization_modified`
  if (first.name === 'modified') return { from: modifiedIndex, isSorted: true }
  if (first.name === 'order_number' && scope.editionIds)
    return { from: sql`orders indexed by orders_edition_number`, isSorted: true }
  return { from: createdIndex, isSorted: first.name === 'created' }
}

/** Reads the count of a list from `order_counts`, which only knows edition, status and type. */
function buildStoredCount(scope: OrderScope, query: OrderQuery): SQL<{ n: number }> | undefined {
  const { edition_id: _edition, ordering: _ordering, organization_id, status, type, ...others } = query
  if (Object.values(others).some((value) => value !== undefined)) return undefined
  const { editionIds, callerCondition } = scope
  const inScope = editionIds
    ? inList(sql`edition_id`, editionIds)
    : sql`edition_id in (select id from editions where organization_id = ${organization_id})`
  const conditions = [
    callerCondition,
    inScope,
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(type === undefined ? [] : [sql`type = ${type}`]),
  ]
  return sql`select coalesce(sum(orders_count), 0) as n from order_counts where ${joinConditions(conditions)}`
}
