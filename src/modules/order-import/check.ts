import type { OrderRow } from '../../db/rows.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import {
  pickCountedItems,
  hasFailed,
  type PaymentAmounts,
  decidePayment,
  sumRefundedAndReserved,
} from '../../domain/data-imports/imported-amounts.ts'
import { type FieldError, fieldError } from '../../domain/errors.ts'
import { formatMoney, maxAmountMinor } from '../../domain/money.ts'
import { isErasedOrderId } from '../../domain/orders/erased-order-ids.ts'
import {
  type DuplicatePolicy,
  type ExternalOrder,
  getCustomerAddress,
  type OrderOutcome,
} from '../../domain/orders/external-orders.ts'
import { orderLifecycle } from '../../domain/orders/orders.ts'
import { fold } from '../../domain/text/fold.ts'
import { dayMs, toIso } from '../../domain/time/instants.ts'
import type { ImportState, TransactionRow } from './state.ts'
import type { ImportEdition } from './writes.ts'

export type { OrderOutcome }

/** An order with its place in the request or group. `path` leads to it in the request; empty for an order of a file. */
export interface OrderEntry {
  index: number
  /** The path of the order in the body of a call. Empty for an order of a file. */
  path: readonly PropertyKey[]
  order: ExternalOrder
}

export const isFromFile = ({ path }: OrderEntry): boolean => path.length === 0

export interface ExistingOrder {
  order: OrderRow | undefined
  payment: TransactionRow | undefined
}

type ItemAmounts = ReturnType<typeof pickCountedItems>

/** The result of checking an order. An order with errors is not imported, and its amounts do not count. */
export interface OrderCheck {
  errors: readonly FieldError[]
  warnings: readonly FieldError[]
  amounts: ItemAmounts
}

function checkChange({ order, path }: OrderEntry, existingOrder: OrderRow): FieldError[] {
  const from = existingOrder.status
  const errors: FieldError[] = []
  if (order.status !== from && !orderLifecycle.allows(from, order.status)) {
    const detail = `The order is ${from} and cannot become ${order.status}.`
    errors.push(fieldError([...path, 'status'], 'invalid_transition', detail))
  }
  if (order.currency !== existingOrder.currency)
    errors.push(fieldError([...path, 'currency'], 'currency_mismatch', `This order is in ${existingOrder.currency}.`))
  return errors
}

function checkAmounts({ path }: OrderEntry, { totals }: ItemAmounts): FieldError[] {
  const errors: FieldError[] = []
  if (totals.total_minor < 0)
    errors.push(fieldError([...path, 'discount'], 'negative_amount', 'The discount is larger than the order.'))
  if (totals.total_minor > maxAmountMinor || totals.subtotal_minor > maxAmountMinor)
    errors.push(fieldError([...path, 'items'], 'max_value', 'The amount of the order is too large.'))
  return errors
}

/** Computes the payment after the import. A new order is treated as one with a pending payment of its total. */
const predictPayment = ({ order }: OrderEntry, { totals }: ItemAmounts, payment: TransactionRow | undefined) => {
  const before: PaymentAmounts = payment ?? {
    status: 'pending',
    amount_minor: totals.total_minor,
    refunded_minor: 0,
    reserved_minor: 0,
  }
  return decidePayment(before, { ...order, amount_minor: totals.total_minor }).payment
}

function checkRefund(entry: OrderEntry, amounts: ItemAmounts, { payment }: ExistingOrder): FieldError[] {
  const { order, path } = entry
  const money = (minor: number) => formatMoney(minor, order.currency)
  const total = amounts.totals.total_minor
  const reservedMinor = payment?.reserved_minor ?? 0
  const refundedMinor = order.refunded_minor ?? 0
  const after = predictPayment(entry, amounts, payment)
  if (refundedMinor > (payment?.refunded_minor ?? 0) && !hasFailed(after.status)) {
    const errorPath = [...path, 'refunded_amount']
    if (order.status === 'pending')
      return [fieldError(errorPath, 'nothing_paid', 'A pending order has not been paid, so nothing can be refunded.')]
    const maxMinor = after.amount_minor - reservedMinor
    if (refundedMinor > maxMinor)
      return [fieldError(errorPath, 'refund_exceeds_amount', `The refunded amount must be at most ${money(maxMinor)}.`)]
  }
  const refundedOrReserved = after.refunded_minor + reservedMinor
  if (total >= refundedOrReserved) return []
  const detail = `${money(refundedOrReserved)} of this order are refunded or about to be, so its amount cannot be ${money(total)}.`
  return [fieldError([...path, 'items'], 'amount_below_refunds', detail)]
}

