import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { isPending } from './claim.ts'

/** Later e-mails are left to the sweep of each minute. */
const maxDelayMs = 900_000

/** When the e-mail is due and no consumer holds it. */
const claimableAt: SQL = sql`max(due_at, coalesce(claimed_until, 0))`

/** The queue message only says that there is work; the consumer reads the work from the table. */
export const enqueueEmails = (job: Pick<JobCtx, 'jobQueue'>, delayMs = 0): Promise<void> =>
  job.jobQueue.enqueue('emails', [{ type: 'email.send' }], delayMs / 1000)

const findNextDue = async (job: JobCtx): Promise<number | null> => {
  const row = await job.db.first(sql<{ at: number | null }>`select min(${claimableAt}) as at
    from transactional_emails where ${isPending}`)
  return row?.at ?? null
}

/** Finds work whose queue message was lost, or whose consumer died. */
export async function sweepEmails(job: JobCtx): Promise<void> {
  const at = await findNextDue(job)
  if (at !== null && at <= job.now()) await enqueueEmails(job)
}

/** Lets e-mails that are due soon start on time instead of at the next sweep. */
export async function enqueueNextEmail(job: JobCtx): Promise<void> {
  const at = await findNextDue(job)
  if (at !== null && at - job.now() <= maxDelayMs) await enqueueEmails(job, Math.max(0, at - job.now()))
}
