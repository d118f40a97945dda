import type { Language } from '../languages.ts'
import type { SendResult } from '../messaging/messaging.ts'

/** The most recipients of a chunk: a consumer holds them at a time, and a lost answer concerns them all. */
const maxChunk = 100
/**
 * A chunk has at least so many recipients, also when the provider takes few messages a call: each chunk takes three round
 * trips. Not more, because those of a consumer that dies are unknown where the provider does not deduplicate.
 */
const minChunk = 50

export const chunkSizeOf = (batch: number): number =>
  batch >= maxChunk ? maxChunk : batch * Math.max(1, Math.ceil(minChunk / Math.max(1, batch)))

/** The most characters of the messages of one call: a Worker makes several at once in 128 MB. */
const maxCharactersOfCall = 4_000_000

/** Messages of one call. Only the campaign's content decides, so that a repeated call has the same messages. */
export const callSizeOf = (batch: number, charactersOfMessage: number): number =>
  Math.max(1, Math.min(batch, Math.floor(maxCharactersOfCall / Math.max(1, charactersOfMessage))))

/** Longer than all calls of a chunk and the report take. */
export const chunkClaimMs = 60_000
/** No call begins with less than this left of the claim. */
export const claimMarginMs = 25_000

/** Providers keep a key for 24 hours. A call is not repeated later than this. */
const repeatableMs = 20 * 3_600_000

/** The most chunks that consumers hold at once. */
export const maxLanes = 16

const triesUntilUnreachable = 8
const rateLimitedForMs = 24 * 3_600_000

/** The person's data in messages, as of the start of the campaign, so that a repeated call is the same. */
export interface RecipientPerson {
  id: string
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
}

export const recipientStates = ['pending', 'sent', 'failed', 'skipped'] as const
export type RecipientState = (typeof recipientStates)[number]

/** The engagement of a sent message. Bounced recipients are in neither `not_opened` nor `not_clicked`. */
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

/** Why no message was made for a person: an exclusion of the segment, or one of the campaign's own. */
export const skipReasons = [
  'no_address',
  'no_consent',
  'unsubscribed',
  'bounced',
  'inactive',
  'duplicate_address',
] as const
export type SkipReason = (typeof skipReasons)[number]

/** Why a message was not sent. `unknown`: it may have been sent, and it is not sent again. */
export const failReasons = ['rejected', 'unreachable', 'rate_limited', 'unknown'] as const
export type FailReason = (typeof failReasons)[number]

export type Reason = SkipReason | FailReason

/** A retry of the campaign tries these recipients again. */
export const retryableReasons = ['unreachable', 'rate_limited'] as const satisfies readonly FailReason[]

export interface ChunkRecipient {
  /** Number of the recipient in the campaign: the person's `seq`. */
  n: number
  address: string
  language: Language
  person: RecipientPerson
}

/** A recipient who may not get the message any more. */
export interface ExcludedRecipient {
  n: number
  reason: SkipReason
}

/** A claimed chunk. Only the consumer with this claim may send it. */
export interface ChunkClaim {
  campaign_id: string
  /** The number of the content snapshot. */
  content: number
  chunk: number
  claim_id: string
  claimed_until: number
  /** An earlier call may have been made, so this one must be the same. */
  is_repeat: boolean
  recipients: ChunkRecipient[]
}

/** The results of a chunk, call by call. */
export interface ChunkReport {
  chunk: number
  claim_id: string
  /** Each call's recipients in order, with their results. */
  calls: { n: number; result: SendResult }[][]
  /** Whether the consumer continues with another chunk. */
  goes_on: boolean
}

export interface ClaimAnswer {
  next: ChunkClaim | null
  /** Another consumer would get a chunk now. */
  has_more: boolean
}

export type ResultVerdict =
  | { to: 'sent'; provider_id: string }
  | { to: 'failed'; reason: FailReason; code: string; detail: string }
  /** Try again. `exact`: the same call with the same key. Otherwise nothing was sent, and the chunk may change. */
  | { to: 'again'; exact: boolean; code: string; at: number }
  /** Nothing can be sent before the provider's account is corrected. */
  | { to: 'halted'; detail: string }

interface ChunkAttempt {
  now: number
  /** An earlier call may have been made, so no answer to this one proves that nothing was sent. */
  is_repeat: boolean
  /** Tries of the chunk before this one, and when the first was. */
  tries: number
  first_tried_at: number
  deduplicates: boolean
}

/** Our own codes, for messages that the provider never got. */
const untried = ['not_prepared', 'no_time', 'no_result']

const backoffMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000]

/** Whether the provider still has the key of the call. */
export const isRepeatable = ({ now, first_tried_at, deduplicates }: ChunkAttempt): boolean =>
  deduplicates && now - first_tried_at < repeatableMs

export function verdictOf(result: SendResult, attempt: ChunkAttempt): ResultVerdict {
  if (result.ok) return { to: 'sent', provider_id: result.providerId }
  const { kind, code, detail, retryAfterMs } = result
  const { now, tries, is_repeat } = attempt
  const isOver = is_repeat && !isRepeatable(attempt)
  const failed = (reason: FailReason): ResultVerdict => ({
    to: 'failed',
    reason: is_repeat ? 'unknown' : reason,
    code,
    detail,
  })
  const again = (exact: boolean, wait: number): ResultVerdict => ({
    to: 'again',
    exact: exact || is_repeat,
    code,
    at: now + wait,
  })
  const wait = Math.max(retryAfterMs ?? 0, backoffMs[Math.min(tries, backoffMs.length - 1)] ?? 0)
  switch (kind) {
    case 'permanent':
      return failed('rejected')
    case 'configuration':
    case 'sender':
      return { to: 'halted', detail: `${code}: ${detail}` }
    case 'rate_limited':
      if (isOver || now - attempt.first_tried_at >= rateLimitedForMs) return failed('rate_limited')
      return again(false, Math.max(retryAfterMs ?? 0, 1000))
    case 'transient': {
      // A provider that deduplicates may have begun with this call, so the same call is made again.
      const exact = attempt.deduplicates && !untried.includes(code)
      if (isOver || (!exact && !is_repeat && tries + 1 >= triesUntilUnreachable)) return failed('unreachable')
      return again(exact, wait)
    }
    case 'unknown':
      // The key was used for other messages. Another try would get the same answer.
      if (code === 'idempotency_mismatch' || code === 'invalid_idempotent_request') return failed('unknown')
      return isOver || !isRepeatable(attempt) ? failed('unknown') : again(true, wait)
  }
}
