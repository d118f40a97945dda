import { type Language, languages } from '../../../languages.ts'
import type { Currency } from '../../../money.ts'
import { type OrderStatus, orderStatuses } from '../../../orders/orders.ts'
import { findWord } from '../../../text/text.ts'
import type { Grouping, RowGrouping } from '../mapping.ts'
import { isCurrency, allowsCurrency, toPlainWord } from '../values/words.ts'
import { decideItems, type DecidedItem } from './items.ts'
import { mergeRows, type OrderValues } from './merge-rows.ts'
import {
  type DecidedRow,
  concernsWholeRow,
  type OrderError,
  type OrderWarning,
  type PlacedRow,
  type StoredError,
} from './row.ts'

export interface DecidedOrder {
  lines: readonly number[]
  external_id: string
  order_number: string | null
  status: OrderStatus
  /** Milliseconds UTC. */
  created_at: number
  /** True if the file has the date. Otherwise the user gave it to all orders without one. */
  is_dated: boolean
  currency: Currency
  customer: {
    email: string | null
    phone_number: string | null
    first_name: string | null
    last_name: string | null
    full_name: string | null
    locale: Language | null
    metadata: Readonly<Record<string, string>>
  }
  items: readonly DecidedItem[]
  service_fee_minor: number
  discount_minor: number
  /** The amount paid back so far; null if the source has none. */
  refunded_minor: number | null
  /** The total of the source; null if it has none. */
  amount_minor: number | null
  /** The meanings that an unmapped column of totals may have: the total of the order in every row, or a part. */
  unmapped_totals: readonly number[]
  coupon_code: string | null
  payment: { service: NamedService; reference: string | null } | null
  consents: Readonly<Record<string, boolean>>
  metadata: Readonly<Record<string, string>>
}

export interface MappedOrder {
  /** Null for an order with an error, which is not imported. */
  order: DecidedOrder | null
  errors: readonly OrderError[]
  warnings: readonly OrderWarning[]
}

export interface OrderOptions {
  group_by: Grouping
  default_currency: Currency
  default_status: OrderStatus
  /** The id of an order without one in the file. */
  row_key: string
}

/** Null for a row without a key. */
export function getGroupKey(
  { values }: Pick<DecidedRow, 'values'>,
  group_by: Exclude<RowGrouping, 'row'>,
): string | null {
  const email = values['customer.email']
  if (group_by === 'contact' && email === undefined) return getText(values, 'customer.phone_number')
  const value = group_by === 'external_id' ? values['order.external_id'] : email
  return typeof value === 'string' ? value : null
}

const buildMissingError = (row: number, target_field: string, message: string): OrderError => ({
  row,
  column: null,
  target_field,
  code: 'missing_required',
  message,
  value: null,
})

function decideCurrency(rows: readonly PlacedRow[], values: OrderValues, options: OrderOptions): Currency | OrderError {
  const cellCurrency = values['order.currency']
  const marks = [...new Set(rows.flatMap(({ currency_mark }) => currency_mark ?? []))]
  const specificMarks = marks.filter((mark) => mark !== 'kr')
  const orderCurrency = typeof cellCurrency === 'string' && cellCurrency !== 'kr' ? cellCurrency : specificMarks[0]
  const isCrown = cellCurrency === 'kr' || marks.includes('kr')
  const currency = orderCurrency ?? options.default_currency
  const buildError = (code: 'currency_mismatch' | 'invalid_currency', message: string): OrderError => ({
    ...buildMissingError(rows[0]?.line ?? 0, 'order.currency', message),
    code,
    value: orderCurrency ?? 'kr',
  })
  if (!isCurrency(currency))
    return buildError('invalid_currency', `Orders in ${currency.toUpperCase()} are not supported.`)
  const isOther = marks.some((mark) => !allowsCurrency(mark, currency)) || (isCrown && !allowsCurrency('kr', currency))
  return isOther
    ? buildError(
        'currency_mismatch',
        `Amounts of the order are in ${marks.join(', ') || 'kr'}, but the order is in ${currency.toUpperCase()}.`,
      )
    : currency
}

/** An order without a status gets the status of its tickets. */
function decideStatus(items: readonly DecidedItem[], options: OrderOptions): OrderStatus {
  const itemsWithStatus = items.filter(({ status }) => status !== null)
  if (itemsWithStatus.length < items.length || itemsWithStatus.some(({ status }) => status === 'active'))
    return options.default_status
  return itemsWithStatus.some(({ status }) => status === 'pending') ? 'pending' : 'cancelled'
}

const getText = (values: OrderValues, target: string): string | null => {
  const value = values[target]
  return typeof value === 'string' ? value : null
}
const getNumber = (values: OrderValues, target: string): number | null => {
  const value = values[target]
  return typeof value === 'number' ? value : null
}

function pickByPrefix<Value>(
  values: OrderValues,
  prefix: string,
  isOne: (value: unknown) => value is Value,
): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([target, value]) =>
      target.startsWith(prefix) && isOne(value) ? [[target.slice(prefix.length), value]] : [],
    ),
  )
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isYesOrNo = (value: unknown): value is boolean => typeof value === 'boolean'

