import type { JobCtx } from '../../../context.ts'
import { readSharedTime } from '../../../domain/time/instants.ts'
import { isHeld } from '../../../domain/waiting.ts'
import { findDestinationFault } from '../../../domain/webhooks/webhook-destination.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { signHeaders } from '../../../domain/webhooks/webhook-signature.ts'
import {
  type DeliveryVerdict,
  isSlow,
  judgeAttempt,
  type LoggedAttempt,
  timeoutMs,
} from '../../../domain/webhooks/webhooks.ts'
import type { PostResult } from '../../../gateways/webhook-post/webhook-post.ts'

export interface Attempt {
  claim: DeliveryClaim
  startedAt: number
  /** The time in the signature. */
  signedAt: number
  endedAt: number
  /** Null when nothing was sent: the destination is forbidden, or the claim is held or ends too soon and is released. */
  result: PostResult | null
  signature: string | null
  verdict: DeliveryVerdict
  isSlow: boolean
}

/** The part of a claim's time that is reserved for storing the result. */
const recordingMs = 10_000

/** Makes one attempt, with the endpoint's address and secrets at the time of the claim. */
export async function makeAttempt(job: JobCtx, claim: DeliveryClaim): Promise<Attempt> {
  const { endpoint, event_id, payload, status, step } = claim
  const startedAt = job.now()
  const signedAt = readSharedTime(job)
  const unsentAttempt = { claim, startedAt, signedAt, endedAt: startedAt, result: null, signature: null, isSlow: false }
  const releasedAttempt: Attempt = {
    ...unsentAttempt,
    verdict: { status, step, next: { at: startedAt, reason: 'schedule' } },
  }
  if (isHeld(job.config)) return releasedAttempt
  if (findDestinationFault(endpoint.url, job.config.webhooks) !== null)
    return { ...unsentAttempt, verdict: { status: 'failed', step, next: null } }
  const timeout = timeoutMs(endpoint.timeout_seconds)
  if (startedAt + timeout + recordingMs > claim.claimed_until) return releasedAttempt
  const { headers, primary } = await signHeaders(endpoint, { id: event_id, payload }, startedAt, signedAt)
  const result = await job.webhookPost.post({ url: endpoint.url, headers, body: payload, timeoutMs: timeout })
  const endedAt = job.now()
  const response = { ok: result.error === null, status: result.status, retryAfter: result.retryAfter }
  return {
    claim,
    startedAt,
    signedAt,
    endedAt,
    result,
    signature: primary,
    verdict: judgeAttempt(claim, response, job.config.webhooks.schedule, endedAt),
    isSlow: !result.isDelayed && (isSlow(result.durationMs) || result.error === 'timeout'),
  }
}

/** The entry of the attempt log. A forbidden destination has one although nothing was sent, a released claim has none. */
export function logAttempt({ claim, result, verdict, startedAt }: Attempt): LoggedAttempt | null {
  if (result === null && verdict.status !== 'failed') return null
  return {
    number: claim.attempts,
    started_at: startedAt,
    duration_ms: result?.durationMs ?? 0,
    status_code: result?.status ?? null,
    error: result ? result.error : 'destination_forbidden',
    response_text: result?.text ?? null,
    is_manual: claim.manual !== null,
    next_retry_at: verdict.next?.at ?? null,
    next_reason: verdict.next?.reason ?? null,
  }
}
