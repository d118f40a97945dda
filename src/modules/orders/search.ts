import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import {
  containsDigits,
  containsFolded,
  containsFoldedOrDigits,
  listSearchForms,
  buildMatch,
  findCandidates,
  foldNeedle,
} from '../../db/search.ts'
import { buildAddressText, buildContactText, type CustomerView, inEditions } from '../../db/customers.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import { listPhoneDigits } from '../../domain/text/fold.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import type { OrderFilters } from './contract.ts'
import type { OrderScope } from './scope.ts'

/** A text filter of a list. An order matches when it, or its customer, contains one of the folded texts. */
export interface OrderTextFilter {
  texts: readonly string[]
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

export function buildTextFilters(view: CustomerView, filters: OrderFilters): OrderTextFilter[] {
  const { order_number, customer_email, customer_phone, search } = filters
  const textFilters: OrderTextFilter[] = []
  if (order_number)
    textFilters.push({
      texts: [foldNeedle(order_number)],
      searchesOrder: true,
      searchesCustomer: false,
      condition: containsFolded(sql`${orders.number_folded}`, order_number),
    })
  if (customer_email)
    textFilters.push({
      texts: [foldNeedle(customer_email)],
      searchesOrder: false,
      searchesCustomer: true,
      condition: buildCustomerCondition(
        view,
        containsFolded(buildAddressText(view.column('search_text')), customer_email),
      ),
    })
  if (customer_phone)
    textFilters.push({
      texts: listPhoneDigits(customer_phone),
      searchesOrder: false,
      searchesCustomer: true,
      condition: buildCustomerCondition(view, containsDigits(view.column('phone_digits'), customer_phone)),
    })
  if (search)
    textFilters.push({
      texts: listSearchForms(search),
      searchesOrder: true,
      searchesCustomer: true,
      condition: buildTextCondition(view, search),
    })
  return textFilters
}

const findShortestLength = ({ texts }: OrderTextFilter): number => Math.min(...texts.map(({ length }) => length))

/**
 * Chooses the filter with the longest texts, which the fewest orders have. Returns null when all are too short for an
 * index.
 */
export function chooseIndexedFilter(textFilters: readonly OrderTextFilter[]): OrderTextFilter | null {
  const indexedFilters = textFilters.filter(({ texts }) => texts.every(isIndexed))
  return indexedFilters.toSorted((one, other) => findShortestLength(other) - findShortestLength(one))[0] ?? null
}

type KeyQuery = SQL<{ key: number }>

const searchOrderTexts = (scope: OrderScope, texts: readonly string[]): KeyQuery =>
  sql`select orders.seq as key from order_search cross join orders on orders.seq = order_search.rowid
    where ${buildMatch('order_search', { scope: scope.orderSearch, isVisible: scope.callerCondition, texts })}
      and ${scope.condition}`

/** Searches the customers whose orders a list may contain, in the fields that the caller may see. */
function searchCustomers(scope: OrderScope, texts: readonly string[]): KeyQuery[] {
  const { customers, customerSearch, customerEditionIds, callerCondition } = scope
  const queries: KeyQuery[] = []
  if (customers)
    queries.push(sql`select users.seq as key from customer_search
      cross join users on users.seq = customer_search.rowid
      where ${buildMatch('customer_search', { scope: customerSearch, isVisible: callerCondition, texts })}
        and ${customers}`)
  if (customerEditionIds.length > 0) {
    const match = buildMatch('edition_customer_search', {
      scope: { editions: customerEditionIds },
      isVisible: callerCondition,
      texts,
    })
    queries.push(sql`select edition_contact.user_seq as key from edition_customer_search
      cross join edition_customers as edition_contact on edition_contact.seq = edition_customer_search.rowid
      where ${match} and ${inEditions(sql`edition_contact.edition_id`, customerEditionIds)}`)
  }
  return queries
}

/** Finds the orders that may contain a text. Returns null when too many orders or customers match. */
export async function findOrdersByText(
  ctx: Ctx,
  scope: OrderScope,
  { texts, searchesOrder, searchesCustomer }: Pick<OrderTextFilter, 'texts' | 'searchesOrder' | 'searchesCustomer'>,
): Promise<SQL | null> {
  const candidates = await findCandidates(ctx.db, [
    ...(searchesOrder ? [searchOrderTexts(scope, texts)] : []),
    ...(searchesCustomer ? searchCustomers(scope, texts) : []),
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
