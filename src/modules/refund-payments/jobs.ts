import { gt, sql } from 'drizzle-orm'
import type { JobCtx, PayRefundsMessage } from '../../context.ts'
import { isClaimable } from '../../db/claims.ts'
import type { RefundRow } from '../../db/rows.ts'
import { refundRequests } from '../../db/schema/refunds.ts'
import { select } from '../../db/select.ts'
import { dayMs } from '../../domain/time/instants.ts'
import { enqueueRefunds } from './enqueue.ts'
import { claimRefunds, releaseRefunds } from './provider/claim.ts'
import { payRefund } from './provider/pay.ts'

/** After this time, a consumer leaves the remaining refunds to the next one. */
const shiftMs = 20_000
/** Workers have six connections per invocation; one is for the database. */
const callsAtOnce = 5
const claimsAtOnce = 2 * callsAtOnce
/** The sweep enqueues checks that are due later than this. */
const maxDelayMs = 900_000
/** Longer than providers repeat their webhooks. */
const eventRetentionMs = 35 * dayMs
const eventsPerSweep = 1000

export const isPayRefundsMessage = (body: unknown): body is PayRefundsMessage =>
  typeof body === 'object' && body !== null && (body as Partial<PayRefundsMessage>).type === 'refund.pay'

/** Pays claimed refunds, a few at once. It takes refunds off `queue`, and begins no more after an unexpected error. */
async function payQueued(job: JobCtx, queue: RefundRow[], errors: unknown[]): Promise<void> {
  const worker = async () => {
    while (errors.length === 0) {
      const claim = queue.shift()
      if (!claim) return
      try {
        await payRefund(job, claim)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, worker))
}

const findNextDueTime = async ({ db, now }: JobCtx): Promise<number | null> => {
  const time = sql<number | null>`min(${refundRequests.due_at})`
  const row = await db.first(select({ time }).from(refundRequests).where(gt(refundRequests.due_at, now())))
  return row?.time ?? null
}

/** Pays due refunds until none is left. After a crash, claims end and the sweep sends a message again. */
export async function payRefunds(job: JobCtx): Promise<void> {
  const endsAt = job.now() + shiftMs
  const errors: unknown[] = []
  for (;;) {
    const queue = await claimRefunds(job, claimsAtOnce)
    if (queue.length === 0) break
    await payQueued(job, queue, errors)
    if (queue.length) await releaseRefunds(job, queue)
    if (errors.length) throw new Error('refunds could not be paid', { cause: errors[0] })
    if (job.now() >= endsAt) return enqueueRefunds(job)
  }
  const dueAt = await findNextDueTime(job)
  if (dueAt !== null && dueAt - job.now() <= maxDelayMs) await enqueueRefunds(job, Math.max(0, dueAt - job.now()))
}

/** Sends a message when refunds are due, because messages get lost and claims end. */
export async function sweepRefunds(job: JobCtx): Promise<void> {
  const dueRefund = await job.db.first(sql<{ id: string }>`select id from refund_requests indexed by refund_requests_due
    where due_at <= ${job.now()} and ${isClaimable(job.now())} limit 1`)
  if (dueRefund) await enqueueRefunds(job)
}

export const sweepPaymentEvents = ({ db, now }: JobCtx): Promise<unknown> =>
  db.all(sql`delete from payment_events where (merchant_account_id, id) in (select merchant_account_id, id
    from payment_events where created_at <= ${now() - eventRetentionMs} order by created_at limit ${eventsPerSweep})`)
