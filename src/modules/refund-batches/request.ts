import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { refundBatches } from '../../db/schema/refunds.ts'
import { updateVersion } from '../../db/write.ts'
import { superuser } from '../../domain/accounts/access.ts'
import { listChanges, systemActor } from '../../domain/audit.ts'
import {
  addPlan,
  type BatchSums,
  type OrderPlan,
  excludeOrder,
  planOrder,
} from '../../domain/refunds/refund-batches.ts'
import { recordAudit } from '../audit-log/index.ts'
import { enqueueRefunds } from '../refund-payments/index.ts'
import {
  buildBatchRequest,
  choosePayout,
  type FindAccount,
  loadRefundableOrders,
  type PaidOrder,
} from '../refunds/index.ts'
import { enqueueEmails } from '../transactional-emails/index.ts'
import { type Announcement, commitAnnounced } from '../webhooks/index.ts'
import { buildAccountFinder, buildTerms, loadNextOrders, type NextOrder, planNextOrder } from './next-orders.ts'
import type { BatchRow } from './queries.ts'

/** A request has about ten statements, and all requests of a step are one transaction. */
const requestsPerStep = 10
/** With fewer requests, a step reads more orders. */
const enoughRequests = 5
/** A step reads this many orders, one size after the other, because some filters match few of many orders. */
const readSizes = [requestsPerStep, 50, 150]

interface PlannedBatchOrder {
  order: NextOrder
  plan: OrderPlan
}

interface PlannedStep {
  /** The orders that get a request. */
  plannedOrders: PlannedBatchOrder[]
  lastOrder: NextOrder | undefined
  isFinished: boolean
}

/** Reads the next orders, and more of them while few get a request. Orders without a request are added to `sums`. */
async function planStep(job: JobCtx, batch: BatchRow, sums: BatchSums, findAccount: FindAccount): Promise<PlannedStep> {
  const plannedOrders: PlannedBatchOrder[] = []
  let lastOrder: NextOrder | undefined
  for (const size of readSizes) {
    const cursor = lastOrder ? { cursor_created_at: lastOrder.created_at, cursor_seq: lastOrder.seq } : {}
    const orders = await loadNextOrders(job, { ...batch, ...cursor }, size)
    for (const order of orders) {
      if (plannedOrders.length === requestsPerStep) return { plannedOrders, lastOrder, isFinished: false }
      lastOrder = order
      if (order.is_requested) continue
      const plan = await planNextOrder(job, batch, order, findAccount)
      if (plan.purchases.length) plannedOrders.push({ order, plan })
      else addPlan(sums, plan, order.currency)
    }
    if (orders.length < size) return { plannedOrders, lastOrder, isFinished: true }
    if (plannedOrders.length >= enoughRequests) break
  }
  return { plannedOrders, lastOrder, isFinished: false }
}

/** Plans an order again with its current amounts. The total must not exceed that of the dry run. */
function replanOrder(batch: BatchRow, sums: BatchSums, { order }: PlannedBatchOrder, paidOrder: PaidOrder): OrderPlan {
  const chosenIds = new Set(order.purchases.flatMap(({ id, is_chosen }) => (is_chosen ? [id] : [])))
  const plan = planOrder(
    {
      payment_status: paidOrder.transaction_status,
      payment_remaining: paidOrder.remaining_minor,
      payment_reserved: paidOrder.reserved_minor ?? 0,
      purchases: paidOrder.purchases.map((purchase) => ({ ...purchase, is_chosen: chosenIds.has(purchase.id) })),
    },
    buildTerms(batch),
  )
  const { amounts } = batch.dry_run
  const { currency } = paidOrder
  const isWithinDryRun = (sums.amounts[currency] ?? 0) + plan.amount_minor <= (amounts[currency] ?? 0)
  return isWithinDryRun ? plan : excludeOrder(plan, 'beyond_draft')
}

const buildBatchFields = (batch: BatchRow) => ({
  id: batch.id,
  reason: batch.reason,
  source: batch.source,
  includes_fees: batch.include_fees,
  cancels: batch.cancel_purchases,
  notifies: batch.notify_customers,
  created_by: batch.created_by,
  started_by: batch.started_by ?? batch.created_by,
  is_started_by_organization: batch.is_started_by_organization,
  started_at: batch.started_at ?? batch.created_at,
})

