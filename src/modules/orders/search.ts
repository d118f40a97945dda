import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { buildAddressText, buildContactText, buildNameText, type CustomerView, inEditions } from '../../db/customers.ts'
import { users } from '../../db/schema/customers.ts'
import { orders } from '../../db/schema/orders.ts'
import {
  containsDigits,
  containsFolded,
  containsFoldedOrDigits,
  containsTerms,
  listNameTerms,
  listSearchForms,
  buildMatch,
  findCandidates,
  foldNeedle,
} from '../../db/search.ts'
import { listPhoneDigits } from '../../domain/text/fold.ts'
import { listIndexedTerms, type SearchTerm } from '../../domain/text/trigrams.ts'
import type { OrderQuery } from './contract.ts'
import type { OrderScope } from './scope.ts'

/** A text filter of a list. An order matches when it, or its customer, contains each of the terms. */
export interface OrderTextFilter {
  terms: readonly SearchTerm[]
  searchesOrder: boolean
  searchesCustomer: boolean
  /** Compares the text with what the caller may see. */
  condition: SQL
}

/** Builds a condition on the customer of an order, as the caller sees them. */
const buildCustomerCondition = (view: CustomerView, condition: SQL): SQL =>
  sql`exists (select 1 from users ${view.join} where ${users.id} = ${orders.user_id} and ${condition})`

/** Builds the condition that an order contains a text in its number or ids, or in its customer's address or number. */
export function buildTextCondition(view: CustomerView, text: string): SQL {
  const isInContact = containsFoldedOrDigits(buildContactText(view.column('search_text')), text)
  return sql`(${containsFoldedOrDigits(sql`${orders.search_text}`, text)}
    or ${buildCustomerCondition(view, isInContact)})`
}

export function buildTextFilters(view: CustomerView, filters: OrderQuery): OrderTextFilter[] {
  const { order_number, customer_name, customer_email, customer_phone, search } = filters
  const textFilters: OrderTextFilter[] = []
  if (order_number)
    textFilters.push({
      terms: [[foldNeedle(order_number)]],
      searchesOrder: true,
      searchesCustomer: false,
      condition: containsFolded(sql`${orders.number_folded}`, order_number),
    })
  if (customer_name) {
    const terms = listNameTerms(customer_name)
    textFilters.push({
      terms,
      searchesOrder: false,
      searchesCustomer: true,
      condition: buildCustomerCondition(view, containsTerms(buildNameText(view.column('search_text')), terms)),
    })
  }
  if (customer_email)
    textFilters.push({
      terms: [[foldNeedle(customer_email)]],
      searchesOrder: false,
      searchesCustomer: true,
      condition: buildCustomerCondition(
        view,
        containsFolded(buildAddressText(view.column('search_text')), customer_email),
      ),
    })
  if (customer_phone)
    textFilters.push({
      terms: [listPhoneDigits(customer_phone)],
      searchesOrder: false,
      searchesCustomer: true,
      condition: buildCustomerCondition(view, containsDigits(view.column('phone_digits'), customer_phone)),
    })
  if (search)
    textFilters.push({
      terms: [listSearchForms(search)],
      searchesOrder: true,
      searchesCustomer: true,
      condition: buildTextCondition(view, search),
    })
  return textFilters
}

/** The length of the longest indexed term of a filter. */
const findLongestLength = ({ terms }: OrderTextFilter): number =>
  Math.max(...listIndexedTerms(terms).map((spellings) => Math.min(...spellings.map(({ length }) => length))))

/**
 * Chooses the filter with the longest text, which the fewest orders have. Returns null when all are too short for an
 * index.
 */
export function chooseIndexedFilter(textFilters: readonly OrderTextFilter[]): OrderTextFilter | null {
  const indexedFilters = textFilters.filter(({ terms }) => listIndexedTerms(terms).length > 0)
  return indexedFilters.toSorted((one, other) => findLongestLength(other) - findLongestLength(one))[0] ?? null
}

type KeyQuery = SQL<{ key: number }>

