import { maxUnitsPerOrder } from '../../../domain/orders/external-orders.ts'
import {
  type GroupDecision,
  type NumberedOrder,
  type OrderOutcome,
  listInsertedRows,
} from '../../order-import/index.ts'
import { type ImportProblem, buildImportProblem, toProblem } from './problems.ts'
import type { FileOrder } from './read-orders.ts'

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
  refused: ReadonlySet<number> = new Set(),
): NumberedOrder[] =>
  fileOrders.flatMap(({ order }, index) => (order && !refused.has(index) ? [{ index, path: [], order }] : []))

/** Finds orders whose customer or holders would be created. Answers their places in the group. */
function findOrdersOfNewPeople({ outcomes, decision }: PlannedGroup): Set<number> {
  const newUserIds = new Set(listInsertedRows(decision.writes, 'users').map(({ id }) => id))
  const orders = new Set(decision.orders.flatMap(({ id, user_id }) => (newUserIds.has(user_id) ? [id] : [])))
  for (const { order_id, user_id } of listInsertedRows(decision.writes, 'purchases'))
    if (newUserIds.has(user_id)) orders.add(order_id)
  return new Set(outcomes.flatMap(({ index, order_id }) => (order_id !== null && orders.has(order_id) ? [index] : [])))
}

const buildUnknownCustomerProblem = (fileOrder: FileOrder): ImportProblem =>
  buildImportProblem(
    fileOrder.lines[0] ?? 0,
    'customer.email',
    'does_not_exist',
    'The customer does not exist, and the option create_users is off.',
  )

function buildPlannedOrder(fileOrder: FileOrder, outcome: OrderOutcome): PlannedOrder {
  const { mapped } = fileOrder
  const toProblems = (errors: OrderOutcome['errors']) => (mapped ? errors.map((error) => toProblem(mapped, error)) : [])
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
  fileOrders: readonly FileOrder[],
  { create_users }: { create_users: boolean },
  plan: (group: NumberedOrder[]) => Promise<P>,
): Promise<{ orders: PlannedOrder[]; planned: P }> {
  let planned = await plan(numberOrders(fileOrders))
  const ordersOfNewPeople = create_users ? new Set<number>() : findOrdersOfNewPeople(planned)
  if (ordersOfNewPeople.size > 0) planned = await plan(numberOrders(fileOrders, ordersOfNewPeople))
  const outcomes = new Map(planned.outcomes.map((outcome) => [outcome.index, outcome]))
  const orders = fileOrders.map((one, index): PlannedOrder => {
    const outcome = outcomes.get(index)
    if (outcome) return buildPlannedOrder(one, outcome)
    const refused = { fileOrder: one, outcome: 'error', order_id: null, warnings: [] } as const
    if (ordersOfNewPeople.has(index)) return { ...refused, problems: [buildUnknownCustomerProblem(one)] }
    const isIgnored = one.rowNumbers.length === 0 && one.problems.length === 0
    return isIgnored ? { ...refused, outcome: 'ignored', problems: [] } : { ...refused, problems: one.problems }
  })
  return { orders, planned }
}
