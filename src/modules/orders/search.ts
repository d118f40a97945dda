import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import {
  containsDigits,
  containsFolded,
  containsFoldedOrDigits,
  listSearchForms,
  buildMatch,
  findCandidates,
} from '../../db/search.ts'
import { buildAddressText, buildContactText, type CustomerView, inEditions } from '../../db/customers.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import { fold, listPhoneDigits } from '../../domain/text/fold.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import type { OrderFilters } from './contract.ts'
import type { ListedOrders } from './scope.ts'

/** A text filter of a list: the folded texts, one of which an order has, and where it has them. */
export interface TextFilter {
  texts: readonly string[]
  isInOrder: boolean
  isInCustomer: boolean
  /** Compares the texts with what the caller may see. */
  condition: SQL
}

/** Holds for orders whose customer, as the caller sees them, meets a condition. */
const buildCustomerCondition = (view: CustomerView, condition: SQL): SQL =>
  sql`exists (select 1 from users ${view.join} where ${users.id} = ${orders.user_id} and ${condition})`

/** Whether an order contains a text, in its number and ids or in its customer's address and number. */
export function containsText(view: CustomerView, text: string): SQL {
  const isInContact = containsFoldedOrDigits(buildContactText(view.column('search_text')), text)
  return sql`(${containsFoldedOrDigits(sql`${orders.search_text}`, text)}
    or ${buildCustomerCondition(view, isInContact)})`
}

export function readTextFilters(view: CustomerView, filters: OrderFilters): TextFilter[] {
  const { order_number, customer_email, customer_phone, search } = filters
  const textFilters: TextFilter[] = []
  if (order_number)
    textFilters.push({
      texts: [fold(order_number)],
      isInOrder: true,
      isInCustomer: false,
      condition: containsFolded(sql`${orders.number_folded}`, order_number),
    })
  if (customer_email)
    textFilters.push({
      texts: [fold(customer_email)],
      isInOrder: false,
      isInCustomer: true,
      condition: buildCustomerCondition(
        view,
        containsFolded(buildAddressText(view.column('search_text')), customer_email),
      ),
    })
  if (customer_phone)
    textFilters.push({
      texts: listPhoneDigits(customer_phone),
      isInOrder: false,
      isInCustomer: true,
      condition: buildCustomerCondition(view, containsDigits(view.column('phone_digits'), customer_phone)),
    })
  if (search)
    textFilters.push({
      texts: listSearchForms(search),
      isInOrder: true,
      isInCustomer: true,
      condition: containsText(view, search),
    })
  return textFilters
}

const measureShortest = ({ texts }: TextFilter): number => Math.min(...texts.map(({ length }) => length))

/** The filter whose texts lead to the fewest orders; null where each of them is too short for the indexes. */
export function chooseIndexedFilter(textFilters: readonly TextFilter[]): TextFilter | null {
  const indexed = textFilters.filter(({ texts }) => texts.every(isIndexed))
  return indexed.toSorted((one, other) => measureShortest(other) - measureShortest(one))[0] ?? null
}

type KeyQuery = SQL<{ key: number }>

const searchOrderTexts = (listed: ListedOrders, texts: readonly string[]): KeyQuery =>
  sql`select orders.seq as key from order_search cross join orders on orders.seq = order_search.rowid
    where ${buildMatch('order_search', { scope: listed.ownMarks, isVisible: listed.isVisible, texts })}
      and ${listed.where}`

/** Searches the customers whose orders a list may have, by what the caller's organizations and editions know of them. */
function searchCustomers(listed: ListedOrders, texts: readonly string[]): KeyQuery[] {
  const { customers, customerMarks, customerEditionIds, isVisible } = listed
  const queries: KeyQuery[] = []
  if (customers)
    queries.push(sql`select users.seq as key from customer_search
      cross join users on users.seq = customer_search.rowid
      where ${buildMatch('customer_search', { scope: customerMarks, isVisible, texts })} and ${customers}`)
  if (customerEditionIds.length > 0) {
    const match = buildMatch('edition_customer_search', { scope: { editions: customerEditionIds }, isVisible, texts })
    queries.push(sql`select seen.user_seq as key from edition_customer_search
      cross join edition_customers as seen on seen.seq = edition_customer_search.rowid
      where ${match} and ${inEditions(sql`seen.edition_id`, customerEditionIds)}`)
  }
  return queries
}

/** A condition on the orders that may contain a text; null where too many of them, or of their customers, do. */
export async function findOrders(
  ctx: Ctx,
  listed: ListedOrders,
  { texts, isInOrder, isInCustomer }: Pick<TextFilter, 'texts' | 'isInOrder' | 'isInCustomer'>,
): Promise<SQL | null> {
  const candidates = await findCandidates(ctx.db, [
    ...(isInOrder ? [searchOrderTexts(listed, texts)] : []),
    ...(isInCustomer ? searchCustomers(listed, texts) : []),
  ])
  if (!candidates) return null
  const [orderKeys, ...customerKeys] = isInOrder ? candidates : [[], ...candidates]
  return sql`${orders.seq} in (
    select value from json_each(${JSON.stringify(orderKeys)})
    union
    select bought.seq from json_each(${JSON.stringify(customerKeys.flat())}) as buyer_key
      cross join users as buyers on buyers.seq = buyer_key.value
      cross join orders as bought on bought.user_id = buyers.id)`
}