/** `addUpTo` tells whether the items, with or without the cancelled ones, make up an amount. */
function compareTotals(
  { order, path }: OrderEntry,
  total: number,
  addUpTo: (amountMinor: number) => boolean,
): FieldError[] {
  const { amount_minor, unmapped_total, currency } = order
  const sourceAmounts = amount_minor === null ? (unmapped_total?.amounts ?? []) : [amount_minor]
  const [first] = sourceAmounts
  if (first === undefined || sourceAmounts.some(addUpTo)) return []
  const format = (minor: number) => formatMoney(minor, currency)
  const [source, sum, difference] = [format(first), format(total), format(Math.abs(first - total))]
  const detail =
    amount_minor === null
      ? `"${unmapped_total?.header ?? ''}" has ${source}, but the mapped columns add up to ${sum}, ${difference} away. ` +
        'Map what is missing, for example fees to order.service_fee.'
      : `The total is ${source} in the source, but items and fees add up to ${sum}, ${difference} away.`
  return [fieldError([...path, 'amount'], 'amount_mismatch', detail)]
}

function listWarnings({ order, path }: OrderEntry, { payment }: ExistingOrder): FieldError[] {
  const warnings: FieldError[] = []
  if (order.unusable_phone) {
    const detail = `"${order.unusable_phone.slice(0, 60)}" is not a phone number. The order is imported without it.`
    warnings.push(fieldError([...path, 'customer', 'phone_number'], 'phone_not_taken', detail))
  }
  if (payment && hasFailed(payment.status) && (order.refunded_minor ?? 0) > payment.refunded_minor) {
    const detail = `The payment of this order is ${payment.status}, so the refunded amount is not recorded.`
    warnings.push(fieldError([...path, 'refunded_amount'], 'refund_not_recorded', detail))
  }
  for (const { path: field, text } of order.unsupported_locales ?? []) {
    const reason = text === '' ? 'The language is empty' : `The language ${text.slice(0, 60)} is not supported`
    const detail = `${reason}, so a customer without a language gets that of the edition.`
    warnings.push(fieldError([...path, ...field], 'unsupported_language', detail))
  }
  const positions = new Set<number>()
  for (const { holder, position } of order.items) {
    if (!holder || holder.email !== null || positions.has(position)) continue
    const name = formatFullName(holder)
    if (name === '' || name === formatFullName(order.customer)) continue
    positions.add(position)
    const detail = 'This ticket holder has no e-mail address, so the customer holds these tickets.'
    warnings.push(fieldError([...path, 'items', position, 'user', 'email'], 'holder_without_email', detail))
  }
  return warnings
}

/** An order more than a day ahead of the clock has a wrong date: an error in a call, and a warning in a file. */
export function checkDate({ order, path }: OrderEntry, now: number): FieldError[] {
  if (order.created_at === null || order.created_at <= now + dayMs) return []
  const detail = `The order is dated ${toIso(order.created_at)}, more than a day ahead.`
  return [fieldError([...path, 'created'], 'future_date', detail)]
}

/** Warns about a new order of a call in another currency than the edition's. */
function warnAboutCurrency({ currency }: ImportEdition, entry: OrderEntry, existingOrder: ExistingOrder): FieldError[] {
  const { order, path } = entry
  if (isFromFile(entry) || existingOrder.order || order.currency === currency) return []
  const detail = `The order is in ${order.currency.toUpperCase()}, and the edition in ${currency.toUpperCase()}.`
  return [fieldError([...path, 'currency'], 'other_currency', detail)]
}

export function checkOrder(edition: ImportEdition, entry: OrderEntry, existingOrder: ExistingOrder): OrderCheck {
  const { order } = entry
  const vatRate = edition.tax_type === 'vat' ? edition.default_price_tax_rate : 0
  const refundedMinor = Math.max(
    order.refunded_minor ?? 0,
    existingOrder.payment ? sumRefundedAndReserved(existingOrder.payment) : 0,
  )
  const amounts = pickCountedItems(order, vatRate, refundedMinor)
  const addUpTo = (amount_minor: number) =>
    pickCountedItems({ ...order, amount_minor }, vatRate, refundedMinor).totals.total_minor === amount_minor
  const amountErrors = checkAmounts(entry, amounts)
  const errors = [
    ...(existingOrder.order ? checkChange(entry, existingOrder.order) : []),
    ...(amountErrors.length ? amountErrors : checkRefund(entry, amounts, existingOrder)),
  ]
  if (errors.length) return { errors, amounts, warnings: [] }
  const mismatches = compareTotals(entry, amounts.totals.total_minor, addUpTo)
  const warnings = [
    ...mismatches,
    ...warnAboutCurrency(edition, entry, existingOrder),
    ...listWarnings(entry, existingOrder),
  ]
  return { errors, amounts, warnings }
}

