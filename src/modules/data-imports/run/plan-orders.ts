import type { Database } from '../../../db/database.ts'
import { maxUnitsPerOrder } from '../../../domain/orders/external-orders.ts'
import {
  type GroupDecision,
  type NumberedOrder,
  type OrderOutcome,
  listInsertedRows,
} from '../../order-import/index.ts'
import { type ImportProblem, buildImportProblem, toProblem } from './problems.ts'
import type { ReadOrder } from './read-orders.ts'
import type { RunSetting } from './setting.ts'
import { findSimilarOrders } from './similar-orders.ts'

export interface PlannedOrder {
  read: ReadOrder
  /** `ignored`: all rows of the order are ignored. */
  outcome: 'created' | 'updated' | 'skipped' | 'error' | 'ignored'
  order_id: string | null
  problems: readonly ImportProblem[]
  warnings: readonly ImportProblem[]
}

export interface Planned {
  outcomes: readonly OrderOutcome[]
  decision: GroupDecision
}

/** A group has no external id twice and no more units than one order may have. */
export function takeFittingOrders(read: readonly ReadOrder[]): ReadOrder[] {
  const ids = new Set<string>()
  let units = 0
  const end = read.findIndex(({ order }, index) => {
    if (!order) return false
    units += order.items.reduce((count, { quantity }) => count + quantity, 0)
    const isTooMuch = index > 0 && (units > maxUnitsPerOrder || ids.has(order.external_id))
    ids.add(order.external_id)
    return isTooMuch
  })
  return end === -1 ? [...read] : read.slice(0, end)
}

export const numberOrders = (read: readonly ReadOrder[], refused: ReadonlySet<number> = new Set()): NumberedOrder[] =>
  read.flatMap(({ order }, index) => (order && !refused.has(index) ? [{ index, path: [], order }] : []))

/** Answers their places in the group. */
function findOrdersOfNewPeople({ outcomes, decision }: Planned): Set<number> {
  const added = new Set(listInsertedRows(decision.writes, 'users').map(({ id }) => id))
  const orders = new Set(decision.orders.flatMap(({ id, user_id }) => (added.has(user_id) ? [id] : [])))
  for (const { order_id, user_id } of listInsertedRows(decision.writes, 'purchases'))
    if (added.has(user_id)) orders.add(order_id)
  return new Set(outcomes.flatMap(({ index, order_id }) => (order_id !== null && orders.has(order_id) ? [index] : [])))
}

const buildLookalike = (read: ReadOrder, code: 'looks_imported' | 'similar_order', message: string): ImportProblem =>
  buildImportProblem(read.lines[0] ?? 0, 'order.external_id', code, message)

const looksImported =
  'An order with the same customer, date, product and price was imported before, so this row is skipped. If it is ' +
  'another order, map a column that tells them apart to order.external_id.'

/** Warns about rows without an id whose orders seem to exist, also under the name of another system. */
async function addLookalikes(
  db: Database,
  setting: RunSetting,
  orders: readonly PlannedOrder[],
  { decision }: Planned,
): Promise<PlannedOrder[]> {
  // Ids that are made from the content of a row are the keys of their groups.
  const ofRows = orders.filter(
    ({ read }) => setting.options.group_by === 'row' && read.decided?.external_id === read.row.group_key,
  )
  const newPeople = new Set(listInsertedRows(decision.writes, 'users').map(({ id }) => id))
  const written = new Map(decision.orders.map((order) => [order.id, order]))
  const created = ofRows.flatMap(({ outcome, order_id, read }) => {
    const order = outcome === 'created' ? written.get(order_id ?? '') : undefined
    return order && !newPeople.has(order.user_id) ? [{ ...order, created_at: read.order?.created_at ?? null }] : []
  })
  const similar = await findSimilarOrders(db, setting, created)
  return orders.map((order) => {
    if (!ofRows.includes(order)) return order
    const { read, outcome, warnings } = order
    const similarId = outcome === 'created' ? similar.get(order.order_id ?? '') : undefined
    if (outcome === 'skipped')
      return { ...order, warnings: [...warnings, buildLookalike(read, 'looks_imported', looksImported)] }
    if (similarId === undefined) return order
    const message = `The customer has an order with the same amount and date already: ${similarId}.`
    return { ...order, warnings: [...warnings, buildLookalike(read, 'similar_order', message)] }
  })
}

const buildUnknownCustomer = (read: ReadOrder): ImportProblem =>
  buildImportProblem(
    read.lines[0] ?? 0,
    'customer.email',
    'does_not_exist',
    'The customer does not exist yet, and this import does not create customers.',
  )

function buildPlannedOrder(read: ReadOrder, outcome: OrderOutcome): PlannedOrder {
  const { decided } = read
  const at = (errors: OrderOutcome['errors']) => (decided ? errors.map((error) => toProblem(decided, error)) : [])
  const { action, order_id } = outcome
  const problems = at(outcome.errors)
  return { read, outcome: action, order_id, problems, warnings: [...read.warnings, ...at(outcome.warnings)] }
}

/**
 * Decides the orders of one transaction, for previews and imports. `plan` asks the engine. Without `create_users`,
 * orders of unknown people are refused.
 */
export async function planOrders<P extends Planned>(
  db: Database,
  setting: RunSetting,
  read: readonly ReadOrder[],
  plan: (group: NumberedOrder[]) => Promise<P>,
): Promise<{ orders: PlannedOrder[]; planned: P }> {
  let planned = await plan(numberOrders(read))
  const strangers = setting.options.create_users ? new Set<number>() : findOrdersOfNewPeople(planned)
  if (strangers.size > 0) planned = await plan(numberOrders(read, strangers))
  const outcomes = new Map(planned.outcomes.map((outcome) => [outcome.index, outcome]))
  const orders = read.map((one, index): PlannedOrder => {
    const outcome = outcomes.get(index)
    if (outcome) return buildPlannedOrder(one, outcome)
    const refused = { read: one, outcome: 'error', order_id: null, warnings: [] } as const
    if (strangers.has(index)) return { ...refused, problems: [buildUnknownCustomer(one)] }
    const isIgnored = one.kept.length === 0 && one.problems.length === 0
    return isIgnored ? { ...refused, outcome: 'ignored', problems: [] } : { ...refused, problems: one.problems }
  })
  return { orders: await addLookalikes(db, setting, orders, planned), planned }
}
