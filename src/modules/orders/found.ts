import { sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { type FoundCustomer, type FoundEdition, type FoundView, viewOfFound } from '../../db/found-customers.ts'
import {
  type FewEntries,
  firstEntries,
  matchingRow,
  type IndexSearch,
  mostAtOnce,
  withRows,
} from '../../db/lists/find-few.ts'
import type { OldSortKey } from '../../db/lists/list-source.ts'
import { lookedUp } from '../../db/lists/match-texts.ts'
import { fromJson, type Query, type RowOf } from '../../db/select.ts'
import type { OrderStatus, OrderType } from '../../domain/orders/orders.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import { type FoundOrder, judgeOf, type SearchedOrder } from './compare-found.ts'
import type { OrderFilters } from './contract.ts'
import type { FoundByIndex, TextsOfCustomer } from './search.ts'
import type { sortKeys } from './orderings.ts'

/** A refund request as the index has it. */
export type FoundRequest = readonly [
  id: string,
  status: string,
  reason: string,
  source: string,
  requested_minor: number,
  created_at: number,
  modified_at: number,
]

interface OrderWithRequests extends SearchedOrder {
  requests: readonly FoundRequest[]
}

/** The views `bought_entries` and `bought_request_entries` have one order more of a customer. */
const mostOrders = 100
/** Of all customers that are read at once. */
const mostBought = 5000

/** The values of an order, as the views have them behind its key. */
type ValuesOfOrder = readonly [
  created_at: number,
  edition: string,
  contact: string,
  modified_at: number,
  number_key: string | null,
  number_folded: string,
  status: OrderStatus,
  type: OrderType,
  amount_minor: number,
  own: string,
]

function orderOf(key: number, values: ValuesOfOrder, customer: FoundCustomer): FoundOrder {
  const [created_at, edition, contact, modified_at, number_key, number_folded, status, type, amount_minor, own] = values
  const times = { created_at, modified_at }
  return { key, edition, contact, ...times, number_key, number_folded, status, type, amount_minor, own, customer }
}

type Texts = readonly [address_folded: string, phone_digits: string]

/** What a list compares of the customers of its orders. */
interface Compared {
  /** What editions were given of them. */
  editions: boolean
  /** Their texts, where these are not those of their orders. */
  texts: boolean
}

const none = sql.raw("'[]'")
const noTexts = sql.raw(`'["",""]'`)

const ownFields = ({ editions, texts }: Compared) => ({
  key: sql<number>`orders.rowid`,
  order: fromJson<readonly [organization_id: string, ...ValuesOfOrder]>(lookedUp('found_orders', 'orders')),
  texts: fromJson<Texts>(texts ? lookedUp('found_buyers', 'orders') : noTexts),
  editions: fromJson<readonly FoundEdition[]>(editions ? lookedUp('found_buyer_editions', 'orders') : none),
})

const ownWithRequests = (compared: Compared) => ({
  ...ownFields(compared),
  requests: fromJson<readonly FoundRequest[]>(lookedUp('found_requests', 'orders')),
})

const customerFields = <Bought>(table: string, { editions }: Compared) => ({
  key: sql<number>`customers.rowid`,
  bought: fromJson<CustomerRow<Bought>['bought']>(lookedUp(table, 'customers')),
  editions: fromJson<readonly FoundEdition[]>(editions ? lookedUp('found_editions', 'customers') : none),
})

type BoughtOrder = readonly [key: number, ...ValuesOfOrder]
type BoughtRequests = readonly [readonly [key: number, edition: string, contact: string], readonly FoundRequest[]]

/** The texts of a customer as `customerFields` have them. */
const textOfBought: TextsOfCustomer = (name) =>
  name === 'address_folded' ? sql`bought ->> '$[0][1]'` : sql`bought ->> '$[0][2]'`

const customerOf = (
  organization_id: string,
  [address_folded, phone_digits]: Texts,
  editions: readonly FoundEdition[],
): FoundCustomer => ({ organization_id, name_folded: '', address_folded, phone_digits, editions })

function ownOrder({ key, order, texts, editions }: RowOf<ReturnType<typeof ownFields>>): FoundOrder {
  const [organization_id, ...values] = order
  return orderOf(key, values, customerOf(organization_id, texts, editions))
}

const boughtOrder = ([key, ...values]: BoughtOrder, customer: FoundCustomer): FoundOrder =>
  orderOf(key, values, customer)

/** It has the text by its contact: the index of orders finds it by its own. */
const boughtRequests = (
  [[key, edition, contact], requests]: BoughtRequests,
  customer: FoundCustomer,
): OrderWithRequests => ({ key, edition, contact, own: '', number_folded: '', customer, requests })

type OrderEntries = Pick<FoundByIndex, 'own' | 'contacts' | 'isOfText'>

interface FewOrders<Order> extends Pick<FewEntries, 'own' | 'contacts'> {
  orders: readonly Order[] | null
}

interface CustomerRow<Bought> {
  key: number
  bought: readonly [readonly [organization_id: string, ...Texts], readonly Bought[]]
  editions: readonly FoundEdition[]
}

/** The first entries of both indexes, and how the rows that they lead to become orders. */
interface OrderReading<Own, Bought, Order> {
  found: Query<Own> | null
  ofOwn: (row: Own) => Order
  buyers: Query<CustomerRow<Bought>> | null
  ofBought: (bought: Bought, customer: FoundCustomer) => Order
}

/** The orders that the first entries of the index lead to; null where they are not all. */
async function readFewOrders<Own extends { key: number }, Bought, Order extends SearchedOrder>(
  db: Database,
  { found, ofOwn, buyers, ofBought }: OrderReading<Own, Bought, Order>,
): Promise<FewOrders<Order>> {
  const { found: own = [], buyers: contacts = [] } = await db.batchNamed({ found, buyers })
  const customers = withRows(contacts)
  const isCut = customers.some(({ bought: [, orders] }) => orders.length > mostOrders)
  const count = customers.reduce((sum, { bought: [, orders] }) => sum + orders.length, 0)
  if (isCut || count > mostBought || own.length > mostAtOnce || contacts.length > mostAtOnce)
    return { own, contacts, orders: null }
  const known = new Set(own.map(({ key }) => key))
  const bought = customers.flatMap(({ bought: [[organization_id, ...texts], orders], editions }) => {
    const customer = customerOf(organization_id, texts, editions)
    return orders.map((order) => ofBought(order, customer))
  })
  return { own, contacts, orders: [...withRows(own).map(ofOwn), ...bought.filter(({ key }) => !known.has(key))] }
}

/** Orders with their refund requests, of the first entries; null where they are not all. */
export function readFewWithRequests(
  db: Database,
  { own, contacts }: OrderEntries,
  view: FoundView,
): Promise<FewOrders<OrderWithRequests>> {
  const compared = { editions: view.hidesCustomers, texts: false }
  return readFewOrders(db, {
    found: own && firstEntries(ownWithRequests(compared), own),
    ofOwn: ({ requests, ...row }) => ({ ...ownOrder(row), requests }),
    buyers: contacts && firstEntries(customerFields<BoughtRequests>('found_bought_requests', compared), contacts),
    ofBought: boughtRequests,
  })
}

interface OrderList {
  caller: Caller
  filters: OrderFilters
  keys: Readonly<Record<keyof typeof sortKeys, OldSortKey['by']>>
}

/** How a list of orders compares what the index finds. */
export function readFewOf(
  { own, contacts, isOfText }: OrderEntries,
  { caller, filters, keys }: OrderList,
): IndexSearch['readFew'] {
  const view = viewOfFound(caller)
  const isMatch = judgeOf(view, filters)
  const texts = filters.customer_email !== undefined || filters.customer_phone !== undefined
  const compared = { editions: view.hidesCustomers, texts }
  return async (db) => {
    const { orders, ...read } = await readFewOrders(db, {
      found: own && firstEntries(ownFields(compared), own),
      ofOwn: ownOrder,
      buyers:
        contacts &&
        firstEntries(customerFields<BoughtOrder>('found_bought', compared), contacts, isOfText?.(textOfBought)),
      ofBought: boughtOrder,
    })
    const rows = orders?.filter(isMatch).map((order) =>
      matchingRow(order.key, keys, {
        created: order.created_at,
        modified: order.modified_at,
        order_number: order.number_key,
        status: order.status,
        type: order.type,
        amount: order.amount_minor,
      }),
    )
    return { ...read, rows: rows ?? null }
  }
}
