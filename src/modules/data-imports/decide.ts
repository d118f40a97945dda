import type { Ctx } from '../../context.ts'
import { type FieldError, fieldError } from '../../domain/errors.ts'
import type { DuplicatePolicy, ExternalOrder, ImportAction } from '../../domain/external-orders.ts'
import { maxAmountMinor } from '../../domain/money.ts'
import { orderLifecycle, type OrderStatus, totalsOf } from '../../domain/orders.ts'
import { resolveItems } from './catalog.ts'
import { resolveCustomer } from './customer.ts'
import { placeAgain, placeNew } from './place.ts'
import type { ImportState, UserRow } from './state.ts'
import type { Edition, Writes } from './writes.ts'

/** An order of the call that can be read, with its customer's number in E.164. */
export interface Candidate {
  index: number
  order: ExternalOrder
  phone: string | null
}

export interface Outcome {
  index: number
  external_id: string | null
  action: ImportAction
  order_id: string | null
  errors: readonly FieldError[]
}

const pathTo = (index: number, ...path: PropertyKey[]) => ['orders', index, ...path]

function updateErrors(candidate: Candidate, existing: { status: string; currency: string }): FieldError[] {
  const { order, index } = candidate
  const from = existing.status as OrderStatus
  const errors: FieldError[] = []
  if (order.status !== from && !orderLifecycle.allows(from, order.status))
    errors.push(
      fieldError(
        pathTo(index, 'status'),
        'invalid_transition',
        `An order that is ${from} cannot become ${order.status}.`,
      ),
    )
  if (order.currency !== existing.currency)
    errors.push(fieldError(pathTo(index, 'currency'), 'currency_mismatch', `This order is in ${existing.currency}.`))
  return errors
}

function noteAnswers(
  { answers }: Writes,
  { order, user, orderId, at }: { order: ExternalOrder; user: UserRow; orderId: string; at: number },
): void {
  if (Object.keys(order.consents).length === 0) return
  answers.push({
    // Endpoints of the edition learn of somebody whom other editions know what this edition said.
    user: { id: user.id, email: user.is_shared ? user.given_email : user.email },
    is_kept: user.is_kept === 1,
    order_id: orderId,
    at,
    language: order.customer.locale,
    consents: order.consents,
    evidence: { external_id: order.external_id },
  })
}

/** What becomes of one order, given what is there; adds to `writes` and carries `state` along. */
export function decide(
  ctx: Ctx,
  scope: { edition: Edition; source: string; onDuplicate: DuplicatePolicy; changeable: readonly string[] | null },
  state: ImportState,
  writes: Writes,
  candidate: Candidate,
): Outcome {
  const { index, order, phone } = candidate
  const { edition, source, onDuplicate, changeable } = scope
  const existing = state.orders.get(order.external_id)
  const outcome = (action: ImportAction, order_id: string | null, errors: readonly FieldError[] = []): Outcome => ({
    index,
    external_id: order.external_id,
    action,
    order_id,
    errors,
  })
  if (existing && onDuplicate === 'skip') return outcome('skipped', existing.id)
  if (existing && onDuplicate === 'error')
    return outcome('error', existing.id, [
      fieldError(pathTo(index, 'external_id'), 'duplicate_in_edition', 'An order with this external_id exists.'),
    ])
  const refused = existing ? updateErrors(candidate, existing) : []
  const vatRate = edition.tax_type === 'vat' ? edition.default_price_tax_rate : 0
  const totals = totalsOf(order.items, order, vatRate)
  if (totals.total_minor < 0)
    refused.push(fieldError(pathTo(index, 'discount'), 'negative_amount', 'The discount is larger than the order.'))
  if (totals.total_minor > maxAmountMinor || totals.subtotal_minor > maxAmountMinor)
    refused.push(fieldError(pathTo(index, 'items'), 'max_value', 'The amount of the order is too large.'))
  if (refused.length) return outcome('error', existing?.id ?? null, refused)
  const user = resolveCustomer(ctx, { edition, changeable }, state, writes, { order, phone })
  const items = resolveItems(ctx, edition, state, writes, order.items)
  const placement = { edition, source, order, user, items, totals }
  const row = existing
    ? placeAgain(ctx, writes, placement, {
        order: existing,
        purchases: state.purchases.get(existing.id) ?? [],
        payment: state.payments.get(existing.id),
      })
    : placeNew(ctx, writes, placement)
  state.orders.set(order.external_id, row)
  noteAnswers(writes, { order, user, orderId: row.id, at: Math.min(order.created_at ?? ctx.now(), ctx.now()) })
  return outcome(existing ? 'updated' : 'created', row.id)
}