const searchOrderTexts = (scope: OrderScope, terms: readonly SearchTerm[]): KeyQuery =>
  sql`select orders.seq as key from order_search cross join orders on orders.seq = order_search.rowid
    where ${buildMatch('order_search', { scope: scope.orderSearch, isVisible: scope.callerCondition, terms })}
      and ${scope.condition}`

/** Searches the customers whose orders a list may contain, in the fields that the caller may see. */
function searchCustomers(scope: OrderScope, terms: readonly SearchTerm[]): KeyQuery[] {
  const { customers, customerSearch, customerEditionIds, callerCondition } = scope
  const queries: KeyQuery[] = []
  if (customers)
    queries.push(sql`select users.seq as key from customer_search
      cross join users on users.seq = customer_search.rowid
      where ${buildMatch('customer_search', { scope: customerSearch, isVisible: callerCondition, terms })}
        and ${customers}`)
  if (customerEditionIds.length > 0) {
    const match = buildMatch('edition_customer_search', {
      scope: { editions: customerEditionIds },
      isVisible: callerCondition,
      terms,
    })
    queries.push(sql`select edition_contact.user_seq as key from edition_customer_search
      cross join edition_customers as edition_contact on edition_contact.seq = edition_customer_search.rowid
      where ${match} and ${inEditions(sql`edition_contact.edition_id`, customerEditionIds)}`)
  }
  return queries
}

/** Finds the orders that may contain the terms. Returns null when too many orders or customers match. */
export async function findOrdersByText(
  ctx: Ctx,
  scope: OrderScope,
  { terms, searchesOrder, searchesCustomer }: Pick<OrderTextFilter, 'terms' | 'searchesOrder' | 'searchesCustomer'>,
): Promise<SQL | null> {
  const candidates = await findCandidates(ctx.db, [
    ...(searchesOrder ? [searchOrderTexts(scope, terms)] : []),
    ...(searchesCustomer ? searchCustomers(scope, terms) : []),
  ])
  if (!candidates) return null
  const [orderKeys, ...customerKeys] = searchesOrder ? candidates : [[], ...candidates]
  return sql`${orders.seq} in (
    select value from json_each(${JSON.stringify(orderKeys)})
    union
    select buyer_orders.seq from json_each(${JSON.stringify(customerKeys.flat())}) as buyer_key
      cross join users as buyers on buyers.seq = buyer_key.value
      cross join orders as buyer_orders on buyer_orders.user_id = buyers.id)`
}

export const hasTicketCode = (orderId: SQL, code: string): SQL =>
  sql`exists (select 1 from purchases where purchases.order_id = ${orderId}
    and purchases.vendor_code = ${code} collate nocase)`

/** Selects the orders of the list that have a ticket with this code, in any case of the letters a to z. */
function selectOrdersByCode(scope: OrderScope, code: string, organizationId: string | undefined): KeyQuery {
  const isInEdition = scope.editionIds
    ? inEditions(sql`purchases.edition_id`, scope.editionIds)
    : sql`purchases.edition_id in (select id from editions where organization_id = ${organizationId})`
  // Beside a condition that is 0, SQLite drops the other conditions, and cannot use this partial index without them.
  return sql`select distinct orders.seq as key from purchases indexed by purchases_edition_code
    cross join orders on orders.id = purchases.order_id
    where ${isInEdition} and purchases.vendor_code = iif(${scope.callerCondition}, ${code}, null) collate nocase
      and ${scope.condition}`
}

export interface TicketSearch {
  /** The orders to look at; null for all orders of the list. */
  candidates: SQL | null
  condition: SQL
}

/** Finds the orders of a ticket's code. All tickets of an edition may have one code, which is then read once. */
export async function findOrdersByCode(
  ctx: Ctx,
  scope: OrderScope,
  { ticket_code = '', organization_id }: OrderQuery,
): Promise<TicketSearch> {
  const query = selectOrdersByCode(scope, ticket_code, organization_id)
  const candidates = await findCandidates(ctx.db, [query])
  return candidates
    ? {
        candidates: inList(sql`${orders.seq}`, candidates.flat()),
        condition: hasTicketCode(sql`${orders.id}`, ticket_code),
      }
    : { candidates: null, condition: sql`${orders.seq} in (${query})` }
}
