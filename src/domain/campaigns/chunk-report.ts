import { type Channel, describeSendFault } from '../messaging/messaging.ts'
import {
  type ChunkAttempt,
  type ChunkReport,
  isUntried,
  judgeResult,
  maxConcurrency,
  type Reason,
} from './sending-policy.ts'

export type RecipientOutcome =
  | { to: 'sent'; provider_id: string | null; at: number }
  | { to: 'failed' | 'skipped'; reason: Reason; code: string; detail: string }

/** A chunk of recipients who have to be tried again. */
export interface RetryChunk {
  members: readonly number[]
  /** True if the same call has to be repeated. */
  is_repeat: boolean
  tries: number
  not_before: number
  /** The fault of the provider because of which the call is made again. Null: no fault is known. */
  fault: string | null
}

/** The speed at which a campaign sends. */
export interface SendingPace {
  limited_until: number
  /** The number of chunks that consumers may hold at once. A rate limit halves it. */
  concurrency: number
}

/** The chunk of a report, as it was claimed. */
export interface ReportedChunk {
  members: readonly number[]
  is_repeat: boolean
  /** Counts the attempt that is reported. */
  tries: number
  first_tried_at: number
}

export interface ReportContext {
  now: number
  channel: Channel
  deduplicates: boolean
  pace: SendingPace
}

/** The consequences of a report. */
export interface ReportEffects {
  outcomes: Map<number, RecipientOutcome>
  retries: RetryChunk[]
  /** Why nothing more can be sent; null when it can. */
  halt_reason: string | null
  pace: SendingPace
}

type Call = ChunkReport['calls'][number]

/** The consequences of the results of one call. */
interface CallVerdict {
  /** All recipients of the call. */
  members: readonly number[]
  outcomes: Map<number, RecipientOutcome>
  /** Recipients for whom the same call has to be repeated. */
  repeats: number[]
  /** Recipients who got no message, so that any later call may contain them. */
  freshRetries: number[]
  /** The time at which the retries may begin. */
  notBefore: number
  fault: string | null
  haltReason: string | null
  isRateLimited: boolean
}

function judgeCall(call: Call, attempt: ChunkAttempt, channel: Channel): CallVerdict {
  const verdict: CallVerdict = {
    members: call.map(({ n }) => n),
    outcomes: new Map(),
    repeats: [],
    freshRetries: [],
    notBefore: attempt.now,
    fault: null,
    haltReason: null,
    isRateLimited: call.some(({ result }) => !result.ok && result.kind === 'rate_limited'),
  }
  for (const { n, result } of call) {
    const resultVerdict = judgeResult(result, attempt)
    switch (resultVerdict.to) {
      case 'sent':
        verdict.outcomes.set(n, { ...resultVerdict, at: attempt.now })
        break
      case 'failed':
        verdict.outcomes.set(n, resultVerdict)
        break
      case 'retry':
        verdict[resultVerdict.is_repeat ? 'repeats' : 'freshRetries'].push(n)
        verdict.notBefore = Math.max(verdict.notBefore, resultVerdict.at)
        if (!result.ok && !isUntried(result.code)) verdict.fault = describeSendFault(channel, result)
        break
      case 'halted':
        verdict[attempt.is_repeat ? 'repeats' : 'freshRetries'].push(n)
        verdict.haltReason = resultVerdict.detail
    }
  }
  return verdict
}

/** Plans the retry of a call. A repeated call needs the same messages, so it has recipients with a result too. */
function planRetry(verdict: CallVerdict, chunk: ReportedChunk): RetryChunk[] {
  const { members, repeats, freshRetries, notBefore, fault, isRateLimited } = verdict
  // A rate limit does not count as a try.
  const retry = { not_before: notBefore, tries: chunk.tries - Number(isRateLimited), fault }
  if (repeats.length) return [{ ...retry, members, is_repeat: true }]
  return freshRetries.length ? [{ ...retry, members: freshRetries, is_repeat: false }] : []
}

/** Plans the retry of members that the report leaves out. Nobody called the provider for them if it has other calls. */
function planRetryOfUnreported(calls: readonly Call[], chunk: ReportedChunk, now: number): RetryChunk[] {
  const reportedNumbers = new Set(calls.flat().map(({ n }) => n))
  const members = chunk.members.filter((n) => !reportedNumbers.has(n))
  if (members.length === 0) return []
  const tries = chunk.tries - Number(reportedNumbers.size > 0)
  return [{ members, is_repeat: chunk.is_repeat, not_before: now, fault: null, tries }]
}

/** A rate limit pauses the campaign and halves its calls; every other report allows one call more. */
function adjustPace({ limited_until, concurrency }: SendingPace, verdicts: readonly CallVerdict[]): SendingPace {
  const limitedVerdicts = verdicts.filter(({ isRateLimited }) => isRateLimited)
  if (limitedVerdicts.length === 0) return { limited_until, concurrency: Math.min(maxConcurrency, concurrency + 1) }
  return {
    limited_until: Math.max(limited_until, ...limitedVerdicts.map(({ notBefore }) => notBefore)),
    concurrency: Math.max(1, Math.floor(concurrency / 2)),
  }
}

/** Decides what follows from the report of a chunk. */
export function evaluateReport(calls: readonly Call[], chunk: ReportedChunk, context: ReportContext): ReportEffects {
  const { now, channel, deduplicates, pace } = context
  const { is_repeat, first_tried_at } = chunk
  const attempt = { now, is_repeat, tries: chunk.tries - 1, first_tried_at, deduplicates }
  const verdicts = calls.map((call) => judgeCall(call, attempt, channel))
  return {
    outcomes: new Map(verdicts.flatMap(({ outcomes }) => [...outcomes])),
    retries: [...verdicts.flatMap((verdict) => planRetry(verdict, chunk)), ...planRetryOfUnreported(calls, chunk, now)],
    halt_reason: verdicts.findLast(({ haltReason }) => haltReason !== null)?.haltReason ?? null,
    pace: adjustPace(pace, verdicts),
  }
}

/** Lists the messages that a report proves to be sent, which counts even when another consumer has the chunk by now. */
export function listSent(calls: readonly Call[], now: number): Map<number, RecipientOutcome> {
  return new Map(
    calls
      .flat()
      .flatMap(({ n, result }) => (result.ok ? [[n, { to: 'sent', provider_id: result.providerId, at: now }]] : [])),
  )
}
