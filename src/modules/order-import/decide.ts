import type { OrderRow } from '../../db/rows.ts'
import { type FieldError, fieldError } from '../../domain/errors.ts'
import { parseLanguage } from '../../domain/languages.ts'
import { isErasedOrderId } from '../../domain/orders/erased-order-ids.ts'
import type { DuplicatePolicy, ExternalItem, ExternalOrder } from '../../domain/orders/external-orders.ts'
import type { OrderStatus } from '../../domain/orders/orders.ts'
import { type PurchaseStatus, purchaseStatusByOrderStatus } from '../../domain/orders/purchases.ts'
import type { ResolvedItem } from '../../domain/orders/reconcile-purchases.ts'
import type { ImportedAnswers } from '../consents/index.ts'
import type { ReceiptOrder } from '../transactional-emails/index.ts'
import {
  checkDate,
  checkOrder,
  compareWithStored,
  decideDuplicate,
  hasImportedAddress,
  isFromFile,
  warnAboutCancelled,
  type OrderEntry,
  type OrderCheck,
  type OrderOutcome,
} from './check.ts'
import { CatalogueResolver } from './decide-catalogue.ts'
import { decideNewOrder } from './decide-new-order.ts'
import { toImportedCustomer, toImportedHolder, PeopleResolver } from './decide-people.ts'
import { decideUpdate } from './decide-update.ts'
import { toAnnouncedUser, type OrderDecision, type ResolvedOrder } from './order-rows.ts'
import type { ImportState } from './state.ts'
import {
  listAddedCatalogue,
  createEmptyCatalogue,
  type PersonUndo,
  type OrderRecord,
  recordUpdate,
} from './undo-data.ts'
import { ProductWarnings } from './warn-about-products.ts'
import type { DecisionContext, ImportEdition, PurchaseChange, Write } from './writes.ts'

export interface GroupDecision {
  outcomes: readonly OrderOutcome[]
  writes: readonly Write[]
  changes: readonly PurchaseChange[]
  catalogueNames: ReadonlyMap<string, string>
  receipts: readonly ReceiptOrder[]
  answers: readonly ImportedAnswers[]
  orders: readonly OrderRow[]
  /** The statuses of updated orders before the import, by id. */
  formerStatuses: ReadonlyMap<string, OrderStatus>
  /** Builds the record of each outcome, with the data that an undo needs. */
  buildRecords: () => OrderRecord[]
}

interface AcceptedOrder {
  entry: OrderEntry
  existingOrder: OrderRow | undefined
  check: OrderCheck
}

const decidePurchaseStatus = ({ status }: ExternalOrder, item: ExternalItem): PurchaseStatus =>
  status === 'cancelled' ? status : (item.status ?? purchaseStatusByOrderStatus[status])

function resolveItem(
  order: ExternalOrder,
  item: ExternalItem,
  people: PeopleResolver,
  catalogue: CatalogueResolver,
): ResolvedItem {
  const { holder } = item
  const email = holder?.email ?? null
  return {
    ...catalogue.resolve(item),
    quantity: item.quantity,
    price_minor: item.price_minor,
    deposit_minor: item.deposit_minor,
    handling_fee_minor: item.handling_fee_minor,
    vendor_code: item.vendor_code,
    uses_limit: item.uses_limit,
    is_unlimited_use: item.is_unlimited_use,
    valid_until: item.valid_until,
    holder_id: holder && email !== null ? people.resolve(toImportedHolder(order, { ...holder, email })) : null,
    status: decidePurchaseStatus(order, item),
  }
}

/** Resolves an order to ids. Call the returned function once all orders of the group are resolved. */
function resolveOrder(
  { entry, existingOrder, check }: AcceptedOrder,
  people: PeopleResolver,
  catalogue: CatalogueResolver,
): () => ResolvedOrder {
  const { order } = entry
  const customer = toImportedCustomer(order)
  const customerId =
    existingOrder && hasImportedAddress(order, existingOrder)
      ? people.resolveCustomer(existingOrder.user_id, customer)
      : people.resolve(customer)
  const items = order.items.map((item) => [item, resolveItem(order, item, people, catalogue)] as const)
  const countedItems = new Set(check.amounts.items)
  return () => ({
    order,
    user: people.get(customerId),
    getUser: (id) => people.get(id),
    items: items.map(([, item]) => item),
    countedItems: items.flatMap(([externalItem, item]) => (countedItems.has(externalItem) ? [item] : [])),
    totals: check.amounts.totals,
  })
}

interface AcceptedDecision extends OrderDecision {
  acceptedOrder: AcceptedOrder
  resolvedOrder: ResolvedOrder
}

