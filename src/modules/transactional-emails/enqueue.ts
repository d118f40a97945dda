import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { isPending } from './claim.ts'

/** Work that is due later than this is left to the sweep of each minute. */
const enqueueAheadMs = 900_000

/** When a message may be claimed: at its time, and after the end of an earlier claim. */
const freeAt: SQL = sql`max(due_at, coalesce(claimed_until, 0))`

/** Messages only say that work is due. The consumer reads the work from the table. */
export const enqueueEmails = (job: Pick<JobCtx, 'jobQueue'>, delayMs = 0): Promise<void> =>
  job.jobQueue.enqueue('emails', [{ type: 'email.send' }], delayMs / 1000)

const firstDue = async (job: JobCtx): Promise<number | null> => {
  const row = await job.db.first(sql<{ at: number | null }>`select min(${freeAt}) as at
    from transactional_emails where ${isPending}`)
  return row?.at ?? null
}

/** Enqueues a message when e-mails are due, for instance after a lost message, a crash or an expired claim. */
export async function sweepEmails(job: JobCtx): Promise<void> {
  const at = await firstDue(job)
  if (at !== null && at <= job.now()) await enqueueEmails(job)
}

/** Enqueues a delayed message for what is due soon, so that it does not wait for the sweep. */
export async function enqueueNextEmail(job: JobCtx): Promise<void> {
  const at = await firstDue(job)
  if (at !== null && at - job.now() <= enqueueAheadMs) await enqueueEmails(job, Math.max(0, at - job.now()))
}
