import { toIso } from '../../../time/instants.ts'
import { type Language, languages } from '../../../languages.ts'
import { type Currency, toMajor } from '../../../money.ts'
import { fold } from '../../../text/fold.ts'
import { findWord } from '../../../text/text.ts'
import { type OrderStatus, orderStatuses } from '../../../orders/orders.ts'
import type { Grouping } from '../mapping.ts'
import { findTargetField } from '../targets/fields.ts'
import { isCurrency, allowsCurrency, toPlainWord } from '../values/words.ts'
import { decideItems, type DecidedItem } from './items.ts'
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
  /** Whether the file has the date. Otherwise the user gave it to all orders without one. */
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
  /** What a column of totals that nobody mapped may say: the total of the order in every row, or a part in each. */
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
export function getGroupKey({ values }: Pick<DecidedRow, 'values'>, group_by: Exclude<Grouping, 'row'>): string | null {
  const value = values[group_by === 'email' ? 'customer.email' : 'order.external_id']
  return typeof value === 'string' ? value : null
}

type OrderValues = DecidedRow['values']

const isOrderLevel = (target: string): boolean =>
  target.startsWith('consent.') || (findTargetField(target)?.is_order_level ?? false)

function formatValue(target: string, value: OrderValues[string] | undefined): string {
  const type = findTargetField(target)?.type
  if (typeof value === 'number' && type === 'money') return toMajor(value).toFixed(2)
  if (typeof value === 'number' && type === 'instant') return `${toIso(value).slice(0, 16).replace('T', ' ')} UTC`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

/** Hints for columns whose cells differ in the rows of an order. */
const hintsByTarget: Readonly<Record<string, string>> = {
  'order.status': ' If each ticket has a status of its own, map the column to item.status.',
  'order.amount': ' If it is the amount of each row, map the column to item.line_total.',
}

interface MergedRows {
  /** Values of the order. */
  values: OrderValues
  /** The rows with the holders of their tickets, and without constants and defaults of the order. */
  rows: readonly PlacedRow[]
  errors: OrderError[]
  warnings: OrderWarning[]
}

const longestMetadata = 1000

/** Adds another value to a list of values. Null if the list is too long then. */
function appendText(list: string, text: string): string | null {
  if (list.split(', ').includes(text)) return list
  const longer = `${list}, ${text}`
  return longer.length > longestMetadata ? null : longer
}

const isCustomerMetadata = (target: string): boolean => target.startsWith('customer.metadata.')
const isMetadata = (target: string): boolean => target.startsWith('order.metadata.') || isCustomerMetadata(target)
const isOfCustomer = (target: string): boolean => target.startsWith('customer.') && !isCustomerMetadata(target)

/** Whether a row names another person than the first row. Without an address of its own, it only names a holder. */
const namesOther = ({ values }: PlacedRow, buyer: OrderValues): boolean =>
  values['customer.email'] !== undefined && values['customer.email'] !== buyer['customer.email']

const holderNames = ['first_name', 'last_name', 'full_name'] as const

/** Whether a row tells something about another customer than the buyer. */
function describesOther(row: PlacedRow, target: string, buyer: OrderValues): boolean {
  if (target === 'customer.email' || !target.startsWith('customer.') || buyer['customer.email'] === undefined)
    return false
  if (namesOther(row, buyer) || !isCustomerMetadata(target)) return namesOther(row, buyer)
  return holderNames.some((name) => {
    const [own, first] = [row.values[`customer.${name}`], buyer[`customer.${name}`]]
    return own !== undefined && first !== undefined && fold(String(own)) !== fold(String(first))
  })
}

/**
 * Gives a row the holder of its ticket if the column of customers names different people in an order. The address of
 * the buyer identifies no other holder.
 */
function addHolder(row: PlacedRow, buyer: OrderValues, isFirst: boolean): PlacedRow {
  const { values } = row
  const email = namesOther(row, buyer) || isFirst ? values['customer.email'] : undefined
  const hasName = holderNames.some((name) => values[`item.user.${name}`] !== undefined)
  const names = hasName ? [] : holderNames.map((name) => [`item.user.${name}`, values[`customer.${name}`]] as const)
  const holder = [['item.user.email', email] as const, ...names].flatMap(([target, value]) =>
    value === undefined ? [] : [[target, value] as const],
  )
  return { ...row, values: { ...Object.fromEntries(holder), ...values } }
}

function dropAssumedValues(row: PlacedRow): PlacedRow {
  const { assumed = [] } = row
  if (assumed.length === 0) return row
  const statedValues = Object.entries(row.values).filter(([target]) => !assumed.includes(target))
  return { ...row, values: Object.fromEntries(statedValues) }
}

/**
 * Merges the rows of an order. A blank cell takes the value of the other rows, and a constant or a default only if they
 * are blank too. The first customer is the buyer, and different metadata becomes a list. Other values that differ are
 * errors.
 */
function mergeRows(placed: readonly PlacedRow[]): MergedRows {
  const rows = placed.map(dropAssumedValues)
  const values: Record<string, OrderValues[string]> = {}
  const firstLines = new Map<string, number>()
  const errors: OrderError[] = []
  const warnings: OrderWarning[] = []
  for (const row of rows)
    for (const [target, value] of Object.entries(row.values)) {
      if (!isOrderLevel(target)) continue
      const first = firstLines.get(target)
      const before = values[target]
      const isOther = describesOther(row, target, values)
      if (isOther && (first === undefined || isCustomerMetadata(target))) continue
      if (first === undefined) {
        values[target] = value
        firstLines.set(target, row.line)
      } else if (before === value || (isOfCustomer(target) && fold(String(before)) === fold(String(value)))) continue
      else if (typeof before === 'string' && typeof value === 'string' && isMetadata(target)) {
        const list = appendText(before, value)
        if (list !== null) values[target] = list
        else {
          const message = `${target} has more than ${longestMetadata} characters in this order, so it lacks those of this line.`
          warnings.push({ row: row.line, code: 'metadata_cut', message })
        }
      } else if (isOfCustomer(target)) {
        const [firstValue, ownValue] = [formatValue(target, before), formatValue(target, value)]
        const message = `The buyer in line ${first} has ${firstValue}, so ${ownValue} is only used for the ticket of this line.`
        warnings.push({ row: row.line, code: 'several_customers', message })
      } else if (!(target.startsWith('consent.') && namesOther(row, values))) {
        const [firstValue, ownValue] = [formatValue(target, before), formatValue(target, value)]
        const hint = hintsByTarget[target] ?? ''
        const message = `Line ${first} of the same order has ${firstValue}, this line has ${ownValue}.${hint}`
        const error = { column: null, target_field: target, code: 'inconsistent_order', message } as const
        errors.push({ ...error, row: row.line, value: ownValue })
      }
    }
  for (const { assumed = [], values: rowValues } of placed)
    for (const target of assumed) {
      const value = rowValues[target]
      if (value !== undefined && values[target] === undefined) values[target] = value
    }
  const hasHolders = warnings.some(({ code }) => code === 'several_customers')
  const withHolders = hasHolders ? rows.map((row, index) => addHolder(row, values, index === 0)) : rows
  return { values, rows: withHolders, errors, warnings }
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
  const specific = marks.filter((mark) => mark !== 'kr')
  const orderCurrency = typeof cellCurrency === 'string' && cellCurrency !== 'kr' ? cellCurrency : specific[0]
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
 * Whether an order is imported without the value of a cell: a language, or the phone number of a customer who has an
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

export function mapOrder(placed: readonly PlacedRow[], options: OrderOptions): MappedOrder {
  const { values, rows, errors: disagreements, warnings: mergeWarnings } = mergeRows(placed)
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
  const undated = 'The order has no date. Fill the cell, or set a default_value for the column of order.created.'
  require(['order.created'], undated)
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
