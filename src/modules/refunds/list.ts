import { eq, gte, lte, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { listSearchForms, maxNewest } from '../../db/search.ts'
import { type CustomerView, viewCustomers } from '../../db/customers.ts'
import { addCreatedKey, buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { getActingReach, inList, addOnlyOrganization, buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import { chooseListedOrders, containsText, findOrders, type ListedOrders } from '../orders/index.ts'
import type { RefundFilters } from './contract.ts'
import { joinedEditions, joinedOrganizations, joins, type RefundDetailRow, refundFields } from './queries.ts'

const sortColumns = {
  created: sql`${refundRequests.created_at}`,
  modified: sql`${refundRequests.modified_at}`,
  requested_amount: sql`${refundRequests.requested_minor}`,
  status: sql`${refundRequests.status}`,
}

type RefundOrdering = readonly OrderBy<keyof typeof sortColumns>[]

/** One page of the refund requests that the caller sees, newest first. */
export async function listRefunds(
  ctx: Ctx,
  page: PageRequest,
  ordering: RefundOrdering,
  requested: RefundFilters,
): Promise<Page<RefundDetailRow>> {
  const filters = addOnlyOrganization(ctx.caller, requested)
  const view = viewCustomers(ctx.caller)
  const listed = chooseListedOrders(ctx.caller, filters)
  const scope = buildScope(ctx.caller, listed, filters)
  const found = filters.search && !isOfFew(filters) ? await findByText(ctx, listed, scope, filters.search) : null
  const isWalked = !found && !isOfFew(filters)
  const isInOrder = isWalked && scope.isInOrder && ordering.every(({ name }) => name === 'created')
  return paginate(ctx.db, page, {
    from: isWalked ? scope.from : chooseKeys(filters),
    where: [
      ...(found ? [found] : []),
      isWalked ? scope.where : buildFilterScope(ctx.caller, listed, filters),
      ...buildConditions(view, filters),
    ],
    orderBy: buildOrderBy(addCreatedKey<keyof typeof sortColumns>(ordering), '-created', sortColumns),
    id: sql`${refundRequests.id}`,
    columns: refundFields(view),
    joins: sql`join ${refundRequests} on ${refundRequests.id} = page.id
      ${joins(view)} ${joinedEditions} ${joinedOrganizations}`,
    maxOffset: isInOrder ? maxIndexedOffset : maxSortedOffset,
  })
}

/** Whether a filter leaves few requests, so that they are looked up by it. */
const isOfFew = ({ order_id, purchase_id, customer_id }: RefundFilters): boolean =>
  order_id !== undefined || purchase_id !== undefined || customer_id !== undefined

function buildConditions(view: CustomerView, filters: RefundFilters): SQL[] {
  const { order_id, purchase_id, customer_id, status, reason, source, search, created_after, created_before } = filters
  const { id } = refundRequests
  const conditions = [
    order_id === undefined ? null : eq(refundRequests.order_id, order_id),
    purchase_id === undefined
      ? null
      : sql`${id} in (select refund_request_id from refund_items where purchase_id = ${purchase_id})`,
    customer_id === undefined
      ? null
      : sql`${refundRequests.order_id} in (select id from orders where user_id = ${customer_id})`,
    status === undefined ? null : eq(refundRequests.status, status),
    reason === undefined ? null : eq(refundRequests.reason, reason),
    source === undefined ? null : eq(refundRequests.source, source),
    created_after === undefined ? null : gte(refundRequests.created_at, created_after),
    created_before === undefined ? null : lte(refundRequests.created_at, created_before),
    search
      ? sql`(${id} in (${findNamed(search)}) or exists (select 1 from orders
          where orders.id = ${refundRequests.order_id} and ${containsText(view, search)}))`
      : null,
  ]
  return conditions.filter((condition) => condition !== null)
}

interface RefundScope {
  /** Requests with the columns that filters and orderings compare, from an index that has them in the order of creation. */
  from: SQL
  where: SQL
  /** Whether the index has all of the scope in one order. Otherwise SQLite sorts it. */
  isInOrder: boolean
}

const ofEditions = sql`refund_requests indexed by refund_requests_edition_created`
const ofOrganizations = sql`refund_requests indexed by refund_requests_organization_created`

/** The requests of an edition, of an organization, or of all that the caller reaches, before other filters. */
function buildScope(caller: Caller, { editionIds, isVisible }: ListedOrders, filters: RefundFilters): RefundScope {
  const { organization_id: organizationId } = filters
  if (editionIds)
    return {
      from: ofEditions,
      where: sql`${inEditions(sql`${refundRequests.edition_id}`, editionIds)} and ${isVisible}`,
      isInOrder: editionIds.length === 1,
    }
  if (organizationId)
    return { from: ofOrganizations, where: eq(refundRequests.organization_id, organizationId), isInOrder: true }
  return { from: selectReached(caller), where: sql`1`, isInOrder: false }
}

const inEditions = (column: SQL, ids: readonly string[]): SQL =>
  ids.length === 1 ? sql`${column} = ${ids[0]}` : inList(column, ids)

/** The requests of organizations and those of editions are two ranges: no editions of these organizations are among them. */
function selectReached(caller: Caller): SQL {
  const reach = getActingReach(caller)
  if (reach.all) return ofOrganizations
  const columns = sql`id, created_at, status, reason, source, modified_at, requested_minor, order_id`
  const editionIds = [...new Set(reach.editions.flatMap(({ edition_id }) => edition_id ?? []))]
  return sql`(
    select ${columns} from ${ofOrganizations} where ${inList(sql`organization_id`, reach.organizations)}
    union all
    select ${columns} from ${ofEditions} where ${inList(sql`edition_id`, editionIds)}) as refund_requests`
}

/** Where few requests are looked up: by their orders, or by their own ids. */
const chooseKeys = ({ order_id, customer_id }: RefundFilters): SQL =>
  order_id !== undefined || customer_id !== undefined
    ? sql`refund_requests indexed by refund_requests_of_order`
    : sql`refund_requests`

// The plus keeps SQLite from looking requests up by what they share with many others.
const [editionId, organizationId] = [sql`+${refundRequests.edition_id}`, sql`+${refundRequests.organization_id}`]
const visibility = buildVisibility(organizationId, editionId)

/** The scope as a condition on requests that are looked up otherwise. */
function buildFilterScope(caller: Caller, { editionIds, isVisible }: ListedOrders, filters: RefundFilters): SQL {
  if (editionIds) return sql`${inEditions(editionId, editionIds)} and ${isVisible}`
  return filters.organization_id ? sql`${organizationId} = ${filters.organization_id}` : isVisibleTo(caller, visibility)
}

/** Requests that a text names as a whole. */
const findNamed = (text: string): SQL => sql`select id from refund_requests where id = ${text}
  union select id from refund_requests where provider_reference = ${text}`

/** The condition on requests that may contain a text; null where the list is walked, because too many orders do. */
async function findByText(ctx: Ctx, listed: ListedOrders, scope: RefundScope, text: string): Promise<SQL | null> {
  const texts = listSearchForms(text)
  if (!texts.every(isIndexed))
    return sql`${refundRequests.id} in (select id from ${scope.from} where ${scope.where}
      order by ${refundRequests.created_at} desc, ${refundRequests.id} desc limit ${maxNewest})`
  const ofOrders = await findOrders(ctx, listed, { texts, isInOrder: true, isInCustomer: true })
  if (!ofOrders) return null
  return sql`${refundRequests.id} in (
    select refund_requests.id from orders cross join refund_requests on refund_requests.order_id = orders.id
      where ${ofOrders}
    union ${findNamed(text)})`
}
