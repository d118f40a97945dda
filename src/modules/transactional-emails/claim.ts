import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { transactionalEmails } from '../../db/schema/messaging/transactional-emails.ts'
import { emailLeaseMs, type SendVerdict } from '../../domain/messaging/transactional-emails.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { suppressionReasonAt } from '../suppressions/index.ts'

type EmailRow = typeof transactionalEmails.$inferSelect
/** The row as it is since it was taken, and for what its address is suppressed. */
export type EmailClaim = EmailRow & { suppression: string | null }

const recipientPlace = {
  organization_id: sql`transactional_emails.organization_id`,
  channel: sql`'email'`,
  address: sql`transactional_emails.recipient`,
}

/**
 * Claims what is due, the longest due first. No other consumer gets it before the lease ends, and then as another
 * attempt.
 */
export const claimEmails = (job: JobCtx, count: number): Promise<EmailClaim[]> => {
  const now = job.now()
  return job.db.all(sql<EmailClaim>`update transactional_emails set attempts = attempts + 1,
      lease_until = ${now + emailLeaseMs}, modified_at = ${now}
    where id in (select id from transactional_emails indexed by transactional_emails_due
      where status = 'pending' and next_attempt_at <= ${now} and coalesce(lease_until, 0) <= ${now}
      order by next_attempt_at limit ${count})
    returning *, ${suppressionReasonAt(recipientPlace)} as suppression`)
}

/**
 * Records the call that is about to be made. From here on its result is unknown until its answer is
 * recorded. False when another consumer has taken the message since.
 */
export async function markCall(job: JobCtx, claim: EmailClaim, content: OutboundEmail): Promise<boolean> {
  const marked = await job.db.all(sql`update transactional_emails set is_doubtful = 1, provider = ${job.email.name},
      content = ${JSON.stringify(content)}, first_call_at = coalesce(first_call_at, ${job.now()})
    where id = ${claim.id} and attempts = ${claim.attempts} and status = 'pending' and lease_until > ${job.now()}
    returning id`)
  return marked.length === 1
}

/** The result of an attempt. It is recorded only while no other attempt has begun; `sent` is always recorded. */
export const recordVerdict = (job: JobCtx, claim: EmailClaim, verdict: SendVerdict): Promise<unknown> => {
  const now = job.now()
  const { status, next_attempt_at, is_doubtful, keeps_content, provider_id, error_code, error_detail } = verdict
  return job.db.all(sql`update transactional_emails set status = ${status}, next_attempt_at = ${next_attempt_at},
      lease_until = null, is_doubtful = ${is_doubtful}, provider_id = ${provider_id}, error_code = ${error_code},
      error_detail = ${error_detail}, content = iif(${keeps_content}, content, null),
      sent_at = iif(${status} = 'sent', ${now}, null), modified_at = ${now}
    where id = ${claim.id} and ((attempts = ${claim.attempts} and status = 'pending')
      or (${status} = 'sent' and status <> 'sent'))`)
}

/** Gives back what was taken and not begun: the attempt was none. */
export const releaseEmails = (job: JobCtx, claims: readonly EmailClaim[], until: number): Promise<unknown> =>
  job.db.all(sql`update transactional_emails set attempts = attempts - 1, lease_until = null,
      next_attempt_at = max(next_attempt_at, ${until})
    where status = 'pending' and (id, attempts) in
      (select value ->> 0, value ->> 1 from json_each(${JSON.stringify(claims.map(({ id, attempts }) => [id, attempts]))}))`)

/** A message that failed because no answer came, and that the provider reports as sent. */
export const sentAfterAll = (id: string, providerId: string | null, at: number): SQL =>
  sql`update transactional_emails set status = 'sent', sent_at = ${at}, provider_id = ${providerId}, error_code = null,
      error_detail = '', modified_at = ${at}
    where id = ${id} and status = 'failed' and error_code = 'unknown'`
