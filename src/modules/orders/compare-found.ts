import type { ContactTexts, FoundCustomer, FoundView } from '../../db/found-customers.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import { foldedOrDigits } from '../../db/contains.ts'
import { shortId } from '../../db/short-ids.ts'
import type { OrderStatus, OrderType } from '../../domain/orders/orders.ts'
import { fold, phoneDigits } from '../../domain/text/fold.ts'
import type { OrderFilters } from './contract.ts'

/** An order as a search compares it; `contact` is its copy of what the customer is found by. */
export interface SearchedOrder {
  key: number
  edition: string
  contact: string
  own: string
  number_folded: string
  /** Not found by the name. */
  customer: FoundCustomer
}

/** An order as a list compares and orders it. */
export interface FoundOrder extends SearchedOrder {
  created_at: number
  modified_at: number
  number_key: string | null
  status: OrderStatus
  type: OrderType
  amount_minor: number
}

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

/** Says of an order whether it is one of a list. */
export function judgeOf(view: FoundView, filters: FoundFilters): (order: FoundOrder) => boolean {
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