const readCustomer = (values: OrderValues): DecidedOrder['customer'] => ({
  email: getText(values, 'customer.email'),
  phone_number: getText(values, 'customer.phone_number'),
  first_name: getText(values, 'customer.first_name'),
  last_name: getText(values, 'customer.last_name'),
  full_name: getText(values, 'customer.full_name'),
  locale: findWord(languages, getText(values, 'customer.locale')),
  metadata: pickByPrefix(values, 'customer.metadata.', isText),
})

/** Services that a file can name. Any other name counts as `import`. */
const paymentServices = ['import', 'manual', 'stripe'] as const
type NamedService = (typeof paymentServices)[number]

function readPayment(values: OrderValues): DecidedOrder['payment'] {
  const serviceName = getText(values, 'order.payment_service')
  const reference = getText(values, 'order.payment_reference')
  if (serviceName === null && reference === null) return null
  const service = paymentServices.find((one) => one === toPlainWord(serviceName ?? '')) ?? 'import'
  return { service, reference }
}

function decideId(values: OrderValues, options: OrderOptions): string {
  const externalId = getText(values, 'order.external_id')
  if (externalId !== null) return externalId
  const email = options.group_by === 'email' ? getText(values, 'customer.email') : null
  return email ?? options.row_key
}

function listUnmappedTotals(rows: readonly PlacedRow[]): number[] {
  const amounts = rows.flatMap(({ unmapped_total }) => unmapped_total ?? [])
  const [first, ...others] = amounts
  if (first === undefined) return []
  const sum = amounts.reduce((total, amount) => total + amount, 0)
  return others.length > 0 && others.every((amount) => amount === first) ? [first, sum] : [sum]
}

/**
 * True if an order is imported without the value of a cell: a language, or the phone number of a customer who has an
 * e-mail address.
 */
export const isLeftOut = ({ target_field, code }: StoredError, hasEmail: boolean): boolean =>
  (target_field === 'customer.locale' && code === 'invalid_value') ||
  (hasEmail && target_field === 'customer.phone_number' && code !== 'invalid_encoding')

const toWarning = ({ row, message, target_field }: OrderError): OrderWarning => ({
  row,
  code: target_field === 'customer.phone_number' ? 'phone_not_taken' : 'unsupported_language',
  message: `${message} The order is imported without it.`,
})

export function mapOrder(placedRows: readonly PlacedRow[], options: OrderOptions): MappedOrder {
  const { values, rows, errors: disagreements, warnings: mergeWarnings } = mergeRows(placedRows)
  const first = rows[0]?.line ?? 0
  const { items, errors: itemErrors, warnings: itemWarnings } = decideItems(rows)
  const currency = decideCurrency(rows, values, options)
  const rowErrors = rows.flatMap((row) => row.errors.map((error) => ({ ...error, row: row.line })))
  const hasEmail = values['customer.email'] !== undefined
  const leftOut = rowErrors.filter((error) => isLeftOut(error, hasEmail))
  const warnings = [...mergeWarnings, ...itemWarnings, ...leftOut.map(toWarning)]
  const errors: OrderError[] = [
    ...rowErrors.filter((error) => !leftOut.includes(error)),
    ...disagreements,
    ...itemErrors,
    ...(typeof currency === 'string' ? [] : [currency]),
  ]
  const wrongTargets = new Set(errors.map(({ target_field }) => target_field))
  const hasUnreadRow = rows.some((row) => row.errors.some(concernsWholeRow))
  const require = (targets: readonly string[], message: string) => {
    const hasSource = hasUnreadRow || targets.some((target) => values[target] !== undefined || wrongTargets.has(target))
    if (!hasSource) errors.push(buildMissingError(first, targets[0] ?? '', message))
  }
  require(['customer.email', 'customer.phone_number'], 'The order has neither an e-mail address nor a phone number.')
  if (options.group_by === 'external_id') require(['order.external_id'], 'The order has no id.')
  const undatedMessage = 'The order has no date. Fill the cell, or set a default_value for the column of order.created.'
  require(['order.created'], undatedMessage)
  const created_at = getNumber(values, 'order.created')
  if (errors.length > 0 || typeof currency !== 'string' || created_at === null) return { order: null, errors, warnings }
  const fee = getNumber(values, 'order.service_fee') ?? 0
  const order: DecidedOrder = {
    lines: rows.map(({ line }) => line),
    external_id: decideId(values, options),
    order_number: getText(values, 'order.order_number'),
    status: findWord(orderStatuses, getText(values, 'order.status')) ?? decideStatus(items, options),
    created_at,
    is_dated: rows.some((row) => row.values['order.created'] !== undefined),
    currency,
    customer: readCustomer(values),
    items,
    service_fee_minor: Math.max(0, fee),
    discount_minor: (getNumber(values, 'order.discount') ?? 0) + Math.max(0, -fee),
    refunded_minor: getNumber(values, 'order.refunded_amount'),
    amount_minor: getNumber(values, 'order.amount'),
    unmapped_totals: listUnmappedTotals(rows),
    coupon_code: getText(values, 'order.coupon_code'),
    payment: readPayment(values),
    consents: pickByPrefix(values, 'consent.', isYesOrNo),
    metadata: pickByPrefix(values, 'order.metadata.', isText),
  }
  return { order, errors, warnings }
}
