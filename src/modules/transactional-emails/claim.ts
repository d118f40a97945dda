import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable, isClaimed, release } from '../../db/claims.ts'
import { inList, inWords } from '../../db/conditions.ts'
import type { OutageRow } from '../../db/outages.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { decodeAs } from '../../db/select.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import { update } from '../../db/write.ts'
import type { SuppressionReason } from '../../domain/messaging/suppressions.ts'
import { testPatienceMs } from '../../domain/messaging/test-messages.ts'
import {
  configurationPatienceMs,
  emailClaimMs,
  type SendVerdict,
  transactionalEmailLifecycle,
  type WithholdingCode,
} from '../../domain/messaging/transactional-emails.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { selectSuppression } from '../suppressions/index.ts'

type EmailRow = typeof transactionalEmails.$inferSelect
/**
 * `suppression` is the reason why the address gets no e-mail, and `suppressed_at` since when; both are null when it is not
 * suppressed. `withheld_for` is the reason why a receipt or a test message is not sent any more.
 */
export type EmailClaim = EmailRow & {
  suppression: SuppressionReason | null
  suppressed_at: number | null
  withheld_for: WithholdingCode | null
}

/** A message of an organisation. */
export type OrganizationClaim = EmailClaim & { organization_id: string }

export const isOrganizationClaim = (claim: EmailClaim): claim is OrganizationClaim => claim.organization_id !== null

/** A message to a customer. */
export type CustomerClaim = OrganizationClaim & { user_id: string }

export const isCustomerClaim = (claim: OrganizationClaim): claim is CustomerClaim => claim.user_id !== null

const recipientAddress = {
  organization_id: sql`transactional_emails.organization_id`,
  channel: sql`'email'`,
  address: sql`transactional_emails.recipient`,
}

const pendingStatus = transactionalEmailLifecycle.initial

/** Written out, because SQLite does not use the partial index `transactional_emails_due` for a bound value. */
export const isPending = inWords(sql`status`, [pendingStatus])

export interface HoldReason {
  code: string
  detail: string
}

/**
 * A receipt goes to the address that the customer has now, unless an earlier call may have sent it already. Content for
 * another address is built again.
 */
const presentRecipient = sql`iif(kind = 'receipt' and not is_doubtful,
  coalesce((select email from users where users.id = transactional_emails.user_id), ''), recipient)`

/** The order may be cancelled, or its receipt sent again, while a consumer attempts this one. */
const selectWithholding = (now: number): SQL => sql`case
  when kind = 'test_message' then iif(created_at <= ${now - testPatienceMs}, 'expired', null)
  when kind <> 'receipt' then null
  when exists (select 1 from orders where orders.id = order_id and orders.status = 'cancelled') then 'order_cancelled'
  when exists (select 1 from transactional_emails as later where later.order_id = transactional_emails.order_id
    and later.kind = 'receipt' and later.resend_number > transactional_emails.resend_number) then 'superseded' end`

/**
 * Claims codes to sign in with, for which people wait, and then the e-mails that have been due longest. When the claim
 * expires, another consumer may attempt them again.
 */
export const claimEmails = (job: JobCtx, count: number): Promise<EmailClaim[]> => {
  const now = job.now()
  const selectDue = (
    index: SQL,
    kinds: SQL,
  ) => sql`select id from (select id from transactional_emails indexed by ${index}
    where ${isPending} and ${kinds} and due_at <= ${now} and ${isClaimable(now)} order by due_at limit ${count})`
  const dueCodes = selectDue(sql`transactional_emails_due_codes`, sql`sign_in_code_id is not null`)
  const otherEmails = selectDue(sql`transactional_emails_due`, sql`sign_in_code_id is null`)
  const claim = sql<EmailClaim>`update transactional_emails set attempts = attempts + 1, recipient = ${presentRecipient},
      content = iif(recipient = ${presentRecipient}, content, null), ${claimUntil(now, emailClaimMs)}, modified_at = ${now}
    where id in (${dueCodes} union all ${otherEmails} limit ${count})
    returning *, ${selectSuppression('reason', recipientAddress)} as suppression,
      ${selectSuppression('created_at', recipientAddress)} as suppressed_at,
      ${selectWithholding(now)} as withheld_for`
  return job.db.all(decodeAs(getTableColumns(transactionalEmails), claim))
}

/** Nobody has claimed the message since. */
const isSameAttempt = ({ id, attempts }: EmailClaim): SQL =>
  sql`id = ${id} and attempts = ${attempts} and status = ${pendingStatus}`

/**
 * Records a call before it is made, with its content if an organisation sends it: codes to sign in with are not stored. If
 * this consumer dies, the message is known to be doubtful. Returns false if the claim has expired or another consumer
 * has claimed the message since.
 */
