import { sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import type { ContactTexts, FoundCustomer, FoundEdition, FoundView } from '../../db/found-customers.ts'
import { type FewEntries, firstEntries, matchingRow, type IndexSearch, mostAtOnce } from '../../db/lists/find-few.ts'
import type { SortKey } from '../../db/lists/list-source.ts'
import type { IndexEntries } from '../../db/lists/match-texts.ts'
import { foldedOrDigits } from '../../db/contains.ts'
import { fromJson, type RowOf } from '../../db/select.ts'
import { shortId } from '../../db/short-ids.ts'
import type { OrderStatus, OrderType } from '../../domain/orders/orders.ts'
import { fold, phoneDigits } from '../../domain/text/fold.ts'
import type { OrderFilters } from './filters.ts'
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

/** An order as the index has it; `contact` is its copy of what the customer is found by. */
interface IndexedOrder {
  key: number
  created_at: number
  edition: string
  contact: string
  modified_at: number
  number_key: string | null
  number_folded: string
  status: OrderStatus
  type: OrderType
  amount_minor: number
  own: string
  requests: readonly FoundRequest[]
}

/** It is not found by the name of its customer. */
export interface FoundOrder extends IndexedOrder {
  customer: FoundCustomer
}

/** The view `searched_customers` has one order more of a customer. */
const mostOrders = 100
/** Of all customers that are read at once. */
const mostBought = 5000

const ownFields = {
  key: sql<number>`orders.rowid`,
  created_at: sql<number>`orders.created_at`,
  edition: sql<string>`orders.edition_short_id`,
  contact: sql<string>`orders.contact`,
  modified_at: sql<number>`orders.modified_at`,
  number_key: sql<string | null>`orders.number_key`,
  number_folded: sql<string>`orders.number_folded`,
  status: sql<OrderStatus>`orders.status`,
  type: sql<OrderType>`orders.type`,
  amount_minor: sql<number>`orders.amount_minor`,
  own: sql<string>`orders.own_search_text`,
  requests: fromJson<readonly FoundRequest[]>(sql`orders.requests`),
  organization_id: sql<string>`orders.organization_id`,
  address_folded: sql<string>`orders.address_folded`,
  phone_digits: sql<string>`orders.phone_digits`,
  editions: fromJson<readonly FoundEdition[]>(sql`orders.customer_editions`),
}

const boughtFields = [
  'key',
  'created_at',
  'edition',
  'contact',
  'modified_at',
  'number_key',
  'number_folded',
  'status',
  'type',
  'amount_minor',
  'own',
  'requests',
] as const satisfies readonly (keyof IndexedOrder)[]

/** The values of an order in the order of `boughtFields`. */
type BoughtOrder = readonly IndexedOrder[keyof IndexedOrder][]

const customerFields = {
  key: sql<number>`customers.rowid`,
  organization_id: sql<string>`customers.organization_id`,
  address_folded: sql<string>`customers.address_folded`,
  phone_digits: sql<string>`customers.phone_digits`,
  editions: fromJson<readonly FoundEdition[]>(sql`customers.editions`),
  bought: fromJson<readonly BoughtOrder[]>(sql`customers.bought`),
}

const ownOrder = ({
  organization_id,
  address_folded,
  phone_digits,
  editions,
  ...values
}: RowOf<typeof ownFields>): FoundOrder => ({
  ...values,
  customer: { organization_id, name_folded: '', address_folded, phone_digits, editions },
})

function boughtBy({ key: _, bought, ...texts }: RowOf<typeof customerFields>): FoundOrder[] {
  const customer = { ...texts, name_folded: '' }
  return bought.map((values) => {
    const order = Object.fromEntries(boughtFields.map((name, at) => [name, values[at]])) as unknown as IndexedOrder
    return { ...order, customer }
  })
}

const isIn = (texts: readonly string[], needles: readonly string[]): boolean =>
  needles.some((needle) => texts.some((text) => text.includes(needle)))

/** Says of an order whether a list with these filters has it. It compares as the list does in SQL. */
export function judgeOf(view: FoundView, filters: OrderFilters): (order: FoundOrder) => boolean {
  const { edition_id, organization_id, status, type, created_after, created_before } = filters
  const { order_number, customer_email, customer_phone, search } = filters
  const edition = edition_id && shortId(edition_id)
  const isOfCustomer = (order: FoundOrder, needles: readonly string[], texts: (of: ContactTexts) => string[]) =>
    view.textsOf(order.customer).some((of) => isIn(texts(of), needles))
  /** The texts of a customer who is seen whole are those that the order was given. */
  const isOfContact = (order: FoundOrder, needles: readonly string[]): boolean =>
    view
      .textsOf(order.customer)
      .some((of) => isIn(of === order.customer ? [order.contact] : [of.address_folded, of.phone_digits], needles))
  const texts: ((order: FoundOrder) => boolean)[] = []
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
    (!status || order.status === status) &&
    (!type || order.type === type) &&
    (created_after === undefined || order.created_at >= created_after) &&
    (created_before === undefined || order.created_at <= created_before) &&
    texts.every((isFound) => isFound(order))
}

export interface FewOrders extends Pick<FewEntries, 'own' | 'contacts'> {
  orders: readonly FoundOrder[] | null
}

/** The orders that the first entries of the index lead to; null where they are not all. */
export async function readFewOrders(
  db: Database,
  { own, contacts }: { own: IndexEntries | null; contacts: IndexEntries | null },
): Promise<FewOrders> {
  const { found = [], customers = [] } = await db.batchNamed({
    found: own && firstEntries(ownFields, own),
    customers: contacts && firstEntries(customerFields, contacts),
  })
  const entries = { own: found, contacts: customers }
  const isCut = customers.some(({ bought }) => bought.length > mostOrders)
  const count = customers.reduce((sum, { bought }) => sum + bought.length, 0)
  if (isCut || count > mostBought || found.length > mostAtOnce || customers.length > mostAtOnce)
    return { ...entries, orders: null }
  const known = new Set(found.map(({ key }) => key))
  const bought = customers.flatMap(boughtBy).filter(({ key }) => !known.has(key))
  return { ...entries, orders: [...found.map(ownOrder), ...bought] }
}

/** How a list of orders compares what the index finds. */
export const readFewOf =
  (
    entries: Pick<IndexSearch, 'own' | 'contacts'>,
    isMatch: (order: FoundOrder) => boolean,
    keys: Readonly<Record<keyof typeof sortKeys, SortKey['by']>>,
  ): IndexSearch['readFew'] =>
  async (db) => {
    const { orders, ...read } = await readFewOrders(db, entries)
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
