import { type FieldError, fieldError } from '../../domain/errors.ts'
import type { DuplicatePolicy, ExternalOrder, ImportAction } from '../../domain/orders/external-orders.ts'
import {
  countedItems,
  isDead,
  type PaymentAmounts,
  paymentAfter,
  takenBack,
} from '../../domain/data-imports/imported-amounts.ts'
import { formatMoney, maxAmountMinor } from '../../domain/money.ts'
import { orderLifecycle } from '../../domain/orders/orders.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import type { TransactionRow } from './state.ts'
import type { ImportEdition } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'

/** An order that can be read, with its place among those of its import, and the path to it in what was sent. */
export interface NumberedOrder {
  index: number
  path: readonly PropertyKey[]
  order: ExternalOrder
}

export interface OrderOutcome {
  index: number
  external_id: string | null
  action: ImportAction
  order_id: string | null
  errors: readonly FieldError[]
  /** What was not as it says, of an order that is made or changed. */
  warnings: readonly FieldError[]
}

export interface KnownOrder {
  order: OrderRow | undefined
  payment: TransactionRow | undefined
}

type ItemAmounts = ReturnType<typeof countedItems>

/** Either errors, or the amounts of the order that is taken. */
export interface Judgement {
  errors: readonly FieldError[]
  warnings: readonly FieldError[]
  amounts: ItemAmounts
}

function changeErrors({ order, path }: NumberedOrder, existing: OrderRow): FieldError[] {
  const from = existing.status
  const errors: FieldError[] = []
  if (order.status !== from && !orderLifecycle.allows(from, order.status)) {
    const detail = `An order that is ${from} cannot become ${order.status}.`
    errors.push(fieldError([...path, 'status'], 'invalid_transition', detail))
  }
  if (order.currency !== existing.currency)
    errors.push(fieldError([...path, 'currency'], 'currency_mismatch', `This order is in ${existing.currency}.`))
  return errors
}

function amountErrors({ path }: NumberedOrder, { totals }: ItemAmounts): FieldError[] {
  const errors: FieldError[] = []
  if (totals.total_minor < 0)
    errors.push(fieldError([...path, 'discount'], 'negative_amount', 'The discount is larger than the order.'))
  if (totals.total_minor > maxAmountMinor || totals.subtotal_minor > maxAmountMinor)
    errors.push(fieldError([...path, 'items'], 'max_value', 'The amount of the order is too large.'))
  return errors
}

/** The payment with what the order says was paid back of it, had it been paid before. */
const paymentOf = ({ order }: NumberedOrder, { totals }: ItemAmounts, payment: TransactionRow | undefined) => {
  const before: PaymentAmounts = payment ?? {
    status: 'pending',
    amount_minor: totals.total_minor,
    refunded_minor: 0,
    reserved_minor: 0,
  }
  return paymentAfter(before, { ...order, amount_minor: totals.total_minor }).payment
}

function refundErrors(numbered: NumberedOrder, amounts: ItemAmounts, { payment }: KnownOrder): FieldError[] {
  const { order, path } = numbered
  const money = (minor: number) => formatMoney(minor, order.currency)
  const total = amounts.totals.total_minor
  const reserved = payment?.reserved_minor ?? 0
  const said = order.refunded_minor ?? 0
  const after = paymentOf(numbered, amounts, payment)
  if (said > (payment?.refunded_minor ?? 0) && !isDead(after.status)) {
    const at = [...path, 'refunded_amount']
    if (order.status === 'pending')
      return [fieldError(at, 'nothing_paid', 'Of an order that is pending nothing was paid that could be paid back.')]
    const most = after.amount_minor - reserved
    if (said > most) return [fieldError(at, 'refund_exceeds_amount', `At most ${money(most)} can have been paid back.`)]
  }
  const taken = after.refunded_minor + reserved
  if (total >= taken) return []
  const detail = `${money(taken)} of the order were paid back or are about to be; its amount cannot become ${money(total)}.`
  return [fieldError([...path, 'items'], 'amount_below_refunds', detail)]
}

/** Holders whom nobody can be found by; `amount` and what was paid back, where they are not as the source says. */
function warningsOf(numbered: NumberedOrder, { totals }: ItemAmounts, { payment }: KnownOrder): FieldError[] {
  const { order, path } = numbered
  const warnings: FieldError[] = []
  const total = totals.total_minor
  if (order.amount_minor !== null && order.amount_minor !== total) {
    const [said, made] = [formatMoney(order.amount_minor, order.currency), formatMoney(total, order.currency)]
    const detail = `The source says ${said}, items and fees make ${made}.`
    warnings.push(fieldError([...path, 'amount'], 'amount_mismatch', detail))
  }
  if (payment && isDead(payment.status) && (order.refunded_minor ?? 0) > payment.refunded_minor) {
    const detail = `The payment of this order is ${payment.status}: nothing can be paid back of it.`
    warnings.push(fieldError([...path, 'refunded_amount'], 'refund_not_recorded', detail))
  }
  const positions = new Set<number>()
  for (const { holder, position } of order.items) {
    if (!holder || holder.email !== null || positions.has(position)) continue
    const name = formatFullName(holder)
    if (name === '' || name === formatFullName(order.customer)) continue
    positions.add(position)
    const detail = 'A holder without an e-mail address is not kept: the customer holds these units.'
    warnings.push(fieldError([...path, 'items', position, 'user', 'email'], 'holder_without_email', detail))
  }
  return warnings
}

/** What is wrong with an order that is made or changed. */
export function judge(edition: ImportEdition, numbered: NumberedOrder, known: KnownOrder): Judgement {
  const { order } = numbered
  const vatRate = edition.tax_type === 'vat' ? edition.default_price_tax_rate : 0
  const refunded = Math.max(order.refunded_minor ?? 0, known.payment ? takenBack(known.payment) : 0)
  const amounts = countedItems(order, vatRate, refunded)
  const impossible = amountErrors(numbered, amounts)
  const errors = [
    ...(known.order ? changeErrors(numbered, known.order) : []),
    ...(impossible.length ? impossible : refundErrors(numbered, amounts, known)),
  ]
  return { errors, amounts, warnings: errors.length ? [] : warningsOf(numbered, amounts, known) }
}

/** What the policy says of an order that is known; null for one that is brought up to date. */
export function judgeDuplicate(
  policy: DuplicatePolicy,
  { path }: NumberedOrder,
): { action: 'skipped' | 'error'; errors: readonly FieldError[] } | null {
  if (policy === 'update') return null
  if (policy === 'skip') return { action: 'skipped', errors: [] }
  const detail = 'An order with this external_id exists.'
  return { action: 'error', errors: [fieldError([...path, 'external_id'], 'duplicate_in_edition', detail)] }
}
