import { type FieldError, fieldError } from '../../domain/errors.ts'
import { parseLanguage } from '../../domain/languages.ts'
import type { DuplicatePolicy, ExternalItem, ExternalOrder } from '../../domain/orders/external-orders.ts'
import { type PurchaseStatus, purchaseStatusByOrderStatus } from '../../domain/orders/purchases.ts'
import type { ResolvedItem } from '../../domain/orders/reconcile-purchases.ts'
import type { ImportedAnswers } from '../consents/index.ts'
import type { ReceiptOrder } from '../transactional-emails/index.ts'
import {
  listAddedCatalogue,
  createAddedCatalogue,
  type PersonBefore,
  type RecordedOrder,
  recordUpdate,
} from './before.ts'
import { CatalogueDecisions } from './decide-catalogue.ts'
import { decideNewOrder } from './decide-new-order.ts'
import { toGivenCustomer, toGivenHolder, PeopleDecisions } from './decide-people.ts'
import { decideUpdate } from './decide-update.ts'
import {
  compareWithStored,
  judgeOrder,
  judgeDuplicate,
  type Judgement,
  type NumberedOrder,
  type OrderOutcome,
} from './judge.ts'
import { toAnnouncedUser, type OrderDecision, type Placement } from './order-rows.ts'
import type { ImportState } from './state.ts'
import type { DecisionContext, ImportEdition, PurchaseChange, Write } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'

export interface GroupDecision {
  outcomes: readonly OrderOutcome[]
  writes: readonly Write[]
  changes: readonly PurchaseChange[]
  names: ReadonlyMap<string, string>
  receipts: readonly ReceiptOrder[]
  answers: readonly ImportedAnswers[]
  orders: readonly OrderRow[]
  /** By outcome, what an undo needs. */
  recorded: () => RecordedOrder[]
}

interface TakenOrder {
  numbered: NumberedOrder
  existing: OrderRow | undefined
  judgement: Judgement
}

const decidePurchaseStatus = ({ status }: ExternalOrder, item: ExternalItem): PurchaseStatus =>
  status === 'cancelled' ? status : (item.status ?? purchaseStatusByOrderStatus[status])

function resolveItem(
  order: ExternalOrder,
  item: ExternalItem,
  people: PeopleDecisions,
  catalogue: CatalogueDecisions,
): ResolvedItem {
  const { holder } = item
  const email = holder?.email ?? null
  return {
    ...catalogue.add(item),
    quantity: item.quantity,
    price_minor: item.price_minor,
    deposit_minor: item.deposit_minor,
    handling_fee_minor: item.handling_fee_minor,
    vendor_code: item.vendor_code,
    uses_limit: item.uses_limit,
    is_unlimited_use: item.is_unlimited_use,
    valid_until: item.valid_until,
    holder_id: holder && email !== null ? people.add(toGivenHolder(order, { ...holder, email })) : null,
    status: decidePurchaseStatus(order, item),
  }
}

/** The placement is complete once all orders are added. */
function addOrder(
  { numbered, judgement }: TakenOrder,
  people: PeopleDecisions,
  catalogue: CatalogueDecisions,
): () => Placement {
  const { order } = numbered
  const customerId = people.add(toGivenCustomer(order))
  const items = order.items.map((item) => [item, resolveItem(order, item, people, catalogue)] as const)
  const counted = new Set(judgement.amounts.items)
  return () => ({
    order,
    user: people.get(customerId),
    userOf: (id) => people.get(id),
    items: items.map(([, item]) => item),
    counted: items.flatMap(([given, item]) => (counted.has(given) ? [item] : [])),
    totals: judgement.amounts.totals,
  })
}

interface PlacedDecision extends OrderDecision {
  taken: TakenOrder
  placement: Placement
}

/** An order without a date was answered when it was first imported, so an update never reverses a later withdrawal. */
function listAnswers({ now }: DecisionContext, { placement, order: row }: PlacedDecision): ImportedAnswers[] {
  const { order, user } = placement
  if (Object.keys(order.consents).length === 0) return []
  return [
    {
      user: toAnnouncedUser(user),
      is_kept: user.is_kept === 1,
      order_id: row.id,
      at: Math.min(order.created_at ?? row.created_at, now),
      language: order.customer.locale,
      consents: order.consents,
      evidence: { external_id: order.external_id },
    },
  ]
}

const buildReceipt = (
  { default_language }: ImportEdition,
  { id, user_id }: OrderRow,
  { order, user }: Placement,
): ReceiptOrder => ({
  order_id: id,
  user_id,
  status: order.status,
  email: user.email,
  language: parseLanguage(user.locale) ?? default_language,
})

interface GroupParts {
  state: ImportState
  people: PeopleDecisions
  writes: readonly Write[]
}

/** An import never changes the name of a customer, so it says so. A new order of a known address is no reason for it. */
function warnAboutName({ placement, taken }: PlacedDecision, people: PeopleDecisions): FieldError[] {
  const { numbered, existing } = taken
  const other = people.findOtherName(placement.user.id, toGivenCustomer(numbered.order))
  if (!other || (!existing && !other.by_phone)) return []
  const path = [...numbered.path, 'customer', 'full_name']
  const customer = `"${other.stored_name}" (${placement.user.id})`
  return other.by_phone
    ? [
        fieldError(
          path,
          'phone_of_other_name',
          `The phone number belongs to ${customer}, who gets this order. Add an e-mail address if it is another person.`,
        ),
      ]
    : [fieldError(path, 'name_not_changed', `The customer is stored as ${customer} and keeps this name.`)]
}

