import { type SQL, sql } from 'drizzle-orm'
import type { EmailSendMessage, JobCtx } from '../../context.ts'
import {
  createFailure,
  describeMissingProvider,
  describeSendFault,
  noProvider,
  providerNotConfigured,
} from '../../domain/messaging/messaging.ts'
import { testRetentionMs } from '../../domain/messaging/test-messages.ts'
import {
  configurationRestMs,
  createFailedVerdict,
  judgeSend,
  isBlockedBySuppression,
  mayRepeat,
  type SendVerdict,
  withholdingReasons,
} from '../../domain/messaging/transactional-emails.ts'
import {
  type EmailClaim,
  claimEmails,
  holdEmails,
  isPending,
  recordCall,
  recordVerdict,
  releaseEmails,
} from './claim.ts'
import { composeEmail } from './compose.ts'
import { enqueueEmails } from './enqueue.ts'

/** A consumer stops claiming after this time and leaves the rest to the next one. */
const claimingMs = 20_000
/** A Worker has six connections at a time; one is left for the database. */
const concurrentCalls = 5
const claimSize = 4 * concurrentCalls

export const isEmailSendMessage = (body: unknown): body is EmailSendMessage =>
  typeof body === 'object' && body !== null && (body as Partial<EmailSendMessage>).type === 'email.send'

/** Returns the time until which all e-mails have to wait, if the provider asks for a pause; null otherwise. */
async function attemptEmail(job: JobCtx, claim: EmailClaim): Promise<number | null> {
  const record = (verdict: SendVerdict) => recordVerdict(job, claim, verdict)
  const { deduplicates, name } = job.email
  const isSameProvider = claim.provider === null || claim.provider === name
  if (!mayRepeat(claim, deduplicates && isSameProvider, job.now())) {
    await record(createFailedVerdict('unknown', 'The provider did not answer, so the e-mail may have been sent.'))
    return null
  }
  const { suppression, suppressed_at, withheld_for } = claim
  if (withheld_for !== null) {
    await record(createFailedVerdict(claim.is_doubtful ? 'unknown' : withheld_for, withholdingReasons[withheld_for]))
    return null
  }
  if (
    suppression !== null &&
    suppressed_at !== null &&
    isBlockedBySuppression({ ...claim, suppression, suppressed_at })
  ) {
    await record(createFailedVerdict('suppressed', suppression))
    return null
  }
  const composedEmail = await composeEmail(job, claim)
  if ('verdict' in composedEmail) {
    await record(composedEmail.verdict)
    return null
  }
  if (!(await recordCall(job, claim, composedEmail.email))) return null
  const [result] = await job.email.send([composedEmail.email], claim.id)
  const verdict = judgeSend(
    { ...claim, first_call_at: claim.first_call_at ?? job.now() },
    result ?? createFailure('unknown', 'no_result', 'The provider returned no result for this e-mail.'),
    deduplicates,
    job.now(),
  )
  await recordVerdict(job, claim, verdict, result && !result.ok ? describeSendFault('email', result) : null)
  const concernsAllEmails = result && !result.ok && (result.kind === 'rate_limited' || result.kind === 'configuration')
  return concernsAllEmails ? verdict.due_at : null
}

/** A consumer stops after an error of its own, and when the provider asks for a pause. */
interface StopReasons {
  errors: unknown[]
  pausedUntil: number | null
}

const mayContinue = (stops: StopReasons): boolean => stops.errors.length === 0 && stops.pausedUntil === null

/** Claims that were not attempted before a reason to stop stay in `waiting`. */
async function attemptAll(job: JobCtx, waitingEmails: EmailClaim[], stops: StopReasons): Promise<void> {
  const worker = async () => {
    while (mayContinue(stops)) {
      const claim = waitingEmails.shift()
      if (!claim) return
      try {
        stops.pausedUntil = (await attemptEmail(job, claim)) ?? stops.pausedUntil
      } catch (error) {
        // The claim is not released: the e-mail is attempted again when the claim expires.
        stops.errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrentCalls }, worker))
}

/** Without a provider e-mails wait for one, and say so. */
async function holdUnsendableEmails(job: JobCtx): Promise<void> {
  const reason = { code: providerNotConfigured, detail: describeMissingProvider('email') }
  await holdEmails(job, reason, job.now() + configurationRestMs)
  await enqueueNextEmail(job)
}

/** A crash loses nothing: the claim expires, and the sweep enqueues the e-mail again. */
export async function sendEmails(job: JobCtx): Promise<void> {
  if (job.email.name === noProvider) return holdUnsendableEmails(job)
  const endsAt = job.now() + claimingMs
  const stops: StopReasons = { errors: [], pausedUntil: null }
  while (mayContinue(stops) && job.now() < endsAt) {
    const waitingEmails = await claimEmails(job, claimSize)
    if (waitingEmails.length === 0) break
    await attemptAll(job, waitingEmails, stops)
    if (waitingEmails.length) await releaseEmails(job, waitingEmails, stops.pausedUntil ?? job.now())
  }
  if (stops.errors.length) throw new Error('E-mails could not be sent.', { cause: stops.errors[0] })
  await enqueueNextEmail(job)
}

/** Later e-mails are left to the sweep of each minute. */
const maxDelayMs = 900_000

/** The time at which the e-mail is due and no consumer holds it. */
const claimableAt: SQL = sql`max(due_at, coalesce(claimed_until, 0))`

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
async function enqueueNextEmail(job: JobCtx): Promise<void> {
  const at = await findNextDue(job)
  if (at !== null && at - job.now() <= maxDelayMs) await enqueueEmails(job, Math.max(0, at - job.now()))
}

const deletedPerSweep = 500

/** Deletes test messages that no limit and no event of the provider looks at any more. */
export async function sweepTestMessages({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  await db.all(sql`delete from transactional_emails where id in (select id from transactional_emails
    indexed by transactional_emails_of_old_tests
    where kind = 'test_message' and created_at <= ${now() - testRetentionMs} order by created_at limit ${deletedPerSweep})`)
}
