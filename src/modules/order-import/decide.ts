import { parseLanguage } from '../../domain/languages.ts'
import type { DuplicatePolicy, ExternalItem, ExternalOrder } from '../../domain/orders/external-orders.ts'
import { countLongestList } from '../../domain/text/json.ts'
import { type PurchaseStatus, purchaseStatusByOrderStatus } from '../../domain/orders/purchases.ts'
import type { ResolvedItem } from '../../domain/orders/reconcile-purchases.ts'
import type { ImportedAnswers } from '../consents/index.ts'
import type { ReceiptOrder } from '../transactional-emails/index.ts'
import { addedCatalogue, noCatalogue, type PersonBefore, type RecordedOrder, updatedBefore } from './before.ts'
import { CatalogueDecisions } from './decide-catalogue.ts'
import { decideNewOrder } from './decide-new-order.ts'
import { customerOf, holderOf, PeopleDecisions } from './decide-people.ts'
import { decideUpdate } from './decide-update.ts'
import { judge, judgeDuplicate, type Judgement, type NumberedOrder, type OrderOutcome } from './judge.ts'
import { announcedUser, type OrderDecision, type Placement } from './order-rows.ts'
import type { ImportState } from './state.ts'
import type { LongerLists } from './statements.ts'
import type { DecisionContext, ImportEdition, PurchaseChange, Write } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'

/** The decision on a group of orders. */
export interface GroupDecision {
  outcomes: readonly OrderOutcome[]
  writes: readonly Write[]
  lists: LongerLists
  /** What can be announced of the purchases, and the names of products and variants by id. */
  changes: readonly PurchaseChange[]
  names: ReadonlyMap<string, string>
  /** Orders that are made. */
  receipts: readonly ReceiptOrder[]
  answers: readonly ImportedAnswers[]
  /** As they are afterwards. */
  orders: readonly OrderRow[]
  /** By outcome, what an undo needs. */
  recorded: () => RecordedOrder[]
}

interface TakenOrder {
  numbered: NumberedOrder
  existing: OrderRow | undefined
  judgement: Judgement
}

const statusOf = ({ status }: ExternalOrder, item: ExternalItem): PurchaseStatus =>
  status === 'cancelled' ? status : (item.status ?? purchaseStatusByOrderStatus[status])

function resolvedItem(
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
    holder_id: holder && email !== null ? people.add(holderOf(order, { ...holder, email })) : null,
    status: statusOf(order, item),
  }
}

/** Adds the people and the catalogue of an order; what it is placed with is known once all orders were added. */
function added(
  { numbered, judgement }: TakenOrder,
  people: PeopleDecisions,
  catalogue: CatalogueDecisions,
): () => Placement {
  const { order } = numbered
  const customerId = people.add(customerOf(order))
  const items = order.items.map((item) => [item, resolvedItem(order, item, people, catalogue)] as const)
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

function answersOf({ now }: DecisionContext, { order, user }: Placement, orderId: string): ImportedAnswers[] {
  if (Object.keys(order.consents).length === 0) return []
  return [
    {
      user: announcedUser(user),
      is_kept: user.is_kept === 1,
      order_id: orderId,
      at: Math.min(order.created_at ?? now, now),
      language: order.customer.locale,
      consents: order.consents,
      evidence: { external_id: order.external_id },
    },
  ]
}

const receiptOf = (
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

interface PlacedDecision extends OrderDecision {
  taken: TakenOrder
  placement: Placement
}

function listsOf(decided: readonly PlacedDecision[], people: PeopleDecisions): LongerLists {
  const placements = decided.map(({ placement }) => placement)
  return {
    users: [...new Set(decided.flatMap(({ grown }) => grown))],
    options: Math.max(0, ...placements.flatMap(({ items }) => items.map(({ options }) => options.length))),
    user_metadata: people.countLongestList(),
    order_metadata: Math.max(0, ...placements.map(({ order }) => countLongestList(order.metadata))),
  }
}

interface GroupParts {
  state: ImportState
  people: PeopleDecisions
  /** What joins the catalogue. */
  writes: readonly Write[]
}

/** What an undo needs of each order that is written. What several orders share is recorded with the first of them. */
function recordedOrders(
  decided: readonly PlacedDecision[],
  made: readonly OrderOutcome[],
  parts: GroupParts,
): RecordedOrder[] {
  const seen = new Set<string>()
  const peopleOf = ({ placement: { user, items } }: PlacedDecision): PersonBefore[] => {
    const ids = [user.id, ...items.flatMap(({ holder_id }) => holder_id ?? [])]
    const fresh = [...new Set(ids)].filter((id) => !seen.has(id))
    for (const id of fresh) seen.add(id)
    return fresh.flatMap((id) => parts.people.before(id) ?? [])
  }
  return decided.map((one, at) => ({
    outcome: made[at] as OrderOutcome,
    order_version: one.order.version,
    before: {
      updated: one.taken.existing ? updatedBefore(parts.state, one.taken.existing, one.writes) : null,
      people: peopleOf(one),
      catalogue: at === 0 ? addedCatalogue(parts.writes) : noCatalogue(),
    },
  }))
}

/**
 * Decides on a group of orders by what was read. Reads and writes nothing. No external id may be in the group twice.
 */
export function decide(
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
    const duplicate = existing ? judgeDuplicate(policy, numbered) : null
    if (duplicate) {
      refused.push({ ...base, ...duplicate })
      continue
    }
    const payment = existing && state.payments.get(existing.id)
    const judgement = judge(context.edition, numbered, { order: existing, payment })
    if (judgement.errors.length) refused.push({ ...base, action: 'error', errors: judgement.errors })
    else taken.push({ numbered, existing, judgement })
  }
  const people = new PeopleDecisions(context, state)
  const catalogue = new CatalogueDecisions(context, state)
  const placements = taken.map((one) => added(one, people, catalogue))
  const decided = taken.map((one, at): PlacedDecision =>
    decideOrder(context, state, one, (placements[at] as () => Placement)()),
  )
  const outcomes = decided.map(({ order, taken: { numbered, existing, judgement } }): OrderOutcome => {
    const action = existing ? 'updated' : 'created'
    const { external_id } = numbered.order
    return { index: numbered.index, external_id, action, order_id: order.id, errors: [], warnings: judgement.warnings }
  })
  const parts = { state, people, writes: catalogue.writes() }
  return {
    outcomes: [...refused, ...outcomes],
    recorded: () => [
      ...refused.map((outcome) => ({ outcome, order_version: null, before: null })),
      ...recordedOrders(decided, outcomes, parts),
    ],
    writes: [...people.writes(), ...parts.writes, ...decided.flatMap(({ writes }) => writes)],
    lists: listsOf(decided, people),
    changes: decided.flatMap(({ changes }) => changes),
    names: new Map([...state.names, ...catalogue.names()]),
    receipts: decided.flatMap((one) =>
      one.taken.existing ? [] : [receiptOf(context.edition, one.order, one.placement)],
    ),
    answers: decided.flatMap(({ placement, order }) => answersOf(context, placement, order.id)),
    orders: decided.map(({ order }) => order),
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
