import type { Language } from '../languages.ts'
import type { SendResult } from '../messaging/messaging.ts'

/** When the answer to a call is lost, the result is unknown for every recipient of the chunk. So chunks are small. */
const maxChunkSize = 100
/**
 * Each chunk costs up to three round trips, so it has this many recipients even when the provider takes only a few messages a
 * call. It does not have more, because without deduplication the result of all of them is unknown when a consumer dies.
 */
const minChunkSize = 50

export const computeChunkSize = (batch: number): number =>
  batch >= maxChunkSize ? maxChunkSize : batch * Math.max(1, Math.ceil(minChunkSize / Math.max(1, batch)))

/** A Worker prepares several calls at once in 128 MB, so the messages of one call have at most this many characters. */
const maxCharactersPerCall = 4_000_000

/**
 * Computes how many messages a call has. It depends on the content alone, so that a repeated call has the same
 * messages.
 */
export const computeCallSize = (batch: number, charactersOfMessage: number): number =>
  Math.max(1, Math.min(batch, Math.floor(maxCharactersPerCall / Math.max(1, charactersOfMessage))))

/** A claim outlasts all calls of a chunk and the report. */
export const chunkClaimMs = 60_000
/** No call begins when less than this is left of the claim. */
export const chunkClaimMarginMs = 25_000

/** Providers remember an idempotency key for 24 hours. A call is not repeated after this time. */
export const repeatableMs = 20 * 3_600_000

/** The most chunks of a campaign that consumers hold at once. */
export const maxConcurrency = 16

const triesUntilUnreachable = 8
const rateLimitedForMs = 24 * 3_600_000

/** The person's data as of the start of the campaign, so that a repeated call has the same messages. */
export interface RecipientPerson {
  id: string
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
}

export const recipientStates = ['pending', 'sent', 'failed', 'skipped'] as const
export type RecipientState = (typeof recipientStates)[number]

/** The states of recipients to whom the campaign does not send any more. */
export const endStates = ['sent', 'failed', 'skipped'] as const satisfies readonly RecipientState[]
export type EndState = (typeof endStates)[number]

/** Filters of recipients. Bounced recipients are in neither `not_opened` nor `not_clicked`. */
export const engagements = [
  'delivered',
  'opened',
  'not_opened',
  'clicked',
  'not_clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const
export type Engagement = (typeof engagements)[number]

/**
 * Why a person is skipped. `no_address` and `duplicate_address` are the campaign's reasons, the others the segment's.
 */
export const skipReasons = [
  'no_address',
  'no_consent',
  'unsubscribed',
  'bounced',
  'inactive',
  'duplicate_address',
] as const
export type SkipReason = (typeof skipReasons)[number]

/** Why a recipient failed. `unknown`: the message may have been sent, so it is not sent again. */
export const failReasons = ['rejected', 'unreachable', 'rate_limited', 'unknown'] as const
export type FailReason = (typeof failReasons)[number]

export const recipientReasons = [...skipReasons, ...failReasons] as const
export type Reason = (typeof recipientReasons)[number]

/** Retrying a campaign sends to recipients who failed for one of these reasons. */
export const retryableReasons = ['unreachable', 'rate_limited'] as const satisfies readonly FailReason[]

export interface ChunkRecipient {
  /** The conditions of blocks that the person fulfilled at the start of the campaign: the bits of their positions. */
  conditions: number
  /** The recipient's number in the campaign, which is the `seq` of the user. */
  n: number
  address: string
  language: Language
  person: RecipientPerson
}

/** A recipient who may no longer get the message. */
export interface ExcludedRecipient {
  n: number
  reason: SkipReason
}

/** A chunk that a consumer has claimed. Only the holder of the claim may send it. */
export interface ChunkClaim {
  campaign_id: string
  /** The run whose content snapshot is sent. */
  content_run: number
  chunk: number
  claim_id: string
  claimed_until: number
  /** An earlier attempt may have called the provider, so this one has to make the same call. */
  is_repeat: boolean
  recipients: ChunkRecipient[]
}

/** The results that a consumer reports for its chunk. */
export interface ChunkReport {
  chunk: number
  claim_id: string
  /** The recipients of each call in order, with their results. */
  calls: { n: number; result: SendResult }[][]
}

export interface ClaimResult {
  next: ChunkClaim | null
  /** True if another consumer would get a chunk now. */
  has_more: boolean
}

export type ResultVerdict =
  | { to: 'sent'; provider_id: string }
  | { to: 'failed'; reason: FailReason; code: string; detail: string }
  /** `is_repeat`: make the same call again with the same key. Otherwise nothing was sent, and the chunk may change. */
  | { to: 'retry'; is_repeat: boolean; code: string; at: number }
  /** Nothing can be sent before somebody corrects the account at the provider. */
  | { to: 'halted'; detail: string }

export interface ChunkAttempt {
  now: number
  /** An earlier attempt may have called the provider, so no answer to this one proves that nothing was sent. */
  is_repeat: boolean
  /** Attempts before this one. */
  tries: number
  first_tried_at: number
  deduplicates: boolean
}

/** Our own codes for messages that the provider never got. */
const untriedCodes: readonly string[] = ['not_prepared', 'no_time', 'no_result']

/** True for a failure that says nothing about the provider. */
export const isUntried = (code: string): boolean => untriedCodes.includes(code)

const backoffMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000]

/** True if the provider still remembers the key of the call, so that repeating it sends nothing twice. */
export const isRepeatable = ({ now, first_tried_at, deduplicates }: ChunkAttempt): boolean =>
  deduplicates && now - first_tried_at < repeatableMs

export function judgeResult(result: SendResult, attempt: ChunkAttempt): ResultVerdict {
  if (result.ok) return { to: 'sent', provider_id: result.providerId }
  const { kind, code, detail, retryAfterMs } = result
  const { now, tries, is_repeat } = attempt
  const isExpired = is_repeat && !isRepeatable(attempt)
  const fail = (reason: FailReason): ResultVerdict => ({
    to: 'failed',
    reason: is_repeat ? 'unknown' : reason,
    code,
    detail,
  })
  const retry = (mustRepeat: boolean, wait: number): ResultVerdict => ({
    to: 'retry',
    is_repeat: mustRepeat || is_repeat,
    code,
    at: now + wait,
  })
  const wait = Math.max(retryAfterMs ?? 0, backoffMs[Math.min(tries, backoffMs.length - 1)] ?? 0)
  switch (kind) {
    case 'permanent':
      return fail('rejected')
    case 'configuration':
    case 'sender':
      return { to: 'halted', detail: `${code}: ${detail}` }
    case 'rate_limited':
      if (isExpired || now - attempt.first_tried_at >= rateLimitedForMs) return fail('rate_limited')
      return retry(false, Math.max(retryAfterMs ?? 0, 1000))
    case 'transient': {
      // A provider that deduplicates may have begun to send, so the same call is repeated.
      const mustRepeat = attempt.deduplicates && !isUntried(code)
      if (isExpired || (!mustRepeat && !is_repeat && tries + 1 >= triesUntilUnreachable)) return fail('unreachable')
      return retry(mustRepeat, wait)
    }
    case 'unknown':
      // The key was used for other messages, so another try would get the same answer.
      if (code === 'idempotency_mismatch' || code === 'invalid_idempotent_request') return fail('unknown')
      return isExpired || !isRepeatable(attempt) ? fail('unknown') : retry(true, wait)
  }
}