/** An order without its own date uses the time of its first import, so an update never reverses a later withdrawal. */
function listAnswers({ now }: DecisionContext, { resolvedOrder, order: row }: AcceptedDecision): ImportedAnswers[] {
  const { order, user } = resolvedOrder
  if (Object.keys(order.consents).length === 0) return []
  return [
    {
      user: toAnnouncedUser(user),
      address: user.email,
      is_protected: user.is_protected === 1,
      order_id: row.id,
      at: Math.min(order.is_dated === false ? row.created_at : (order.created_at ?? row.created_at), now),
      language: order.customer.locale,
      consents: order.consents,
      evidence: { external_id: order.external_id },
    },
  ]
}

const buildReceipt = (
  { default_language }: ImportEdition,
  { id, user_id }: OrderRow,
  { order, user }: ResolvedOrder,
): ReceiptOrder => ({
  order_id: id,
  user_id,
  status: order.status,
  email: user.email,
  language: parseLanguage(user.locale) ?? default_language,
})

interface GroupParts {
  state: ImportState
  people: PeopleResolver
  catalogueWrites: readonly Write[]
}

/** An import never changes the name of a customer, and an update says so. */
function warnAboutName({ resolvedOrder, acceptedOrder }: AcceptedDecision, people: PeopleResolver): FieldError[] {
  const { entry, existingOrder } = acceptedOrder
  const other = people.findOtherName(resolvedOrder.user.id, toImportedCustomer(entry.order))
  if (!other || (!existingOrder && !other.by_phone)) return []
  const path = [...entry.path, 'customer', 'full_name']
  const customer = `"${other.stored_name}" (${resolvedOrder.user.id})`
  return other.by_phone
    ? [
        fieldError(
          path,
          'phone_of_other_name',
          `The phone number belongs to ${customer}, who gets this order. If it is another person, add an e-mail.`,
        ),
      ]
    : [fieldError(path, 'name_not_changed', `The customer is stored as ${customer} and keeps this name.`)]
}

/** Lists the customer and the ticket holders of an order whom the import adds or changes. */
function listChangedPeople({ resolvedOrder: { user, items } }: AcceptedDecision, people: PeopleResolver): PersonUndo[] {
  const ids = new Set([user.id, ...items.flatMap(({ holder_id }) => holder_id ?? [])])
  return [...ids].flatMap((id) => people.recordChange(id) ?? [])
}

/** Only the first order that changes a person records it. The first changed order records the new catalogue rows. */
function buildOrderRecords(
  decisions: readonly AcceptedDecision[],
  outcomes: readonly OrderOutcome[],
  parts: GroupParts,
): OrderRecord[] {
  const recordedIds = new Set<string>()
  const firstChange = outcomes.findIndex(({ action }) => action !== 'skipped')
  return decisions.map((decision, index) => {
    const outcome = outcomes[index] as OrderOutcome
    if (outcome.action === 'skipped') return { outcome, order_version: null, undo: null }
    const { order, writes, acceptedOrder } = decision
    const people = listChangedPeople(decision, parts.people).filter(({ id }) => !recordedIds.has(id))
    for (const { id } of people) recordedIds.add(id)
    return {
      outcome,
      order_version: order.version,
      undo: {
        updated: acceptedOrder.existingOrder ? recordUpdate(parts.state, acceptedOrder.existingOrder, writes) : null,
        people,
        catalogue: index === firstChange ? listAddedCatalogue(parts.catalogueWrites) : createEmptyCatalogue(),
      },
    }
  })
}

function buildOutcome(decision: AcceptedDecision, isUnchanged: boolean, people: PeopleResolver): OrderOutcome {
  const { order, acceptedOrder } = decision
  const { entry, existingOrder, check } = acceptedOrder
  const { external_id } = entry.order
  const action = isUnchanged ? 'skipped' : existingOrder ? 'updated' : 'created'
  const warnings = [...check.warnings, ...warnAboutName(decision, people)]
  return { index: entry.index, external_id, action, order_id: order.id, errors: [], warnings }
}

interface GroupChecks {
  context: DecisionContext
  policy: DuplicatePolicy
  state: ImportState
  products: ProductWarnings
}