interface Requests {
  statements: Statement[]
  announcements: Announcement[]
  isArchived: boolean
}

/** Builds the requests for these orders with their current amounts, and adds those to `sums`. */
async function buildRequests(
  job: JobCtx,
  batch: BatchRow,
  plannedOrders: readonly PlannedBatchOrder[],
  { sums, findAccount }: { sums: BatchSums; findAccount: FindAccount },
): Promise<Requests> {
  const requests: Requests = { statements: [], announcements: [], isArchived: false }
  if (plannedOrders.length === 0) return requests
  const targets = plannedOrders.map(({ order }) => ({ kind: 'order' as const, id: order.id }))
  const currentOrders = await loadRefundableOrders({ db: job.db, caller: superuser }, targets, batch.include_fees)
  // Orders of the same step may share a payment.
  const requestedByReference = new Map<string, number>()
  for (const [index, plannedOrder] of plannedOrders.entries()) {
    const currentOrder = currentOrders[index]
    if (!currentOrder) continue
    if (currentOrder.is_archived) return { statements: [], announcements: [], isArchived: true }
    const reference = currentOrder.provider_reference ?? ''
    const sharedMinor =
      (currentOrder.shared_minor ?? Number.POSITIVE_INFINITY) - (requestedByReference.get(reference) ?? 0)
    const paidOrder: PaidOrder = {
      ...currentOrder,
      transaction_id: currentOrder.transaction_id ?? '',
      remaining_minor: Math.max(0, Math.min(currentOrder.remaining_minor, sharedMinor)),
    }
    const plan = replanOrder(batch, sums, plannedOrder, paidOrder)
    const payout = plan.purchases.length ? await choosePayout(job, paidOrder, plan.amount_minor, findAccount) : null
    const finalPlan = payout || plan.purchases.length === 0 ? plan : excludeOrder(plan, 'merchant_not_ready')
    addPlan(sums, finalPlan, paidOrder.currency)
    if (!payout) continue
    const { purchases, amount_minor } = finalPlan
    requestedByReference.set(reference, (requestedByReference.get(reference) ?? 0) + amount_minor)
    const request = { batch: buildBatchFields(batch), purchases, amount_minor, payout }
    const changes = await buildBatchRequest(job, paidOrder, request)
    requests.statements.push(...changes.statements)
    requests.announcements.push(...changes.announcements)
  }
  return requests
}

/** Cancels a batch whose edition was archived. */
function cancelArchived(job: JobCtx, batch: BatchRow): Promise<void> {
  const now = job.now()
  const changes = { status: 'cancelled' as const, due_at: now, ended_at: now, modified_at: now }
  const entry = {
    action: 'cancelRefundBatch',
    organization_id: batch.organization_id,
    edition_id: batch.edition_id,
    resource_type: 'refund_batch',
    resource_id: batch.id,
    changes: listChanges({ status: batch.status }, { status: changes.status }),
  }
  const actor = { id: systemActor, credential: { id: null } }
  return commitAnnounced(
    job,
    [
      ...updateVersion(refundBatches, batch, changes),
      recordAudit({ caller: actor, requestId: batch.id, now, id: job.newId('audit_entry') }, entry),
    ],
    [],
  )
}

/**
 * Makes the next requests of a batch in the transaction that moves its cursor. Throws LostRace when another consumer
 * was faster or a row has changed since it was read.
 */
export async function requestNextOrders(job: JobCtx, batch: BatchRow): Promise<void> {
  const sums = structuredClone(batch.requested)
  const findAccount = buildAccountFinder(job)
  const { plannedOrders, lastOrder, isFinished } = await planStep(job, batch, sums, findAccount)
  const { statements, announcements, isArchived } = await buildRequests(job, batch, plannedOrders, {
    sums,
    findAccount,
  })
  if (isArchived) return cancelArchived(job, batch)
  const now = job.now()
  const changes = {
    requested: sums,
    cursor_created_at: lastOrder?.created_at ?? batch.cursor_created_at,
    cursor_seq: lastOrder?.seq ?? batch.cursor_seq,
    modified_at: now,
    ...(isFinished ? { status: 'finished' as const, ended_at: now } : {}),
  }
  await commitAnnounced(job, [...updateVersion(refundBatches, batch, changes), ...statements], announcements)
  if (statements.length) await Promise.allSettled([enqueueRefunds(job), enqueueEmails(job)])
}
