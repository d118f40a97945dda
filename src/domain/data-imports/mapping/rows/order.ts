import { toIso } from '../../../time/instants.ts'
import { type Language, languages } from '../../../languages.ts'
import { type Currency, toMajor } from '../../../money.ts'
import { findWord } from '../../../text/text.ts'
import { type OrderStatus, orderStatuses } from '../../../orders/orders.ts'
import type { Grouping } from '../mapping.ts'
import { targetFieldOf } from '../targets/fields.ts'
import { isCurrency, marksCurrency } from '../values/currencies.ts'
import { plainWord } from '../values/words.ts'
import { decideItems, type DecidedItem } from './items.ts'
import { type DecidedRow, isOfWholeRow, type OrderError, type OrderWarning, type PlacedRow } from './row.ts'

export interface DecidedOrder {
  lines: readonly number[]
  external_id: string
  order_number: string | null
  status: OrderStatus
  /** Milliseconds UTC. */
  created_at: number | null
  currency: Currency
  customer: {
    email: string | null
    phone_number: string | null
    first_name: string | null
    last_name: string | null
    full_name: string | null
    locale: Language | null
  }
  items: readonly DecidedItem[]
  service_fee_minor: number
  discount_minor: number
  /** The amount paid back so far; null when the source has none. */
  refunded_minor: number | null
  /** The source's total of the order; null when it has none. */
  amount_minor: number | null
  coupon_code: string | null
  payment: { service: NamedService; reference: string | null } | null
  consents: Readonly<Record<string, boolean>>
  metadata: Readonly<Record<string, string>>
}

export interface MappedOrder {
  /** Null for an order with an error: it is taken whole or not at all. */
  order: DecidedOrder | null
  errors: readonly OrderError[]
  warnings: readonly OrderWarning[]
}

export interface OrderOptions {
  group_by: Grouping
  default_currency: Currency
  default_status: OrderStatus
  /** The prefix of ids for orders of a file without ids, before the line number. */
  id_prefix: string
}

/** What the rows of one order have in common; null for a row without a key of an order. */
export function groupKeyOf(row: PlacedRow, group_by: Grouping): string | null {
  if (group_by === 'row') return String(row.line)
  const value = row.values[group_by === 'email' ? 'customer.email' : 'order.external_id']
  return typeof value === 'string' ? value : null
}

type OrderValues = DecidedRow['values']

const isOrderLevel = (target: string): boolean =>
  target.startsWith('consent.') || (targetFieldOf(target)?.is_order_level ?? false)

