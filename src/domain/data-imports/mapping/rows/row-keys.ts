import { toHex, sha256OfShort } from '../../../text/encoding.ts'
import { buildProductKey, readProduct } from './products.ts'
import type { DecidedRow } from './row.ts'

type RowValues = DecidedRow['values']

/** Values that tell rows without an order id apart. The code of a ticket belongs to one ticket only. */
const identifyingTargets = ['order.external_id', 'order.created', 'item.vendor_code'] as const

const keyLength = 24

/** The price of a unit, whether the file has it or that of the whole row. */
function readUnitPrice(values: RowValues): number | null {
  const { 'item.unit_price': unit, 'item.line_total': total, 'item.quantity': quantity = 1 } = values
  if (typeof unit === 'number') return unit
  return typeof total === 'number' ? total / Number(quantity) : null
}

/**
 * Builds a key from the customer, date, product, price and ticket code of a row. A longer copy of a list has the same
 * keys for its old rows, whatever its format and the order of its rows. A date that the user gave to all rows is not
 * part of it, because the longer copy may get another one.
 */
export function buildContentKey({ values, assumed_targets }: Pick<DecidedRow, 'values' | 'assumed_targets'>): string {
  const product = readProduct(values)
  const content = JSON.stringify([
    values['customer.email'] ?? values['customer.phone_number'] ?? null,
    product && buildProductKey(product),
    readUnitPrice(values),
    ...identifyingTargets.map((target) => (assumed_targets.includes(target) ? null : (values[target] ?? null))),
  ])
  return `row-${toHex(sha256OfShort(content)).slice(0, keyLength)}`
}

/** Enough digits for all rows of a file, so that keys sort by their numbers. */
const occurrenceDigits = 8

const isTicket = (values: RowValues): boolean => typeof values['item.vendor_code'] === 'string'

/** Numbers rows with the same content, because each is an order. A ticket that is there twice is one order. */
export function numberRow(row: Pick<DecidedRow, 'values'>, contentKey: string, counts: Map<string, number>): string {
  if (isTicket(row.values)) return contentKey
  const occurrence = (counts.get(contentKey) ?? 0) + 1
  counts.set(contentKey, occurrence)
  return `${contentKey}-${String(occurrence).padStart(occurrenceDigits, '0')}`
}

/** Reads the number of a row's key. */
export const readOccurrence = (rowKey: string): number => Number(rowKey.slice(-occurrenceDigits))
