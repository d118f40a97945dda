import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { refundBatches } from '../../db/schema/sales/refund-batches.ts'
import { updateVersion } from '../../db/write.ts'
import { superuser } from '../../domain/accounts/access.ts'
import { listChanges, systemActor } from '../../domain/audit.ts'
import {
  addPlan,
  type BatchSums,
  type OrderPlan,
  planOrder,
  withoutRequest,
} from '../../domain/refunds/refund-batches.ts'
import { auditStatement } from '../audit-log/index.ts'
import { enqueueRefunds } from '../refund-payments/index.ts'
import {
  batchRequestStatements,
  type FindAccount,
  findSubjects,
  type PaidSubject,
  payingBack,
} from '../refunds/index.ts'
import { enqueueEmails } from '../transactional-emails/index.ts'
import { type Announcement, commitAnnounced } from '../webhooks/index.ts'
import { accountsOf, planOf } from './plan.ts'
import type { BatchRow } from './queries.ts'
import { termsOf, walk, type WalkedOrder } from './walk.ts'

/** Requests of one transaction: each is some ten statements. */
const requestsAStep = 10
const enoughRequests = 5
/** Orders that a step reads at first, and then: most batches choose nearly all orders, some choose few of many. */
const ordersAWalk = [requestsAStep, 50, 150]

interface WalkedPlan {
  order: WalkedOrder
  plan: OrderPlan
}

interface Looked {
  /** Orders that get a request. */
  found: WalkedPlan[]
  last: WalkedOrder | undefined
  isOver: boolean
}

/** Reads orders, and more of them while few get a request. Orders without a request are added to `sums`. */
async function look(job: JobCtx, batch: BatchRow, sums: BatchSums, findAccount: FindAccount): Promise<Looked> {
  const found: WalkedPlan[] = []
  let last: WalkedOrder | undefined
  for (const size of ordersAWalk) {
    const from = last ? { ...batch, cursor_created_at: last.created_at, cursor_seq: last.seq } : batch
    const orders = await walk(job, from, size)
    for (const order of orders) {
      if (found.length === requestsAStep) return { found, last, isOver: false }
      last = order
      if (order.is_requested) continue
      const plan = await planOf(job, batch, order, findAccount)
      if (plan.purchases.length) found.push({ order, plan })
      else addPlan(sums, plan, order.currency)
    }
    if (orders.length < size) return { found, last, isOver: true }
    if (found.length >= enoughRequests) break
  }
  return { found, last, isOver: false }
}

/** The plan, made again of the rows for the request. It may not exceed the sums of the dry run. */
function planAgain(batch: BatchRow, sums: BatchSums, { order }: WalkedPlan, subject: PaidSubject): OrderPlan {
  const chosen = new Set(order.purchases.flatMap(({ id, is_chosen }) => (is_chosen ? [id] : [])))
  const plan = planOrder(
    {
      payment_status: subject.transaction_status,
      payment_rest: subject.rest_minor,
      payment_reserved: subject.reserved_minor ?? 0,
      purchases: subject.purchases.map((purchase) => ({ ...purchase, is_chosen: chosen.has(purchase.id) })),
    },
    termsOf(batch),
  )
  const { amounts } = batch.counted
  const { currency } = subject
  const isWithin = (sums.amounts[currency] ?? 0) + plan.amount_minor <= (amounts[currency] ?? 0)
  return isWithin ? plan : withoutRequest(plan, 'beyond_draft')
}

const requestOf = (batch: BatchRow) => ({
  id: batch.id,
  reason: batch.reason,
  source: batch.source,
  includes_fees: batch.include_fees,
  cancels: batch.cancel_purchases,
  notifies: batch.notify_customers,
  created_by: batch.created_by,
  started_by: batch.started_by ?? batch.created_by,
  started_at: batch.started_at ?? batch.created_at,
})

interface Requests {
  statements: Statement[]
  announcements: Announcement[]
  isArchived: boolean
}

/** The requests for these orders as they are now. The requested amounts are added to `sums`. */
async function requestsOf(
  job: JobCtx,
  batch: BatchRow,
  found: readonly WalkedPlan[],
  { sums, findAccount }: { sums: BatchSums; findAccount: FindAccount },
): Promise<Requests> {
  const requests: Requests = { statements: [], announcements: [], isArchived: false }
  if (found.length === 0) return requests
  const targets = found.map(({ order }) => ({ kind: 'order' as const, id: order.id }))
  const subjects = await findSubjects({ db: job.db, caller: superuser }, targets, batch.include_fees)
  // Orders of the same transaction may share a payment.
  const requested = new Map<string, number>()
  for (const [index, one] of found.entries()) {
    const subject = subjects[index]
    if (!subject) continue
    if (subject.is_archived) return { statements: [], announcements: [], isArchived: true }
    const reference = subject.provider_reference ?? ''
    const shared = (subject.shared_minor ?? Number.POSITIVE_INFINITY) - (requested.get(reference) ?? 0)
    const paid: PaidSubject = {
      ...subject,
      transaction_id: subject.transaction_id ?? '',
      rest_minor: Math.max(0, Math.min(subject.rest_minor, shared)),
    }
    const plan = planAgain(batch, sums, one, paid)
    const paying = plan.purchases.length ? await payingBack(job, paid, plan.amount_minor, findAccount) : null
    const made = paying || plan.purchases.length === 0 ? plan : withoutRequest(plan, 'merchant_not_ready')
    addPlan(sums, made, paid.currency)
    if (!paying) continue
    const { purchases, amount_minor } = made
    requested.set(reference, (requested.get(reference) ?? 0) + amount_minor)
    const request = { batch: requestOf(batch), purchases, amount_minor, paying }
    const changes = await batchRequestStatements(job, paid, request)
    requests.statements.push(...changes.statements)
    requests.announcements.push(...changes.announcements)
  }
  return requests
}

/** An archived edition does not change any more: the batch ends as if it had been cancelled. */
function endArchived(job: JobCtx, batch: BatchRow): Promise<void> {
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
      auditStatement({ caller: actor, requestId: batch.id, now, id: job.newId('audit_entry') }, entry),
    ],
    [],
  )
}

/**
 * Makes the next requests of a batch in the transaction that moves its cursor. Throws LostRace when another consumer
 * was faster, or when a row that was read has changed.
 */
export async function requestNext(job: JobCtx, batch: BatchRow): Promise<void> {
  const sums = structuredClone(batch.requested)
  const findAccount = accountsOf(job)
  const { found, last, isOver } = await look(job, batch, sums, findAccount)
  const { statements, announcements, isArchived } = await requestsOf(job, batch, found, { sums, findAccount })
  if (isArchived) return endArchived(job, batch)
  const now = job.now()
  const changes = {
    requested: sums,
    cursor_created_at: last?.created_at ?? batch.cursor_created_at,
    cursor_seq: last?.seq ?? batch.cursor_seq,
    modified_at: now,
    ...(isOver ? { status: 'finished' as const, ended_at: now } : {}),
  }
  await commitAnnounced(job, [...updateVersion(refundBatches, batch, changes), ...statements], announcements)
  if (statements.length) await Promise.allSettled([enqueueRefunds(job), enqueueEmails(job)])
}
