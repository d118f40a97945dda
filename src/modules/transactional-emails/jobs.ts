import type { EmailSendMessage, JobCtx } from '../../context.ts'
import { createFailure } from '../../domain/messaging/messaging.ts'
import {
  failedFor,
  judgeSend,
  keepsBack,
  mayRepeat,
  type SendVerdict,
} from '../../domain/messaging/transactional-emails.ts'
import { type EmailClaim, claimEmails, markCall, recordVerdict, releaseEmails } from './claim.ts'
import { compose } from './compose.ts'
import { enqueueNextEmail } from './enqueue.ts'

export { sweepEmails } from './enqueue.ts'

/** A consumer claims messages for this long, and leaves the rest to the next one. */
const shiftMs = 20_000
/** The platform opens six connections for a consumer; one is left for the database. */
const callsAtOnce = 5
const atOnce = 4 * callsAtOnce

export const isEmailSendMessage = (body: unknown): body is EmailSendMessage =>
  typeof body === 'object' && body !== null && (body as Partial<EmailSendMessage>).type === 'email.send'

/** Sends one claimed message. Answers the end of the pause that the provider requests, if it does. */
async function attempt(job: JobCtx, claim: EmailClaim): Promise<number | null> {
  const end = (verdict: SendVerdict) => recordVerdict(job, claim, verdict)
  const { deduplicates, name } = job.email
  const isSameProvider = claim.provider === null || claim.provider === name
  if (!mayRepeat(claim, deduplicates && isSameProvider, job.now())) {
    await end(failedFor('unknown', 'The answer to a call never came.'))
    return null
  }
  if (claim.suppression !== null && keepsBack(claim.suppression, claim.kind)) {
    await end(failedFor('suppressed', claim.suppression))
    return null
  }
  const composed = await compose(job, claim)
  if ('verdict' in composed) {
    await end(composed.verdict)
    return null
  }
  if (!(await markCall(job, claim, composed.email))) return null
  const [result] = await job.email.send([composed.email], claim.id)
  const verdict = judgeSend(
    { ...claim, first_call_at: claim.first_call_at ?? job.now() },
    result ?? createFailure('unknown', 'no_result', 'The gateway answered nothing for this message.'),
    deduplicates,
    job.now(),
  )
  await end(verdict)
  const isOfAll = result && !result.ok && (result.kind === 'rate_limited' || result.kind === 'configuration')
  return isOfAll ? verdict.due_at : null
}

/** Reasons for a consumer to stop: its own errors, and a provider that requests a pause. */
interface Stops {
  faults: unknown[]
  restUntil: number | null
}

const goesOn = (stops: Stops): boolean => stops.faults.length === 0 && stops.restUntil === null

/** Attempts claimed messages, some at once, until there is a reason to stop. What was not begun stays in `waiting`. */
async function attemptAll(job: JobCtx, waiting: EmailClaim[], stops: Stops): Promise<void> {
  const worker = async () => {
    while (goesOn(stops)) {
      const claim = waiting.shift()
      if (!claim) return
      try {
        stops.restUntil = (await attempt(job, claim)) ?? stops.restUntil
      } catch (error) {
        // Our own fault: the claim keeps the message for a later try.
        stops.faults.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, worker))
}

/**
 * Sends all e-mails that are due. A crash loses nothing: claims expire and the sweep enqueues again. When the provider
 * requests a pause, e-mails that were not begun wait as well.
 */
export async function sendEmails(job: JobCtx): Promise<void> {
  const endsAt = job.now() + shiftMs
  const stops: Stops = { faults: [], restUntil: null }
  while (goesOn(stops) && job.now() < endsAt) {
    const waiting = await claimEmails(job, atOnce)
    if (waiting.length === 0) break
    await attemptAll(job, waiting, stops)
    if (waiting.length) await releaseEmails(job, waiting, stops.restUntil ?? job.now())
  }
  if (stops.faults.length) throw new Error('messages could not be sent', { cause: stops.faults[0] })
  await enqueueNextEmail(job)
}
