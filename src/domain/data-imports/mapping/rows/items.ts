import { type ItemStatus, itemStatuses } from '../../../orders/external-orders.ts'
import { fold } from '../../../text/fold.ts'
import { findWord } from '../../../text/text.ts'
import { buildProductKey, readProduct, type ProductTuple } from './products.ts'
import { concernsWholeRow, type OrderError, type OrderWarning, type PlacedRow } from './row.ts'

export interface DecidedItem extends ProductTuple {
  line: number
  quantity: number
  /** Exactly one of the two prices is a number. */
  unit_price_minor: number | null
  line_total_minor: number | null
  deposit_minor: number
  handling_fee_minor: number
  vendor_code: string | null
  /** Null if the file has none; the order decides. */
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

const getText = (values: ItemValues, name: string): string | null => {
  const value = values[`item.${name}`]
  return typeof value === 'string' ? value : null
}
const getNumber = (values: ItemValues, name: string): number | null => {
  const value = values[`item.${name}`]
  return typeof value === 'number' ? value : null
}

function readUser(values: ItemValues): DecidedItem['user'] {
  const user = {
    email: getText(values, 'user.email'),
    first_name: getText(values, 'user.first_name'),
    last_name: getText(values, 'user.last_name'),
    full_name: getText(values, 'user.full_name'),
  }
  return Object.values(user).every((value) => value === null) ? null : user
}

/** The total wins over the unit price if they contradict each other. The tax beside them is added. */
function readPrices(values: ItemValues, quantity: number): Pick<DecidedItem, 'unit_price_minor' | 'line_total_minor'> {
  const unit = getNumber(values, 'unit_price')
  const tax = getNumber(values, 'tax') ?? 0
  const net = getNumber(values, 'line_total') ?? (tax === 0 || unit === null ? null : unit * quantity)
  const total = net === null ? null : net + tax
  return total === null || (unit !== null && unit * quantity === total)
    ? { unit_price_minor: unit, line_total_minor: null }
    : { unit_price_minor: null, line_total_minor: total }
}

function readItem({ line, values }: PlacedRow, product: ProductTuple): DecidedItem {
  const quantity = getNumber(values, 'quantity') ?? 1
  return {
    line,
    ...product,
    quantity,
    ...readPrices(values, quantity),
    deposit_minor: getNumber(values, 'deposit') ?? 0,
    handling_fee_minor: getNumber(values, 'handling_fee') ?? 0,
    vendor_code: getText(values, 'vendor_code'),
    status: findWord(itemStatuses, getText(values, 'status')),
    valid_until: getNumber(values, 'valid_until'),
    user: readUser(values),
  }
}

const isPriced = (item: DecidedItem): boolean => item.unit_price_minor !== null || item.line_total_minor !== null

function checkItem({ line, values, errors }: PlacedRow, item: DecidedItem | null): OrderError[] {
  if (errors.some(concernsWholeRow)) return []
  const faultyTargets = new Set(errors.map(({ target_field }) => target_field))
  const buildMissingErrors = (target_field: string, message: string): OrderError[] =>
    faultyTargets.has(target_field)
      ? []
      : [{ row: line, column: null, target_field, code: 'missing_required', message, value: null }]
  if (!item) return buildMissingErrors('item.product', 'The row has no product.')
  if (!isPriced(item) && !faultyTargets.has('item.line_total'))
    return buildMissingErrors('item.unit_price', 'The item has no price.')
  const negative = ['line_total', 'tax'].find((name) => (getNumber(values, name) ?? 0) < 0)
  if (negative === undefined || item.quantity < 0) return []
  const message = 'A negative amount needs a negative quantity, for returned items.'
  return [{ row: line, column: null, target_field: `item.${negative}`, code: 'negative_amount', message, value: null }]
}

const getTotal = (item: DecidedItem): number => item.line_total_minor ?? (item.unit_price_minor ?? 0) * item.quantity

/** Some units of an item with their share of its price; the shares of all make the price. */
function takeUnits(item: DecidedItem, quantity: number, total: number): DecidedItem {
  return item.unit_price_minor === null ? { ...item, quantity, line_total_minor: total } : { ...item, quantity }
}

/** Units that a later row returns with a negative quantity stay as cancelled units. */
function cancelUnits(items: DecidedItem[], returnedItem: DecidedItem): number {
  let remainingUnits = -returnedItem.quantity
  for (const [index, item] of items.entries()) {
    if (remainingUnits === 0) break
    if (item.status === 'cancelled' || buildProductKey(item) !== buildProductKey(returnedItem)) continue
    const cancelledUnits = Math.min(remainingUnits, item.quantity)
    remainingUnits -= cancelledUnits
    const total = getTotal(item)
    const cancelledTotal = Math.round((total * cancelledUnits) / item.quantity)
    const cancelledItem = { ...takeUnits(item, cancelledUnits, cancelledTotal), status: 'cancelled' as const }
    if (cancelledUnits === item.quantity) items[index] = cancelledItem
    else items.splice(index, 1, takeUnits(item, item.quantity - cancelledUnits, total - cancelledTotal), cancelledItem)
  }
  return remainingUnits
}

const isSameTicket = (one: DecidedItem, other: DecidedItem): boolean =>
  buildProductKey(one) === buildProductKey(other) &&
  one.quantity === other.quantity &&
  getTotal(one) === getTotal(other) &&
  one.status === other.status &&
  fold(JSON.stringify(one.user)) === fold(JSON.stringify(other.user))

/** A cancelled ticket may have been issued again with its code. */
function buildTicketKey(code: string | null, status: unknown): string | null {
  return code === null ? null : `${status === 'cancelled'} ${code}`
}

/** Fills the blank cells of a ticket's rows, because exports may fill them only in the first row of a ticket. */
function fillTickets(rows: readonly PlacedRow[]): PlacedRow[] {
  const getKey = ({ values }: PlacedRow) => buildTicketKey(getText(values, 'vendor_code'), values['item.status'])
  const valuesByTicket = new Map<string | null, ItemValues>([[null, {}]])
  for (const row of rows) {
    const key = getKey(row)
    const itemValues = Object.entries(row.values).filter(([target]) => target.startsWith('item.'))
    if (key !== null) valuesByTicket.set(key, { ...Object.fromEntries(itemValues), ...valuesByTicket.get(key) })
  }
  return rows.map((row) => ({ ...row, values: { ...valuesByTicket.get(getKey(row)), ...row.values } }))
}

/**
 * Takes each ticket code once. Exports repeat the row of a ticket for each answer, payment or scan, but never give two
 * tickets one code.
 */
function takeTicketsOnce(items: readonly DecidedItem[]): DecidedItems {
  const result: DecidedItems = { items: [], errors: [], warnings: [] }
  const byKey = new Map<string, DecidedItem>()
  for (const item of items) {
    const { line, vendor_code } = item
    const key = buildTicketKey(vendor_code, item.status)
    const earlier = key === null ? undefined : byKey.get(key)
    if (earlier && isSameTicket(earlier, item)) {
      const message = `The ticket "${vendor_code}" is in line ${earlier.line} too, so it is taken once.`
      result.warnings.push({ row: line, code: 'repeated_ticket', message })
      continue
    }
    if (earlier && item.status !== 'cancelled')
      result.errors.push({
        row: line,
        column: null,
        target_field: 'item.vendor_code',
        code: 'duplicate_ticket_code',
        message: `Line ${earlier.line} of the same order has another ticket with the code "${vendor_code}".`,
        value: vendor_code,
      })
    if (key !== null) byKey.set(key, item)
    result.items.push(item)
  }
  return result
}

export function decideItems(rows: readonly PlacedRow[]): DecidedItems {
  const rowItems = fillTickets(rows).map((row) => {
    const product = readProduct(row.values)
    const item = product === null ? null : readItem(row, product)
    return { item, errors: checkItem(row, item) }
  })
  const soldItems = takeTicketsOnce(rowItems.flatMap(({ item }) => (item && item.quantity > 0 ? [item] : [])))
  const { items } = soldItems
  const warnings = rowItems.flatMap(({ item }): OrderWarning[] => {
    if (!item || item.quantity > 0) return []
    const remainingUnits = cancelUnits(items, item)
    const message = `${remainingUnits} of "${item.product}" are returned, but the order does not have them.`
    return remainingUnits > 0 ? [{ row: item.line, code: 'refund_without_item', message }] : []
  })
  return {
    items,
    errors: [...rowItems.flatMap(({ errors }) => errors), ...soldItems.errors],
    warnings: [...soldItems.warnings, ...warnings],
  }
}