/** Checks an order before its people and products are resolved. */
function checkEntry(
  { context, policy, state, products }: GroupChecks,
  entry: OrderEntry,
): { refusal: OrderOutcome } | { acceptedOrder: AcceptedOrder } {
  const { index, order } = entry
  const existingOrder = state.orders.get(order.external_id)
  const base = { index, external_id: order.external_id, order_id: existingOrder?.id ?? null, warnings: [] }
  const isErased = isErasedOrderId(existingOrder?.external_id ?? null)
  const differences = existingOrder && !isErased && compareWithStored(context.edition, entry, existingOrder, state)
  const duplicate = existingOrder ? decideDuplicate(policy, entry, existingOrder) : null
  if (duplicate) {
    const warnings = [
      ...(differences ? [...differences.customer, ...differences.items] : []),
      ...(duplicate.action === 'skipped' && existingOrder && !isErased ? warnAboutCancelled(entry, existingOrder) : []),
    ]
    return { refusal: { ...base, ...duplicate, warnings } }
  }
  const payment = existingOrder && state.payments.get(existingOrder.id)
  const check = checkOrder(context.edition, entry, { order: existingOrder, payment })
  const lateDates = checkDate(entry, context.now)
  const errors = [...check.errors, ...(isFromFile(entry) ? [] : lateDates)]
  if (errors.length) return { refusal: { ...base, action: 'error', errors } }
  const warnings = [
    ...check.warnings,
    ...(isFromFile(entry) ? lateDates : []),
    ...(differences ? differences.customer : []),
    ...products.list(entry),
  ]
  return { acceptedOrder: { entry, existingOrder, check: { ...check, warnings } } }
}

/** Decides on a group of orders without reading or writing. No external id may be in the group twice. */
export function decideOrderGroup(
  context: DecisionContext,
  policy: DuplicatePolicy,
  state: ImportState,
  group: readonly OrderEntry[],
): GroupDecision {
  const refusedOutcomes: OrderOutcome[] = []
  const acceptedOrders: AcceptedOrder[] = []
  const checks = { context, policy, state, products: new ProductWarnings(context.edition, state) }
  for (const entry of group) {
    const checkResult = checkEntry(checks, entry)
    if ('refusal' in checkResult) refusedOutcomes.push(checkResult.refusal)
    else acceptedOrders.push(checkResult.acceptedOrder)
  }
  const people = new PeopleResolver(context, state)
  const catalogue = new CatalogueResolver(context, state)
  // All orders are resolved before the first is decided, because later orders may fill in the people of earlier ones.
  const resolutions = acceptedOrders.map((acceptedOrder) => ({
    acceptedOrder,
    getResolvedOrder: resolveOrder(acceptedOrder, people, catalogue),
  }))
  const decisions = resolutions.map(({ acceptedOrder, getResolvedOrder }) =>
    decideOrder(context, state, acceptedOrder, getResolvedOrder()),
  )
  const unchangedDecisions = new Set(
    decisions.filter((decision) => decision.is_unchanged && listChangedPeople(decision, people).length === 0),
  )
  const changedDecisions = decisions.filter((decision) => !unchangedDecisions.has(decision))
  const outcomes = decisions.map((decision) => buildOutcome(decision, unchangedDecisions.has(decision), people))
  const parts = { state, people, catalogueWrites: catalogue.buildWrites() }
  return {
    outcomes: [...refusedOutcomes, ...outcomes],
    buildRecords: () => [
      ...refusedOutcomes.map((outcome) => ({ outcome, order_version: null, undo: null })),
      ...buildOrderRecords(decisions, outcomes, parts),
    ],
    writes: [...people.buildWrites(), ...parts.catalogueWrites, ...changedDecisions.flatMap(({ writes }) => writes)],
    changes: decisions.flatMap(({ changes }) => changes),
    catalogueNames: new Map([...state.names, ...catalogue.mapNames()]),
    receipts: decisions.flatMap(({ acceptedOrder, order, resolvedOrder }) =>
      acceptedOrder.existingOrder ? [] : [buildReceipt(context.edition, order, resolvedOrder)],
    ),
    answers: decisions.flatMap((decision) => listAnswers(context, decision)),
    orders: changedDecisions.map(({ order }) => order),
    formerStatuses: new Map(
      changedDecisions.flatMap(({ acceptedOrder: { existingOrder } }) =>
        existingOrder ? [[existingOrder.id, existingOrder.status]] : [],
      ),
    ),
  }
}

function decideOrder(
  context: DecisionContext,
  state: ImportState,
  acceptedOrder: AcceptedOrder,
  resolvedOrder: ResolvedOrder,
): AcceptedDecision {
  const { existingOrder } = acceptedOrder
  const decision = existingOrder
    ? decideUpdate(context, resolvedOrder, {
        order: existingOrder,
        purchases: state.purchases.get(existingOrder.id) ?? [],
        payment: state.payments.get(existingOrder.id),
      })
    : decideNewOrder(context, resolvedOrder)
  return { ...decision, acceptedOrder, resolvedOrder }
}