/** A value as text for people. */
function shown(target: string, value: OrderValues[string] | undefined): string {
  const type = targetFieldOf(target)?.type
  if (typeof value === 'number' && type === 'money') return toMajor(value).toFixed(2)
  if (typeof value === 'number' && type === 'instant') return `${toIso(value).slice(0, 16).replace('T', ' ')} UTC`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

/** What a column may be instead whose cells differ in the rows of an order. */
const otherMeaning: Readonly<Record<string, string>> = {
  'order.status': ' If each ticket has a status of its own, map the column to item.status.',
  'order.amount': ' If it is the amount of each row, map the column to item.line_total.',
}

/** The cells that the rows of an order agree in: a blank one inherits, a different one is an error. */
function agreedValues(rows: readonly PlacedRow[]): { values: OrderValues; errors: OrderError[] } {
  const values: Record<string, OrderValues[string]> = {}
  const firstLines = new Map<string, number>()
  const errors: OrderError[] = []
  for (const row of rows)
    for (const [target, value] of Object.entries(row.values)) {
      if (!isOrderLevel(target)) continue
      const first = firstLines.get(target)
      if (first === undefined) {
        values[target] = value
        firstLines.set(target, row.line)
      } else if (values[target] !== value) {
        const [said, own] = [shown(target, values[target]), shown(target, value)]
        const message = `Line ${first} says ${said} of the same order, and this one ${own}.${otherMeaning[target] ?? ''}`
        const error = { column: null, target_field: target, code: 'inconsistent_order', message } as const
        errors.push({ ...error, row: row.line, value: own })
      }
    }
  return { values, errors }
}

const missing = (row: number, target_field: string, message: string): OrderError => ({
  row,
  column: null,
  target_field,
  code: 'missing_required',
  message,
  value: null,
})

function decideCurrency(rows: readonly PlacedRow[], values: OrderValues, options: OrderOptions): Currency | OrderError {
  const said = values['order.currency']
  const marks = [...new Set(rows.flatMap(({ currency_mark }) => currency_mark ?? []))]
  const specific = marks.filter((mark) => mark !== 'kr')
  const named = typeof said === 'string' && said !== 'kr' ? said : specific[0]
  const isCrown = said === 'kr' || marks.includes('kr')
  const currency = named ?? options.default_currency
  const fault = (code: 'currency_mismatch' | 'invalid_currency', message: string): OrderError => ({
    ...missing(rows[0]?.line ?? 0, 'order.currency', message),
    code,
    value: named ?? 'kr',
  })
  if (!isCurrency(currency)) return fault('invalid_currency', `No order can be in ${currency.toUpperCase()}.`)
  const isOther = marks.some((mark) => !marksCurrency(mark, currency)) || (isCrown && !marksCurrency('kr', currency))
  return isOther
    ? fault(
        'currency_mismatch',
        `Amounts of the order are in ${marks.join(', ') || 'kr'}, and the order in ${currency.toUpperCase()}.`,
      )
    : currency
}

/** The status of an order by its tickets, when the file has none. */
function statusOfItems(items: readonly DecidedItem[], options: OrderOptions): OrderStatus {
  const said = items.filter(({ status }) => status !== null)
  if (said.length < items.length || said.some(({ status }) => status === 'active')) return options.default_status
  return said.some(({ status }) => status === 'pending') ? 'pending' : 'cancelled'
}

const text = (values: OrderValues, target: string): string | null => {
  const value = values[target]
  return typeof value === 'string' ? value : null
}
const number = (values: OrderValues, target: string): number | null => {
  const value = values[target]
  return typeof value === 'number' ? value : null
}

function ofPrefix<Value>(
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

const customerOf = (values: OrderValues): DecidedOrder['customer'] => ({
  email: text(values, 'customer.email'),
  phone_number: text(values, 'customer.phone_number'),
  first_name: text(values, 'customer.first_name'),
  last_name: text(values, 'customer.last_name'),
  full_name: text(values, 'customer.full_name'),
  locale: findWord(languages, text(values, 'customer.locale')),
})

/** The services that may have taken the payment; an unknown one counts as `import`. */
const paymentServices = ['import', 'manual', 'stripe'] as const
type NamedService = (typeof paymentServices)[number]

function paymentOf(values: OrderValues): DecidedOrder['payment'] {
  const named = text(values, 'order.payment_service')
  const reference = text(values, 'order.payment_reference')
  if (named === null && reference === null) return null
  const service = paymentServices.find((one) => one === plainWord(named ?? '')) ?? 'import'
  return { service, reference }
}

function idOf(rows: readonly PlacedRow[], values: OrderValues, options: OrderOptions): string {
  const said = text(values, 'order.external_id')
  if (said !== null) return said
  const email = options.group_by === 'email' ? text(values, 'customer.email') : null
  return email ?? `${options.id_prefix}-${rows[0]?.line ?? 0}`
}

/** The order that some rows are, in the order of the file; ignored rows are left out before. */
export function toExternalOrder(rows: readonly PlacedRow[], options: OrderOptions): MappedOrder {
  const { values, errors: disagreements } = agreedValues(rows)
  const first = rows[0]?.line ?? 0
  const { items, errors: itemErrors, warnings } = decideItems(rows)
  const currency = decideCurrency(rows, values, options)
  const errors: OrderError[] = [
    ...rows.flatMap((row) => row.errors.map((error) => ({ ...error, row: row.line }))),
    ...disagreements,
    ...itemErrors,
    ...(typeof currency === 'string' ? [] : [currency]),
  ]
  const wrongTargets = new Set(errors.map(({ target_field }) => target_field))
  const isUnread = rows.some((row) => row.errors.some(isOfWholeRow))
  const require = (targets: readonly string[], message: string) => {
    const isThere = isUnread || targets.some((target) => values[target] !== undefined || wrongTargets.has(target))
    if (!isThere) errors.push(missing(first, targets[0] ?? '', message))
  }
  require([
    'customer.email',
    'customer.phone_number',
  ], 'The order has neither an e-mail address nor a telephone number.')
  if (options.group_by === 'external_id') require(['order.external_id'], 'The order has no id.')
  if (errors.length > 0 || typeof currency !== 'string') return { order: null, errors, warnings }
  const order: DecidedOrder = {
    lines: rows.map(({ line }) => line),
    external_id: idOf(rows, values, options),
    order_number: text(values, 'order.order_number'),
    status: findWord(orderStatuses, text(values, 'order.status')) ?? statusOfItems(items, options),
    created_at: number(values, 'order.created'),
    currency,
    customer: customerOf(values),
    items,
    service_fee_minor: number(values, 'order.service_fee') ?? 0,
    discount_minor: number(values, 'order.discount') ?? 0,
    refunded_minor: number(values, 'order.refunded_amount'),
    amount_minor: number(values, 'order.amount'),
    coupon_code: text(values, 'order.coupon_code'),
    payment: paymentOf(values),
    consents: ofPrefix(values, 'consent.', isYesOrNo),
    metadata: ofPrefix(values, 'order.metadata.', isText),
  }
  return { order, errors, warnings }
}
