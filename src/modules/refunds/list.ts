import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { inEditions, type CustomerView, viewCustomers } from '../../db/customers.ts'
import { buildConditions, equals, type FilterTable, isBefore, isFrom } from '../../db/filters.ts'
import { addCreatedKey, buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { refundRequests } from '../../db/schema/refunds.ts'
import { listSearchForms, maxNewest } from '../../db/search.ts'
import { getActingReach, addOnlyOrganization, buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { listIndexedTerms } from '../../domain/text/trigrams.ts'
import { chooseOrderScope, buildTextCondition, findOrdersByText, type OrderScope } from '../orders/index.ts'
import type { RefundQuery } from './contract.ts'
import { buildRefundJoins, type RefundDetailRow, buildRefundFields } from './queries.ts'

const sortColumns = {
  created: sql`${refundRequests.created_at}`,
  modified: sql`${refundRequests.modified_at}`,
  requested_amount: sql`${refundRequests.requested_minor}`,
  status: sql`${refundRequests.status}`,
}

const buildFilters = (view: CustomerView): FilterTable<Omit<RefundQuery, 'edition_id' | 'organization_id'>> => {
  const { id, order_id, batch_id, status, reason, source, created_at } = refundRequests
  return {
    order_id: equals(order_id),
    purchase_id: (purchaseId) =>
      sql`${id} in (select refund_request_id from refund_items where purchase_id = ${purchaseId})`,
    customer_id: (customerId) => sql`${order_id} in (select id from orders where user_id = ${customerId})`,
    refund_batch_id: equals(batch_id),
    status: equals(status),
    reason: equals(reason),
    source: equals(source),
    created_after: isFrom(created_at),
    created_before: isBefore(created_at),
    search: (text) => sql`(${id} in (${selectByExactId(text)}) or exists (select 1 from orders
      where orders.id = ${order_id} and ${buildTextCondition(view, text)}))`,
  }
}

/** One page of the refund requests that the caller sees, newest first. */
export async function listRefundRequests(
  ctx: Ctx,
  page: PageRequest,
  requestedQuery: RefundQuery,
): Promise<Page<RefundDetailRow>> {
  const query = addOnlyOrganization(ctx.caller, requestedQuery)
  const view = viewCustomers(ctx.caller)
  const orderScope = chooseOrderScope(ctx.caller, query)
  const scope = buildScope(ctx.caller, orderScope, query)
  const isSelective = hasSelectiveFilter(query)
  const candidates = query.search && !isSelective ? await findCandidates(ctx, orderScope, scope, query.search) : null
  const readsScope = !candidates && !isSelective
  const isSorted = readsScope && scope.isSorted && query.ordering.every(({ name }) => name === 'created')
  return paginate(ctx.db, page, {
    from: readsScope ? scope.from : chooseLookup(query),
    where: [
      ...(candidates ? [candidates] : []),
      readsScope ? scope.where : buildFilterScope(ctx.caller, orderScope, query),
      ...buildConditions(buildFilters(view), query),
    ],
    orderBy: buildOrderBy(addCreatedKey<keyof typeof sortColumns>(query.ordering), '-created', sortColumns),
    id: sql`${refundRequests.id}`,
    columns: buildRefundFields(view),
    joins: sql`join ${refundRequests} on ${refundRequests.id} = page.id
      ${buildRefundJoins(view)}`,
    maxOffset: isSorted ? maxIndexedOffset : maxSortedOffset,
  })
}

/** Filters that leave so few requests that these are looked up by the filter. */
const hasSelectiveFilter = ({ order_id, purchase_id, customer_id }: RefundQuery): boolean =>
  order_id !== undefined || purchase_id !== undefined || customer_id !== undefined

interface RefundScope {
  /** Reads an index that is sorted by creation and contains all columns that filters and orderings compare. */
  from: SQL
  where: SQL
  /** True if the scope is one range of the index. Otherwise SQLite sorts the requests. */
  isSorted: boolean
}

const fromEditions = sql`refund_requests indexed by refund_requests_edition_created`
const fromOrganizations = sql`refund_requests indexed by refund_requests_organization_created`

/** The requests of an edition, of an organization, or of everything that the caller may see. */
function buildScope(caller: Caller, { editionIds, callerCondition }: OrderScope, filters: RefundQuery): RefundScope {
  const { organization_id: organizationId } = filters
  if (editionIds)
    return {
      from: fromEditions,
      where: sql`${inEditions(sql`${refundRequests.edition_id}`, editionIds)} and ${callerCondition}`,
      isSorted: editionIds.length === 1,
    }
  if (organizationId)
    return { from: fromOrganizations, where: eq(refundRequests.organization_id, organizationId), isSorted: true }
  return { from: selectReached(caller), where: sql`1`, isSorted: false }
}

/** The two selects do not overlap: `reach.editions` leaves out the editions of `reach.organizations`. */
function selectReached(caller: Caller): SQL {
  const reach = getActingReach(caller)
  if (reach.all) return fromOrganizations
  const columns = sql`id, created_at, status, reason, source, modified_at, requested_minor, order_id, batch_id`
  const editionIds = [...new Set(reach.editions.flatMap(({ edition_id }) => edition_id ?? []))]
  return sql`(
    select ${columns} from ${fromOrganizations} where ${inList(sql`organization_id`, reach.organizations)}
    union all
    select ${columns} from ${fromEditions} where ${inList(sql`edition_id`, editionIds)}) as refund_requests`
}

/** Chooses how few requests are looked up: by their orders, or by their ids. */
const chooseLookup = ({ order_id, customer_id }: RefundQuery): SQL =>
  order_id !== undefined || customer_id !== undefined
    ? sql`refund_requests indexed by refund_requests_of_order`
    : sql`refund_requests`

// The `+` keeps SQLite from using the index of a column that many requests share.
const [editionId, organizationId] = [sql`+${refundRequests.edition_id}`, sql`+${refundRequests.organization_id}`]
const visibility = buildVisibility(organizationId, editionId)

/** Builds the scope as a condition on requests that are looked up by another index. */
function buildFilterScope(caller: Caller, { editionIds, callerCondition }: OrderScope, filters: RefundQuery): SQL {
  if (editionIds) return sql`${inEditions(editionId, editionIds)} and ${callerCondition}`
  return filters.organization_id ? sql`${organizationId} = ${filters.organization_id}` : isVisibleTo(caller, visibility)
}

const selectByExactId = (text: string): SQL => sql`select id from refund_requests where id = ${text}
  union select id from refund_requests where provider_reference = ${text}`

/** Finds the requests that may contain a text. Returns null when too many orders do. */
async function findCandidates(ctx: Ctx, orderScope: OrderScope, scope: RefundScope, text: string): Promise<SQL | null> {
  const terms = [listSearchForms(text)]
  if (listIndexedTerms(terms).length === 0)
    return sql`${refundRequests.id} in (select id from ${scope.from} where ${scope.where}
      order by ${refundRequests.created_at} desc, ${refundRequests.id} desc limit ${maxNewest})`
  const ordersByText = await findOrdersByText(ctx, orderScope, {
    terms,
    searchesOrder: true,
    searchesCustomer: true,
  })
  if (!ordersByText) return null
  return sql`${refundRequests.id} in (
    select refund_requests.id from orders cross join refund_requests on refund_requests.order_id = orders.id
      where ${ordersByText}
    union ${selectByExactId(text)})`
}
