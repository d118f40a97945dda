import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable, isClaimed, release } from '../../db/claims.ts'
import { transactionalEmails } from '../../db/schema/messaging/transactional-emails.ts'
import { decodeAs } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import {
  emailClaimMs,
  type SendVerdict,
  transactionalEmailLifecycle,
} from '../../domain/messaging/transactional-emails.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { inList, inWords } from '../../db/visibility.ts'
import type { SuppressionReason } from '../../domain/messaging/suppressions.ts'
import { selectSuppressionReason } from '../suppressions/index.ts'

type EmailRow = typeof transactionalEmails.$inferSelect
/** A claimed message, and the reason why its address is suppressed. */
export type EmailClaim = EmailRow & { suppression: SuppressionReason | null }

const recipientPlace = {
  organization_id: sql`transactional_emails.organization_id`,
  channel: sql`'email'`,
  address: sql`transactional_emails.recipient`,
}

const pending = transactionalEmailLifecycle.initial

/** Written out, because the index of what is due has pending messages only and is not used for a bound value. */
export const isPending = inWords(sql`status`, [pending])

/** Claims due e-mails, the longest due first. After the claim another consumer may claim them as another attempt. */
export const claimEmails = (job: JobCtx, count: number): Promise<EmailClaim[]> => {
  const now = job.now()
  const claim = sql<EmailClaim>`update transactional_emails set attempts = attempts + 1,
      ${claimUntil(now, emailClaimMs)}, modified_at = ${now}
    where id in (select id from transactional_emails indexed by transactional_emails_due
      where ${isPending} and due_at <= ${now} and ${isClaimable(now)}
      order by due_at limit ${count})
    returning *, ${selectSuppressionReason(recipientPlace)} as suppression`
  return job.db.all(decodeAs(getTableColumns(transactionalEmails), claim))
}

/** The attempt that claimed the message is still the last one. */
const isSameAttempt = ({ id, attempts }: EmailClaim): SQL =>
  sql`id = ${id} and attempts = ${attempts} and status = ${pending}`

/**
 * Records the call that is about to be made. Its result is unknown until its answer is recorded. False when another
 * consumer has claimed the message since.
 */
export async function markCall(job: JobCtx, claim: EmailClaim, content: OutboundEmail): Promise<boolean> {
  const now = job.now()
  const call = {
    is_doubtful: true,
    provider: job.email.name,
    content: JSON.stringify(content),
    first_call_at: claim.first_call_at ?? now,
  }
  const isStillClaimed = sql`${isSameAttempt(claim)} and ${isClaimed(now)}`
  const marked = await job.db.all(sql`${update(transactionalEmails, call, isStillClaimed)} returning id`)
  return marked.length === 1
}

/** Records the result of an attempt while no other attempt has begun. A message that was sent is always recorded. */
export const recordVerdict = (job: JobCtx, claim: EmailClaim, verdict: SendVerdict): Promise<unknown> => {
  const now = job.now()
  const { keeps_content, ...columns } = verdict
  const isSent = verdict.status === 'sent'
  const changes = {
    ...columns,
    claimed_until: null,
    ...(keeps_content ? {} : { content: null }),
    sent_at: isSent ? now : null,
    modified_at: now,
  }
  const isOpen = sql`id = ${claim.id} and ${inList(sql`status`, transactionalEmailLifecycle.sourcesOf('sent'))}`
  return job.db.all(update(transactionalEmails, changes, isSent ? isOpen : isSameAttempt(claim)))
}

/** Releases claims of which no attempt was begun. They do not count as attempts. */
export const releaseEmails = (job: JobCtx, claims: readonly EmailClaim[], until: number): Promise<unknown> =>
  job.db.all(sql`update transactional_emails set attempts = attempts - 1, ${release},
      due_at = max(due_at, ${until})
    where status = ${pending} and (id, attempts) in
      (select value ->> 0, value ->> 1 from json_each(${JSON.stringify(claims.map(({ id, attempts }) => [id, attempts]))}))`)

/** Records as sent a message that failed because no answer came, and that the provider reports as sent. */
export const sentAfterAll = (id: string, providerId: string | null, at: number): SQL => {
  const sent = { status: 'sent', sent_at: at, provider_id: providerId, error_code: null, error_detail: '' } as const
  const { status, error_code } = transactionalEmails
  const isUnanswered = sql`id = ${id} and ${eq(status, 'failed')} and ${eq(error_code, 'unknown')}`
  return update(transactionalEmails, { ...sent, modified_at: at }, isUnanswered)
}
