import { sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import {
  type ContactTexts,
  type FoundCustomer,
  type FoundEdition,
  type FoundView,
  viewOfFound,
} from '../../db/found-customers.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import {
  type FewEntries,
  firstEntries,
  matchingRow,
  type IndexSearch,
  mostAtOnce,
  withRows,
} from '../../db/lists/find-few.ts'
import type { SortKey } from '../../db/lists/list-source.ts'
import { lookedUp } from '../../db/lists/match-texts.ts'
import { foldedOrDigits } from '../../db/contains.ts'
import { fromJson, type Query, type RowOf } from '../../db/select.ts'
import { shortId } from '../../db/short-ids.ts'
import type { OrderStatus, OrderType } from '../../domain/orders/orders.ts'
import { fold, phoneDigits } from '../../domain/text/fold.ts'
import type { Caller } from '../../domain/accounts/access.ts'
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

/** An order as a search compares it; `contact` is its copy of what the customer is found by. */
interface SearchedOrder {
  key: number
  edition: string
  contact: string
  own: string
  number_folded: string
  /** Not found by the name. */
  customer: FoundCustomer
}

/** An order as a list compares and orders it. */
interface FoundOrder extends SearchedOrder {
  created_at: number
  modified_at: number
  number_key: string | null
  status: OrderStatus
  type: OrderType
  amount_minor: number
}

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

const isIn = (texts: readonly string[], needles: readonly string[]): boolean =>
  needles.some((needle) => texts.some((text) => text.includes(needle)))

type TextFilters = Pick<
  OrderFilters,
  'edition_id' | 'organization_id' | 'order_number' | 'customer_email' | 'customer_phone' | 'search'
>

/** Says of an order whether a search finds it. It compares as the list does in SQL. */
export function isOrderFoundBy(view: FoundView, filters: TextFilters): (order: SearchedOrder) => boolean {
  const { edition_id, organization_id, order_number, customer_email, customer_phone, search, ...unnamed } = filters
  unnamed satisfies NoFilters
  const edition = edition_id && shortId(edition_id)
  const isOfCustomer = (order: SearchedOrder, needles: readonly string[], texts: (of: ContactTexts) => string[]) =>
    view.textsOf(order.customer).some((of) => isIn(texts(of), needles))
  /** The texts of a customer who is seen whole are those that the order was given. */
  const isOfContact = (order: SearchedOrder, needles: readonly string[]): boolean =>
    view
      .textsOf(order.customer)
      .some((of) => isIn(of === order.customer ? [order.contact] : [of.address_folded, of.phone_digits], needles))
  const texts: ((order: SearchedOrder) => boolean)[] = []
  if (order_number) {
    const needles = [fold(order_number)]
    texts.push((order) => isIn([order.number_folded], needles))
  }
  if (customer_email) {
    const needles = [fold(customer_email)]
    texts.push((order) => isOfCustomer(order, needles, (of) => [of.address_folded]))
  }
  if (customer_phone) {
    const needles = phoneDigits(customer_phone)
    texts.push((order) => isOfCustomer(order, needles, (of) => [of.phone_digits]))
  }
  if (search) {
    const needles = foldedOrDigits(search)
    texts.push((order) => isIn([order.own], needles) || isOfContact(order, needles))
  }
  return (order) =>
    (!edition || order.edition === edition) &&
    (!organization_id || order.customer.organization_id === organization_id) &&
    (view.seesOrganization(order.customer.organization_id) || view.seesEdition(order.edition)) &&
    texts.every((isFound) => isFound(order))
}

/** Orders of one customer, one transaction or one external id are not found by the index. */
type FoundFilters = Omit<OrderFilters, 'customer_id' | 'transaction_id' | 'external_id'>

function judgeOf(view: FoundView, filters: FoundFilters): (order: FoundOrder) => boolean {
  const { status, type, created_after, created_before, ...others } = filters
  const { edition_id, organization_id, order_number, customer_email, customer_phone, search, ...unnamed } = others
  unnamed satisfies NoFilters
  const texts = { order_number, customer_email, customer_phone, search }
  const isFound = isOrderFoundBy(view, { edition_id, organization_id, ...texts })
  return (order) =>
    (!status || order.status === status) &&
    (!type || order.type === type) &&
    (created_after === undefined || order.created_at >= created_after) &&
    (created_before === undefined || order.created_at <= created_before) &&
    isFound(order)
}

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
  keys: Readonly<Record<keyof typeof sortKeys, SortKey['by']>>
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
