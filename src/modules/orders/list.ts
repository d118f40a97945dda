import { eq, gte, lte, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { type CustomerView, buildContactFields, viewCustomers } from '../../db/customers.ts'
import {
  addCreatedKey,
  buildOrderBy,
  joinConditions,
  maxIndexedOffset,
  maxSortedOffset,
  paginate,
} from '../../db/paginate.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { maxNewest } from '../../db/search.ts'
import type { RowOf } from '../../db/select.ts'
import { inList } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import { editionSummaryFields } from '../editions/index.ts'
import type { OrderFilters } from './contract.ts'
import { chooseListedOrders, type ListedOrders } from './scope.ts'
import { chooseIndexedFilter, findOrders, readTextFilters, type TextFilter } from './search.ts'

/** Columns of an order and its customer that each answer about an order shows. */
export const orderFields = (view: CustomerView) => ({
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

const listFields = (view: CustomerView) => ({
  ...orderFields(view),
  items_count: orders.items_count,
  has_payment: orders.has_payment,
})

export type ShownOrderRow = RowOf<ReturnType<typeof orderFields>>
export type OrderListRow = RowOf<ReturnType<typeof listFields>>

const sortColumns = {
  created: sql`${orders.created_at}`,
  modified: sql`${orders.modified_at}`,
  order_number: { nullable: sql`${orders.number_key}` },
  status: sql`${orders.status}`,
  type: sql`${orders.type}`,
  amount: sql`${orders.amount_minor}`,
}

type OrderOrdering = readonly OrderBy<keyof typeof sortColumns>[]

/** One page of the orders that the caller sees, newest first. */
export async function listOrders(
  ctx: Ctx,
  page: PageRequest,
  ordering: OrderOrdering,
  filters: OrderFilters,
): Promise<Page<OrderListRow>> {
  const { edition_id, organization_id, customer_id } = filters
  if (!edition_id && !organization_id && !customer_id)
    throw invalid(
      parameterError(null, 'required_filter', 'Give at least one of edition_id, organization_id, customer_id.'),
    )
  const view = viewCustomers(ctx.caller)
  const listed = chooseListedOrders(ctx.caller, filters)
  const textFilters = readTextFilters(view, filters)
  const candidates = isOfFew(filters) ? null : await findCandidates(ctx, listed, textFilters)
  const index = chooseIndex(listed, ordering, filters)
  return paginate(ctx.db, page, {
    // Without an index SQLite looks the candidates up by their key.
    from: candidates ? sql`orders not indexed` : index.from,
    where: [
      ...(candidates ? [candidates] : []),
      listed.where,
      ...buildConditions(filters),
      ...textFilters.map((one) => one.condition),
    ],
    orderBy: buildOrderBy(addCreatedKey(ordering), '-created', sortColumns),
    id: sql`${orders.seq}`,
    columns: listFields(view),
    joins: sql`
      join orders on orders.seq = page.id
      join users on users.id = orders.user_id ${view.join}
      join editions on editions.id = orders.edition_id`,
    maxOffset: index.isInOrder && !candidates ? maxIndexedOffset : maxSortedOffset,
    count: buildStoredCount(listed, filters),
  })
}

/** Whether a filter leaves few orders, so that each is compared with the texts. */
const isOfFew = ({ customer_id, transaction_id, external_id }: OrderFilters): boolean =>
  !!customer_id || transaction_id !== undefined || !!external_id

function buildConditions(filters: OrderFilters): SQL[] {
  const { organization_id, customer_id, transaction_id, external_id, status, type, created_after, created_before } =
    filters
  const conditions = [
    customer_id ? eq(orders.user_id, customer_id) : null,
    transaction_id === undefined
      ? null
      : sql`${orders.id} = (select order_id from transactions where id = ${transaction_id})`,
    external_id ? eq(orders.external_id, external_id) : null,
    // The index of external ids has them by edition.
    external_id && organization_id
      ? sql`${orders.edition_id} in (select id from editions where organization_id = ${organization_id})`
      : null,
    status === undefined ? null : eq(orders.status, status),
    type === undefined ? null : eq(orders.type, type),
    created_after === undefined ? null : gte(orders.created_at, created_after),
    created_before === undefined ? null : lte(orders.created_at, created_before),
  ]
  return conditions.filter((condition) => condition !== null)
}

/** A condition on the orders that may have the texts; null where no text was given, and where the list is walked. */
async function findCandidates(ctx: Ctx, listed: ListedOrders, textFilters: readonly TextFilter[]): Promise<SQL | null> {
  if (textFilters.length === 0 || textFilters.some(({ texts }) => texts.length === 0)) return null
  const indexed = chooseIndexedFilter(textFilters)
  if (indexed) return findOrders(ctx, listed, indexed)
  return sql`${orders.seq} in (select seq from ${buildCreatedIndex(listed)}
    where ${listed.where} order by ${orders.created_at} desc, ${orders.seq} desc limit ${maxNewest})`
}

const buildCreatedIndex = ({ editionIds }: ListedOrders): SQL =>
  editionIds ? sql`orders indexed by orders_edition_created` : sql`orders indexed by orders_organization_created`

interface ListIndex {
  from: SQL
  /** Whether the index has its orders in the order of the list. Otherwise SQLite sorts them. */
  isInOrder: boolean
}

/** The index that a list is read from. It is named, because SQLite does not know how many orders an edition has. */
function chooseIndex(listed: ListedOrders, ordering: OrderOrdering, filters: OrderFilters): ListIndex {
  const { edition_id, organization_id, customer_id, transaction_id, external_id } = filters
  if (transaction_id !== undefined) return { from: sql`orders`, isInOrder: false }
  if (external_id && (edition_id || organization_id))
    return { from: sql`orders indexed by orders_by_external_id`, isInOrder: false }
  if (customer_id) return { from: sql`orders indexed by orders_of_user`, isInOrder: false }
  const created = buildCreatedIndex(listed)
  const [first = { name: 'created' }, ...others] = ordering
  if (others.length > 0 || (listed.editionIds && listed.editionIds.length > 1))
    return { from: created, isInOrder: false }
  const modified = listed.editionIds
    ? sql`orders indexed by orders_edition_modified`
    : sql`orders indexed by orders_organization_modified`
  if (first.name === 'modified') return { from: modified, isInOrder: true }
  if (first.name === 'order_number' && listed.editionIds)
    return { from: sql`orders indexed by orders_edition_number`, isInOrder: true }
  return { from: created, isInOrder: first.name === 'created' }
}

/** The count of a list that only its edition or organization, a status and a type limit. */
function buildStoredCount(listed: ListedOrders, filters: OrderFilters): SQL<{ n: number }> | undefined {
  const { edition_id: _edition, organization_id, status, type, ...others } = filters
  if (Object.values(others).some((value) => value !== undefined)) return undefined
  const { editionIds, isVisible } = listed
  const inScope = editionIds
    ? inList(sql`edition_id`, editionIds)
    : sql`edition_id in (select id from editions where organization_id = ${organization_id})`
  const conditions = [
    isVisible,
    inScope,
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(type === undefined ? [] : [sql`type = ${type}`]),
  ]
  return sql`select coalesce(sum(n), 0) as n from order_counts where ${joinConditions(conditions)}`
}