/** Lists the customer and the ticket holders of an order whom the import adds or changes. */
function listChangedPeople({ placement: { user, items } }: PlacedDecision, people: PeopleDecisions): PersonBefore[] {
  const ids = new Set([user.id, ...items.flatMap(({ holder_id }) => holder_id ?? [])])
  return [...ids].flatMap((id) => people.before(id) ?? [])
}

/** The first of several orders records what they share. */
function recordOrders(
  decided: readonly PlacedDecision[],
  made: readonly OrderOutcome[],
  parts: GroupParts,
): RecordedOrder[] {
  const seen = new Set<string>()
  const firstChanged = made.findIndex(({ action }) => action !== 'skipped')
  return decided.map((one, at) => {
    const outcome = made[at] as OrderOutcome
    if (outcome.action === 'skipped') return { outcome, order_version: null, before: null }
    const people = listChangedPeople(one, parts.people).filter(({ id }) => !seen.has(id))
    for (const { id } of people) seen.add(id)
    return {
      outcome,
      order_version: one.order.version,
      before: {
        updated: one.taken.existing ? recordUpdate(parts.state, one.taken.existing, one.writes) : null,
        people,
        catalogue: at === firstChanged ? listAddedCatalogue(parts.writes) : createAddedCatalogue(),
      },
    }
  })
}

/** Decides on a group of orders without reading or writing. No external id may be in the group twice. */
export function decideOrderGroup(
  context: DecisionContext,
  policy: DuplicatePolicy,
  state: ImportState,
  group: readonly NumberedOrder[],
): GroupDecision {
  const refused: OrderOutcome[] = []
  const taken: TakenOrder[] = []
  for (const numbered of group) {
    const { index, order } = numbered
    const existing = state.orders.get(order.external_id)
    const base = { index, external_id: order.external_id, order_id: existing?.id ?? null, warnings: [] }
    const differences = existing && compareWithStored(context.edition, numbered, existing, state)
    const duplicate = existing ? judgeDuplicate(policy, numbered) : null
    if (duplicate) {
      const warnings = differences ? [...differences.customer, ...differences.items] : []
      refused.push({ ...base, ...duplicate, warnings })
      continue
    }
    const payment = existing && state.payments.get(existing.id)
    const judgement = judgeOrder(context.edition, numbered, { order: existing, payment })
    if (judgement.errors.length) refused.push({ ...base, action: 'error', errors: judgement.errors })
    else {
      const warnings = [...judgement.warnings, ...(differences?.customer ?? [])]
      taken.push({ numbered, existing, judgement: { ...judgement, warnings } })
    }
  }
  const people = new PeopleDecisions(context, state)
  const catalogue = new CatalogueDecisions(context, state)
  const placements = taken.map((one) => addOrder(one, people, catalogue))
  const decided = taken.map((one, at): PlacedDecision =>
    decideOrder(context, state, one, (placements[at] as () => Placement)()),
  )
  const unchanged = new Set(decided.filter((one) => one.is_unchanged && listChangedPeople(one, people).length === 0))
  const outcomes = decided.map((one): OrderOutcome => {
    const { order, taken } = one
    const { numbered, existing, judgement } = taken
    const action = unchanged.has(one) ? 'skipped' : existing ? 'updated' : 'created'
    const { external_id } = numbered.order
    const warnings = [...judgement.warnings, ...warnAboutName(one, people)]
    return { index: numbered.index, external_id, action, order_id: order.id, errors: [], warnings }
  })
  const parts = { state, people, writes: catalogue.writes() }
  return {
    outcomes: [...refused, ...outcomes],
    recorded: () => [
      ...refused.map((outcome) => ({ outcome, order_version: null, before: null })),
      ...recordOrders(decided, outcomes, parts),
    ],
    writes: [...people.writes(), ...parts.writes, ...decided.flatMap((one) => (unchanged.has(one) ? [] : one.writes))],
    changes: decided.flatMap(({ changes }) => changes),
    names: new Map([...state.names, ...catalogue.names()]),
    receipts: decided.flatMap((one) =>
      one.taken.existing ? [] : [buildReceipt(context.edition, one.order, one.placement)],
    ),
    answers: decided.flatMap((one) => listAnswers(context, one)),
    orders: decided.flatMap((one) => (unchanged.has(one) ? [] : [one.order])),
  }
}

function decideOrder(
  context: DecisionContext,
  state: ImportState,
  taken: TakenOrder,
  placement: Placement,
): PlacedDecision {
  const { existing } = taken
  const decision = existing
    ? decideUpdate(context, placement, {
        order: existing,
        purchases: state.purchases.get(existing.id) ?? [],
        payment: state.payments.get(existing.id),
      })
    : decideNewOrder(context, placement)
  return { ...decision, taken, placement }
}
