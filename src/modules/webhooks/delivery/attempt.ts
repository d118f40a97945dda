import type { JobCtx } from '../../../context.ts'
import { destinationFault } from '../../../domain/webhooks/webhook-destination.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { signedHeaders } from '../../../domain/webhooks/webhook-signature.ts'
import {
  type DeliveryVerdict,
  isSlow,
  judgeAttempt,
  type LoggedAttempt,
  timeoutMs,
} from '../../../domain/webhooks/webhooks.ts'
import type { PostResult } from '../../../gateways/webhook-post/webhook-post.ts'

/** The result of a claim. Nothing was sent where `result` is null: it may not be sent, or is released for later. */
export interface AttemptOutcome {
  claim: DeliveryClaim
  startedAt: number
  endedAt: number
  result: PostResult | null
  signature: string | null
  verdict: DeliveryVerdict
  slow: boolean
}

/**
 * The part of a lease that is reserved for recording the result. An attempt that would not leave so much time is not
 * begun.
 */
const recordingMs = 10_000

/** The one way in which an attempt is made: with the endpoint's address and secrets of this moment. */
export async function attempt(job: JobCtx, claim: DeliveryClaim): Promise<AttemptOutcome> {
  const { endpoint, event_id, payload } = claim
  const startedAt = job.now()
  if (destinationFault(endpoint.url, job.config.webhooks) !== null) {
    const verdict: DeliveryVerdict = { status: 'failed', step: claim.step, next: null }
    return { claim, startedAt, endedAt: startedAt, result: null, signature: null, verdict, slow: false }
  }
  const patience = timeoutMs(endpoint.timeout_seconds)
  if (startedAt + patience + recordingMs > claim.lease_until) {
    const verdict: DeliveryVerdict = {
      status: claim.status,
      step: claim.step,
      next: { at: startedAt, reason: 'schedule' },
    }
    return { claim, startedAt, endedAt: startedAt, result: null, signature: null, verdict, slow: false }
  }
  const { headers, primary } = await signedHeaders(endpoint, { id: event_id, payload }, startedAt)
  const request = { url: endpoint.url, headers, body: payload, timeoutMs: patience }
  const result = await job.webhookPost.post(request)
  const endedAt = job.now()
  const answer = { ok: result.error === null, status: result.status, retryAfter: result.retryAfter }
  const verdict = judgeAttempt(claim, answer, job.config.webhooks.schedule, endedAt)
  return {
    claim,
    startedAt,
    endedAt,
    result,
    signature: primary,
    verdict,
    slow: isSlow(result.durationMs) || result.error === 'timeout',
  }
}

/** The error of an attempt that was not made. */
const forbidden = 'destination_forbidden'

/** What is kept of it. A forbidden destination counts as an attempt, although none was made; a released claim does not. */
export function attemptOf({ claim, result, verdict, startedAt }: AttemptOutcome): LoggedAttempt | null {
  if (result === null && verdict.status !== 'failed') return null
  return {
    number: claim.attempts,
    started_at: startedAt,
    duration_ms: result?.durationMs ?? 0,
    status_code: result?.status ?? null,
    error: result ? result.error : forbidden,
    response_text: result?.text ?? null,
    is_manual: claim.manual !== null,
    next_retry_at: verdict.next?.at ?? null,
    next_reason: verdict.next?.reason ?? null,
  }
}
