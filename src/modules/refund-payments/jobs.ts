import { gt, sql } from 'drizzle-orm'
import type { JobCtx, PayRefundsMessage } from '../../context.ts'
import { refundRequests, type RefundRow } from '../../db/schema/sales/refunds.ts'
import { select } from '../../db/select.ts'
import { dayMs } from '../../domain/time/instants.ts'
import { claimRefunds, releaseRefunds } from './provider/claim.ts'
import { enqueueRefunds } from './enqueue.ts'
import { payRefund } from './provider/pay.ts'

/** A consumer works this long on what it finds before it leaves the rest to the next. */
const shiftMs = 20_000
/** The platform opens six connections for an invocation; one is left for the database. */
const callsAtOnce = 5
const claimsAtOnce = 2 * callsAtOnce
/** Checks further ahead than this are left to the sweep of each minute. */
const aheadMs = 900_000
/** Events are kept longer than a provider repeats its webhooks. */
const eventsKeptMs = 35 * dayMs
const eventsASweep = 1000

export const isPayRefundsMessage = (body: unknown): body is PayRefundsMessage =>
  typeof body === 'object' && body !== null && (body as Partial<PayRefundsMessage>).type === 'refund.pay'

/**
 * Pays claimed refunds, a few at once. After an unexpected error no further refund is begun; leases keep those under
 * way.
 */
async function payAll(job: JobCtx, waiting: RefundRow[], faults: unknown[]): Promise<void> {
  const worker = async () => {
    while (faults.length === 0) {
      const claim = waiting.shift()
      if (!claim) return
      try {
        await payRefund(job, claim)
      } catch (error) {
        faults.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, worker))
}

const nextDue = async ({ db, now }: JobCtx): Promise<number | null> => {
  const at = sql<number | null>`min(${refundRequests.due_at})`
  const row = await db.first(select({ at }).from(refundRequests).where(gt(refundRequests.due_at, now())))
  return row?.at ?? null
}

/** Pays due refunds until none is left. A crash loses nothing: leases run out, and the sweep sends a message again. */
export async function payRefunds(job: JobCtx): Promise<void> {
  const endsAt = job.now() + shiftMs
  const faults: unknown[] = []
  for (;;) {
    const waiting = await claimRefunds(job, claimsAtOnce)
    if (waiting.length === 0) break
    await payAll(job, waiting, faults)
    if (waiting.length) await releaseRefunds(job, waiting)
    if (faults.length) throw new Error('refunds could not be paid', { cause: faults[0] })
    if (job.now() >= endsAt) return enqueueRefunds(job)
  }
  const at = await nextDue(job)
  if (at !== null && at - job.now() <= aheadMs) await enqueueRefunds(job, Math.max(0, at - job.now()))
}

/** Sends a message when refunds are due, because messages get lost and leases run out. */
export async function sweepRefunds(job: JobCtx): Promise<void> {
  const due = await job.db.first(sql<{ id: string }>`select id from refund_requests indexed by refund_requests_due
    where due_at <= ${job.now()} and coalesce(lease_until, 0) <= ${job.now()} limit 1`)
  if (due) await enqueueRefunds(job)
}

export const sweepPaymentEvents = ({ db, now }: JobCtx): Promise<unknown> =>
  db.all(sql`delete from payment_events where (merchant_account_id, id) in (select merchant_account_id, id
    from payment_events where created_at <= ${now() - eventsKeptMs} order by created_at limit ${eventsASweep})`)
