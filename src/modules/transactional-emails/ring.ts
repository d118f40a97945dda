import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'

/** Further ahead than this the sweep of each minute is near enough. */
const ringAheadMs = 900_000

/** When a message may be taken: it waits for its time, or for the lease of whoever took it. */
export const freeAt: SQL = sql`max(next_attempt_at, coalesce(lease_until, 0))`

/** A doorbell only: who comes finds in the table what is due. */
export const ringEmails = (job: Pick<JobCtx, 'doorbell'>, delayMs = 0): Promise<void> =>
  job.doorbell.ring('emails', [{ type: 'email.send' }], delayMs / 1000)

const firstDue = async (job: JobCtx): Promise<number | null> => {
  const row = await job.db.first(sql<{ at: number | null }>`select min(${freeAt}) as at
    from transactional_emails where status = 'pending'`)
  return row?.at ?? null
}

/** Rings when something is due: what a lost message, a crash or an expired lease left behind. */
export async function sweepEmails(job: JobCtx): Promise<void> {
  const at = await firstDue(job)
  if (at !== null && at <= job.now()) await ringEmails(job)
}

/** Rings ahead of time for what is due soon, so that it need not wait for the sweep. */
export async function ringNextEmail(job: JobCtx): Promise<void> {
  const at = await firstDue(job)
  if (at !== null && at - job.now() <= ringAheadMs) await ringEmails(job, Math.max(0, at - job.now()))
}