export async function recordCall(job: JobCtx, claim: EmailClaim, content: OutboundEmail): Promise<boolean> {
  const now = job.now()
  const call = {
    is_doubtful: true,
    provider: job.email.name,
    content: isOrganizationClaim(claim) ? JSON.stringify(content) : null,
    first_call_at: claim.first_call_at ?? now,
  }
  const isStillClaimed = sql`${isSameAttempt(claim)} and ${isClaimed(now)}`
  const recordedRows = await job.db.all(sql`${update(transactionalEmails, call, isStillClaimed)} returning id`)
  return recordedRows.length === 1
}

const noWaitColumns = { waiting_reason: null, waiting_since: null }

/** A later attempt supersedes this result, unless this attempt sent the message. */
export const recordVerdict = (
  job: JobCtx,
  claim: EmailClaim,
  verdict: SendVerdict,
  waitingReason: string | null = null,
): Promise<unknown> => {
  const now = job.now()
  const { keeps_content, ...columns } = verdict
  const isSent = verdict.status === 'sent'
  // The content of a test message is the only copy of it.
  const keepsContent = keeps_content || (claim.kind === 'test_message' && verdict.status === pendingStatus)
  const changes = {
    ...columns,
    claimed_until: null,
    ...(keepsContent ? {} : { content: null }),
    ...(verdict.status === pendingStatus && waitingReason !== null
      ? { waiting_reason: waitingReason, waiting_since: claim.waiting_since ?? now }
      : noWaitColumns),
    sent_at: isSent ? now : null,
    modified_at: now,
  }
  const isUnsent = sql`id = ${claim.id} and ${inList(sql`status`, transactionalEmailLifecycle.sourcesOf('sent'))}`
  return job.db.all(update(transactionalEmails, changes, isSent ? isUnsent : isSameAttempt(claim)))
}

/** Releases claims that were not attempted, so that they do not count as attempts. */
export const releaseEmails = (job: JobCtx, claims: readonly EmailClaim[], until: number): Promise<unknown> =>
  job.db.all(sql`update transactional_emails set attempts = attempts - 1, ${release},
      due_at = max(due_at, ${until})
    where status = ${pendingStatus} and (id, attempts) in
      (select value ->> 0, value ->> 1 from json_each(${JSON.stringify(claims.map(({ id, attempts }) => [id, attempts]))}))`)

const maxHeldEmails = 1000

/**
 * Stores why e-mails that are due are not sent, and when they are attempted next. E-mails that have waited for a week
 * fail, and test messages that have waited for a day. Each call handles a bounded number.
 */
export async function holdEmails(job: JobCtx, reason: HoldReason, until: number): Promise<void> {
  const now = job.now()
  const changes = { error_code: reason.code, error_detail: reason.detail, modified_at: now }
  const isDue = sql`id in (select id from transactional_emails indexed by transactional_emails_due
    where ${isPending} and due_at <= ${now} and ${isClaimable(now)} order by due_at limit ${maxHeldEmails})`
  const isTooOld = sql`created_at <= iif(kind = 'test_message', ${now - testPatienceMs}, ${now - configurationPatienceMs})`
  await job.db.batch([
    update(
      transactionalEmails,
      { ...changes, ...noWaitColumns, status: 'failed' as const, due_at: null, content: null },
      sql`${isDue} and ${isTooOld}`,
    ),
    update(
      transactionalEmails,
      {
        ...changes,
        waiting_reason: reason.detail,
        waiting_since: sql`coalesce(waiting_since, ${now})`,
        due_at: until,
      },
      isDue,
    ),
  ])
}

/** A call without an answer counts as failed. Its message becomes sent when the provider reports it later. */
export const recordLateSuccess = (id: string, providerId: string | null, at: number): SQL => {
  const changes = {
    status: 'sent',
    sent_at: at,
    provider_id: providerId,
    error_code: null,
    error_detail: '',
    ...noWaitColumns,
    modified_at: at,
  } as const
  const { status, error_code } = transactionalEmails
  const isResultUnknown = sql`id = ${id} and ${eq(status, 'failed')} and ${eq(error_code, 'unknown')}`
  return update(transactionalEmails, changes, isResultUnknown)
}

/** Selects the message that has waited for the provider longest. */
export const selectEmailWaits: SQL<OutageRow> = sql`select 'email' as service, '' as resource_id,
    waiting_reason as reason, waiting_since as since, due_at as next_attempt_at
  from transactional_emails where ${isPending} and waiting_since is not null order by waiting_since limit 1`

export const selectEmailWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'transactional_emails',
    from: sql`transactional_emails indexed by transactional_emails_due`,
    where: isPending,
    dueAt: sql`due_at`,
  })
