import type { Database } from '../../../db/database.ts'
import { maxUnitsPerOrder } from '../../../domain/orders/external-orders.ts'
import { type GroupDecision, type OrderEntry, type OrderOutcome, listInsertedRows } from '../../order-import/index.ts'
import { type ImportProblem, buildImportProblem, toProblem } from './problems.ts'
import type { FileOrder } from './read-orders.ts'
import type { RunSetting } from './setting.ts'
import { findSimilarOrders } from './similar-orders.ts'

export interface PlannedOrder {
  fileOrder: FileOrder
  /** `ignored`: all rows of the order are ignored. */
  outcome: 'created' | 'updated' | 'skipped' | 'error' | 'ignored'
  order_id: string | null
  problems: readonly ImportProblem[]
  warnings: readonly ImportProblem[]
}

export interface PlannedGroup {
  outcomes: readonly OrderOutcome[]
  decision: GroupDecision
}

/** Takes the first orders that fit into a group: each external id once, and no more units than one order may have. */
export function takeGroup(fileOrders: readonly FileOrder[]): FileOrder[] {
  const ids = new Set<string>()
  let units = 0
  const end = fileOrders.findIndex(({ order }, index) => {
    if (!order) return false
    units += order.items.reduce((count, { quantity }) => count + quantity, 0)
    const isTooMuch = index > 0 && (units > maxUnitsPerOrder || ids.has(order.external_id))
    ids.add(order.external_id)
    return isTooMuch
  })
  return end === -1 ? [...fileOrders] : fileOrders.slice(0, end)
}

export const numberOrders = (
  fileOrders: readonly FileOrder[],
  refusedIndexes: ReadonlySet<number> = new Set(),
): OrderEntry[] =>
  fileOrders.flatMap(({ order }, index) => (order && !refusedIndexes.has(index) ? [{ index, path: [], order }] : []))

/** Finds orders whose customer or holders would be created. Returns their places in the group. */
function findOrdersOfNewPeople({ outcomes, decision }: PlannedGroup): Set<number> {
  const newUserIds = new Set(listInsertedRows(decision.writes, 'users').map(({ id }) => id))
  const orders = new Set(decision.orders.flatMap(({ id, user_id }) => (newUserIds.has(user_id) ? [id] : [])))
  for (const { order_id, user_id } of listInsertedRows(decision.writes, 'purchases'))
    if (newUserIds.has(user_id)) orders.add(order_id)
  return new Set(outcomes.flatMap(({ index, order_id }) => (order_id !== null && orders.has(order_id) ? [index] : [])))
}

const buildLookalike = (
  fileOrder: FileOrder,
  code: 'looks_imported' | 'similar_order',
  message: string,
): ImportProblem => buildImportProblem(fileOrder.lines[0] ?? 0, 'order.external_id', code, message)

const looksImported =
  'An order with the same customer, date, product and price was imported before, so this row is skipped. If it is ' +
  'another order, map a column that tells them apart to order.external_id.'

/** Warns about rows without an id whose orders seem to exist, also under the name of another system. */
async function addLookalikes(
  db: Database,
  setting: RunSetting,
  orders: readonly PlannedOrder[],
  { decision }: PlannedGroup,
): Promise<PlannedOrder[]> {
  // Ids that are made from the content of a row are the keys of their groups.
  const ofRows = orders.filter(
    ({ fileOrder }) =>
      setting.options.group_by === 'row' && fileOrder.mappedOrder?.external_id === fileOrder.stagedOrder.group_key,
  )
  const newPeople = new Set(listInsertedRows(decision.writes, 'users').map(({ id }) => id))
  const writtenOrders = new Map(decision.orders.map((order) => [order.id, order]))
  const createdOrders = ofRows.flatMap(({ outcome, order_id, fileOrder }) => {
    const order = outcome === 'created' ? writtenOrders.get(order_id ?? '') : undefined
    const created_at = fileOrder.mappedOrder?.is_dated ? fileOrder.mappedOrder.created_at : null
    return order && !newPeople.has(order.user_id) ? [{ ...order, created_at }] : []
  })
  const similarOrders = await findSimilarOrders(db, setting, createdOrders)
  return orders.map((order) => {
    if (!ofRows.includes(order)) return order
    const { fileOrder, outcome, warnings } = order
    const similarId = outcome === 'created' ? similarOrders.get(order.order_id ?? '') : undefined
    if (outcome === 'skipped')
      return { ...order, warnings: [...warnings, buildLookalike(fileOrder, 'looks_imported', looksImported)] }
    if (similarId === undefined) return order
    const message = `The customer has an order with the same amount and date already: ${similarId}.`
    return { ...order, warnings: [...warnings, buildLookalike(fileOrder, 'similar_order', message)] }
  })
}

const buildUnknownCustomerProblem = (fileOrder: FileOrder): ImportProblem =>
  buildImportProblem(
    fileOrder.lines[0] ?? 0,
    'customer.email',
    'does_not_exist',
    'The customer does not exist, and the option create_users is off.',
  )

function buildPlannedOrder(fileOrder: FileOrder, outcome: OrderOutcome): PlannedOrder {
  const { mappedOrder } = fileOrder
  const toProblems = (errors: OrderOutcome['errors']) =>
    mappedOrder ? errors.map((error) => toProblem(mappedOrder, error)) : []
  const { action, order_id } = outcome
  const problems = toProblems(outcome.errors)
  const warnings = [...fileOrder.warnings, ...toProblems(outcome.warnings)]
  return { fileOrder, outcome: action, order_id, problems, warnings }
}

/**
 * Decides the orders of one transaction, for previews and imports. `plan` decides a group without writing it. Without
 * `create_users`, orders of people who do not exist yet are refused.
 */
export async function planOrders<P extends PlannedGroup>(
  db: Database,
  setting: RunSetting,
  fileOrders: readonly FileOrder[],
  plan: (group: OrderEntry[]) => Promise<P>,
): Promise<{ orders: PlannedOrder[]; plannedGroup: P }> {
  let plannedGroup = await plan(numberOrders(fileOrders))
  const ordersOfNewPeople = setting.options.create_users ? new Set<number>() : findOrdersOfNewPeople(plannedGroup)
  if (ordersOfNewPeople.size > 0) plannedGroup = await plan(numberOrders(fileOrders, ordersOfNewPeople))
  const outcomes = new Map(plannedGroup.outcomes.map((outcome) => [outcome.index, outcome]))
  const orders = fileOrders.map((one, index): PlannedOrder => {
    const outcome = outcomes.get(index)
    if (outcome) return buildPlannedOrder(one, outcome)
    const refusedOrder = { fileOrder: one, outcome: 'error', order_id: null, warnings: [] } as const
    if (ordersOfNewPeople.has(index)) return { ...refusedOrder, problems: [buildUnknownCustomerProblem(one)] }
    const isIgnored = one.rowNumbers.length === 0 && one.problems.length === 0
    return isIgnored
      ? { ...refusedOrder, outcome: 'ignored', problems: [] }
      : { ...refusedOrder, problems: one.problems }
  })
  return { orders: await addLookalikes(db, setting, orders, plannedGroup), plannedGroup }
}
