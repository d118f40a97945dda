import { productKey, productOf, type ProductTuple } from './products.ts'
import { isOfWholeRow, type OrderError, type OrderWarning, type PlacedRow } from './row.ts'
import { findWord } from '../../../text/text.ts'
import { type ItemStatus, itemStatuses } from '../../../orders/external-orders.ts'

export interface DecidedItem extends ProductTuple {
  line: number
  quantity: number
  /** Exactly one of the two is a number: the price of one unit, or of all. */
  unit_price_minor: number | null
  line_total_minor: number | null
  deposit_minor: number
  handling_fee_minor: number
  vendor_code: string | null
  /** Null when the file has none: it follows the order. */
  status: ItemStatus | null
  valid_until: number | null
  user: { email: string | null; first_name: string | null; last_name: string | null; full_name: string | null } | null
}

interface DecidedItems {
  items: DecidedItem[]
  errors: OrderError[]
  warnings: OrderWarning[]
}

type ItemValues = PlacedRow['values']

const text = (values: ItemValues, name: string): string | null => {
  const value = values[`item.${name}`]
  return typeof value === 'string' ? value : null
}
const number = (values: ItemValues, name: string): number | null => {
  const value = values[`item.${name}`]
  return typeof value === 'number' ? value : null
}

function userOf(values: ItemValues): DecidedItem['user'] {
  const user = {
    email: text(values, 'user.email'),
    first_name: text(values, 'user.first_name'),
    last_name: text(values, 'user.last_name'),
    full_name: text(values, 'user.full_name'),
  }
  return Object.values(user).every((value) => value === null) ? null : user
}

/** What all of an item cost wins over the price of one where the two contradict each other. A tax beside them is added. */
function pricesOf(values: ItemValues, quantity: number): Pick<DecidedItem, 'unit_price_minor' | 'line_total_minor'> {
  const unit = number(values, 'unit_price')
  const tax = number(values, 'tax') ?? 0
  const net = number(values, 'line_total') ?? (tax === 0 || unit === null ? null : unit * quantity)
  const total = net === null ? null : net + tax
  return total === null || (unit !== null && unit * quantity === total)
    ? { unit_price_minor: unit, line_total_minor: null }
    : { unit_price_minor: null, line_total_minor: total }
}

function itemOf({ line, values }: PlacedRow, product: ProductTuple): DecidedItem {
  const quantity = number(values, 'quantity') ?? 1
  return {
    line,
    ...product,
    quantity,
    ...pricesOf(values, quantity),
    deposit_minor: number(values, 'deposit') ?? 0,
    handling_fee_minor: number(values, 'handling_fee') ?? 0,
    vendor_code: text(values, 'vendor_code'),
    status: findWord(itemStatuses, text(values, 'status')),
    valid_until: number(values, 'valid_until'),
    user: userOf(values),
  }
}

const isPriced = (item: DecidedItem): boolean => item.unit_price_minor !== null || item.line_total_minor !== null

function itemErrors({ line, values, errors }: PlacedRow, item: DecidedItem | null): OrderError[] {
  if (errors.some(isOfWholeRow)) return []
  const wrong = new Set(errors.map(({ target_field }) => target_field))
  const missing = (target_field: string, message: string): OrderError[] =>
    wrong.has(target_field)
      ? []
      : [{ row: line, column: null, target_field, code: 'missing_required', message, value: null }]
  if (!item) return missing('item.product', 'The row names no product.')
  if (!isPriced(item) && !wrong.has('item.line_total')) return missing('item.unit_price', 'The item has no price.')
  const negative = ['line_total', 'tax'].find((name) => (number(values, name) ?? 0) < 0)
  if (negative === undefined || item.quantity < 0) return []
  const message = 'An amount is negative only where the quantity is: for what was given back.'
  return [{ row: line, column: null, target_field: `item.${negative}`, code: 'negative_amount', message, value: null }]
}

const totalOf = (item: DecidedItem): number => item.line_total_minor ?? (item.unit_price_minor ?? 0) * item.quantity

/** Some units of an item with their share of its price; the shares of all make the price. */
function share(item: DecidedItem, quantity: number, total: number): DecidedItem {
  return item.unit_price_minor === null ? { ...item, quantity, line_total_minor: total } : { ...item, quantity }
}

/** Units that a later row gives back with a negative quantity stay what they cost, and are cancelled. */
function cancelUnits(items: DecidedItem[], returned: DecidedItem): number {
  let left = -returned.quantity
  for (const [index, item] of items.entries()) {
    if (left === 0) break
    if (item.status === 'cancelled' || productKey(item) !== productKey(returned)) continue
    const cancelled = Math.min(left, item.quantity)
    left -= cancelled
    const total = totalOf(item)
    const cancelledTotal = Math.round((total * cancelled) / item.quantity)
    const gone = { ...share(item, cancelled, cancelledTotal), status: 'cancelled' as const }
    if (cancelled === item.quantity) items[index] = gone
    else items.splice(index, 1, share(item, item.quantity - cancelled, total - cancelledTotal), gone)
  }
  return left
}

/** The items of an order's rows, without what later rows give back. */
export function decideItems(rows: readonly PlacedRow[]): DecidedItems {
  const read = rows.map((row) => {
    const product = productOf(row.values)
    const item = product === null ? null : itemOf(row, product)
    return { item, errors: itemErrors(row, item) }
  })
  const items = read.flatMap(({ item }) => (item && item.quantity > 0 ? [item] : []))
  const warnings = read.flatMap(({ item }): OrderWarning[] => {
    if (!item || item.quantity > 0) return []
    const left = cancelUnits(items, item)
    const message = `${left} of "${item.product}" are given back that the order does not have.`
    return left > 0 ? [{ row: item.line, code: 'refund_without_item', message }] : []
  })
  return { items, errors: read.flatMap(({ errors }) => errors), warnings }
}