/** Warns about a skipped order that is cancelled here and not in its source. An update of it is refused. */
export function warnAboutCancelled({ order, path }: OrderEntry, existingOrder: OrderRow): FieldError[] {
  if (existingOrder.status !== 'cancelled' || order.status === 'cancelled') return []
  const detail = `The order ${existingOrder.id} is cancelled and stays so, although it is ${order.status} in the source.`
  return [fieldError([...path, 'status'], 'order_cancelled', detail)]
}

/** The customers of orders and the products of the edition, as they were read. */
type StoredNames = Pick<ImportState, 'usersByEmail' | 'usersByPhone' | 'products'>

/** True if the order comes with the address that it was last imported with, and so keeps its customer. */
export const hasImportedAddress = (order: ExternalOrder, existingOrder: OrderRow): boolean =>
  existingOrder.imported_address !== null && existingOrder.imported_address === getCustomerAddress(order)

function hasOtherCustomer(order: ExternalOrder, existingOrder: OrderRow, names: StoredNames): boolean {
  if (hasImportedAddress(order, existingOrder)) return false
  const { email, phone_number } = order.customer
  const user = email === null ? names.usersByPhone.get(phone_number ?? '') : names.usersByEmail.get(email)
  return user?.id !== existingOrder.user_id
}

/** Formats how often each product is sold at each price, so that two orders can be compared. */
function formatUnits(items: readonly { product_id: string; price_minor?: number; quantity?: number }[]): string {
  const units = new Map<string, number>()
  for (const { product_id, price_minor = 0, quantity = 1 } of items) {
    const key = `${product_id} ${price_minor}`
    units.set(key, (units.get(key) ?? 0) + quantity)
  }
  return JSON.stringify([...units].toSorted())
}

function hasOtherItems({ items }: ItemAmounts, existingOrder: OrderRow, { products }: StoredNames): boolean {
  const orderItems = items.map((item) => ({
    ...item,
    product_id: products.get(fold(item.product))?.id ?? item.product,
  }))
  return formatUnits(orderItems) !== formatUnits(existingOrder.cart.items ?? [])
}

/** Warns that an order with the same id may be another order, for example of another system. */
export function compareWithStored(
  edition: ImportEdition,
  entry: OrderEntry,
  existingOrder: OrderRow,
  names: StoredNames,
): { customer: FieldError[]; items: FieldError[] } {
  const { order, path } = entry
  const { amounts } = checkOrder(edition, entry, { order: undefined, payment: undefined })
  const warn = (field: 'customer' | 'items', code: 'other_customer' | 'other_items', what: string) => [
    fieldError(
      [...path, field],
      code,
      `The order ${existingOrder.id} with this id has ${what}. If this is another order, name another source.`,
    ),
  ]
  return {
    customer: hasOtherCustomer(order, existingOrder, names)
      ? warn('customer', 'other_customer', 'another customer')
      : [],
    items: hasOtherItems(amounts, existingOrder, names) ? warn('items', 'other_items', 'other items or prices') : [],
  }
}

/**
 * Decides what happens to an order that already exists. Returns null when it is updated. An update would bring back the
 * data of an erased customer, so an order that is recognised by the hash of its id stays as it is.
 */
export function decideDuplicate(
  policy: DuplicatePolicy,
  { path }: OrderEntry,
  { external_id }: OrderRow,
): { action: 'skipped' | 'error'; errors: readonly FieldError[] } | null {
  if (policy === 'skip' || (policy === 'update' && isErasedOrderId(external_id)))
    return { action: 'skipped', errors: [] }
  if (policy === 'update') return null
  const detail = 'An order with this external_id already exists.'
  return { action: 'error', errors: [fieldError([...path, 'external_id'], 'duplicate_in_edition', detail)] }
}
