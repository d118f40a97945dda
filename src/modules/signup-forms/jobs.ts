import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { deleteOldSignupEmails, deleteSignupEmails } from '../transactional-emails/index.ts'

const requestsPerSweep = 500

/** Deletes requests that have expired, confirmed or not, with their e-mails. */
export async function sweepSignups({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  const at = now()
  const expiredRequests = sql`select id from signup_requests where expires_at <= ${at}
    order by expires_at limit ${requestsPerSweep}`
  await db.batch([
    deleteSignupEmails(expiredRequests),
    sql`delete from signup_requests where id in (${expiredRequests})`,
    deleteOldSignupEmails(at, requestsPerSweep),
  ])
}
