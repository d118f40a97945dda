import type { Language } from '../languages.ts'
import type { SendResult } from '../messaging.ts'

/** How messages of a campaign go out to their people, one chunk after another. */

/** The most recipients of a chunk: what one consumer holds at a time, and the reach of a lost answer. */
export const maxChunk = 100
/** A provider that takes few messages a call still gets so many a chunk. */
const minChunk = 20

export const chunkSizeOf = (batch: number): number =>
  batch >= maxChunk ? maxChunk : batch * Math.max(1, Math.ceil(minChunk / Math.max(1, batch)))

/** The most characters of the messages of one call: a Worker makes several at once in 128 MB. */
const maxCharactersOfCall = 4_000_000

/** Messages of one call. It goes by the campaign's content alone: a call that is repeated is cut as it was. */
export const callSizeOf = (batch: number, charactersOfMessage: number): number =>
  Math.max(1, Math.min(batch, Math.floor(maxCharactersOfCall / Math.max(1, charactersOfMessage))))

/** Longer than the calls of a chunk take together with what comes after them. */
export const leaseMs = 60_000
/** No call begins with less than this left of the lease. */
export const leaseMarginMs = 25_000

/** Providers forget a key after 24 hours: later than this nobody can tell whether a call was made. */
export const repeatableMs = 20 * 3_600_000

/** The most chunks that are out at once, and the least after the provider asked for less. */
export const maxLanes = 16

const triesUntilUnreachable = 8
const rateLimitedForMs = 24 * 3_600_000

/** What a person is known by in a message: as it was when the campaign started, so that a repeated call is the same. */
export interface Person {
  id: string
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
}

export const recipientStates = ['pending', 'sent', 'failed', 'skipped'] as const
export type RecipientState = (typeof recipientStates)[number]

/** What became of a message that was sent. Those who did not open or click are those whom it reached: bounces are not. */
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

/** Why nobody tried to reach a person: what excludes people from a segment, when it is calculated or later, or this. */
export const skipReasons = [
  'no_address',
  'no_consent',
  'unsubscribed',
  'bounced',
  'inactive',
  'duplicate_address',
] as const
export type SkipReason = (typeof skipReasons)[number]

/** Why a message did not go. `unknown`: it may have gone, and it is not sent again. */
export const failReasons = ['rejected', 'unreachable', 'rate_limited', 'unknown'] as const
export type FailReason = (typeof failReasons)[number]

export type Reason = SkipReason | FailReason

/** Reasons that may pass. */
export const retryableReasons = ['unreachable', 'rate_limited'] as const satisfies readonly FailReason[]

export interface ChunkRecipient {
  /** Number of the recipient in the campaign: the person's `seq`. */
  n: number
  address: string
  language: Language
  person: Person
}

/** Somebody who is left out after all. */
export interface LeftOut {
  n: number
  reason: SkipReason
}

/** What a consumer may send now, and nobody else meanwhile. */
export interface Claim {
  campaign_id: string
  /** Which of the contents that the campaign was started with. */
  content: number
  chunk: number
  lease: string
  lease_until: number
  /** An earlier call may have been made: this one is to be the same. */
  is_repeat: boolean
  recipients: ChunkRecipient[]
}

/** What became of a chunk: a result for each of its recipients, call by call. */
export interface Report {
  chunk: number
  lease: string
  /** Each call's recipients in order, with their results. */
  calls: { n: number; result: SendResult }[][]
  /** Whether the consumer goes on with another chunk. */
  goes_on: boolean
}

export interface Answer {
  next: Claim | null
  /** There is more to send now, for whoever comes. */
  has_more: boolean
}

export type Verdict =
  | { to: 'sent'; provider_id: string }
  | { to: 'failed'; reason: FailReason; code: string; detail: string }
  /** Once more: `exact`, the same call with the same key; otherwise nothing was sent, and it may be cut anew. */
  | { to: 'again'; exact: boolean; code: string; at: number }
  /** Nothing goes before somebody mends the account. */
  | { to: 'halted'; detail: string }

interface Attempt {
  now: number
  /** An earlier call may have been made: no answer to this one proves that nothing was sent. */
  is_repeat: boolean
  /** Tries of the chunk before this one, and when the first was. */
  tries: number
  first_tried_at: number
  deduplicates: boolean
}

/** Codes of ours, for messages that were not handed to the provider at all. */
const untried = ['not_prepared', 'no_time', 'no_result']

const backoffMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000]

/** Whether it may still be repeated, as the provider would know the key. */
export const isRepeatable = ({ now, first_tried_at, deduplicates }: Attempt): boolean =>
  deduplicates && now - first_tried_at < repeatableMs

export function verdictOf(result: SendResult, attempt: Attempt): Verdict {
  if (result.ok) return { to: 'sent', provider_id: result.providerId }
  const { kind, code, detail, retryAfterMs } = result
  const { now, tries, is_repeat } = attempt
  const isOver = is_repeat && !isRepeatable(attempt)
  const failed = (reason: FailReason): Verdict => ({
    to: 'failed',
    reason: is_repeat ? 'unknown' : reason,
    code,
    detail,
  })
  const again = (exact: boolean, wait: number): Verdict => ({
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
      // A provider that knows keys may have begun with this call: it is asked again in the same words.
      const exact = attempt.deduplicates && !untried.includes(code)
      if (isOver || (!exact && !is_repeat && tries + 1 >= triesUntilUnreachable)) return failed('unreachable')
      return again(exact, wait)
    }
    case 'unknown':
      // The key has sent something else before: asking again would answer the same.
      if (code === 'idempotency_mismatch' || code === 'invalid_idempotent_request') return failed('unknown')
      return isOver || !isRepeatable(attempt) ? failed('unknown') : again(true, wait)
  }
}
