import {
  type ClaimAnswer,
  chunkSizeOf,
  isRepeatable,
  chunkClaimMs,
  type ExcludedRecipient,
  maxLanes,
  type ChunkReport,
  verdictOf,
} from '../../domain/campaigns/sending-policy.ts'
import { personOf } from '../../domain/campaigns/sender.ts'
import { pendingOf } from '../../domain/campaigns/counters.ts'
import type { CampaignRecord, RecipientOutcome } from './schema.ts'
import type { RecipientStore } from './recipient-store.ts'
import { type Chunk, ChunkStore, type ChunkClaim, type RetryChunk, membersOf } from './chunk-store.ts'

/** The abilities of the channel's provider. */
export interface ChannelProvider {
  batch: number
  deduplicates: boolean
  reportsDelivery: boolean
}

const unknownAnswer = 'The consumer that sent this never reported a result.'

const skipped = ({ reason }: ExcludedRecipient): RecipientOutcome => ({ to: 'skipped', reason, code: '', detail: '' })

/** What a report changes. */
interface ReportReading {
  outcomes: Map<number, RecipientOutcome>
  retries: RetryChunk[]
  halted: string | null
  paused_until: number
  lanes: number
}

/** Hands out the pending recipients of a campaign in chunks, and takes the results. */
export class ChunkDispatcher {
  readonly #store: RecipientStore
  readonly #chunks: ChunkStore
  readonly #provider: ChannelProvider

  constructor(store: RecipientStore, provider: ChannelProvider) {
    this.#store = store
    this.#chunks = new ChunkStore(store.storage.sql)
    this.#provider = provider
  }

  claim(claimId: string, now: number): ClaimAnswer {
    return this.#store.transaction(() => {
      this.expire(now)
      return this.#next(claimId, now)
    })
  }

  begin(number: number, claimId: string, excluded: readonly ExcludedRecipient[], now: number): boolean {
    return this.#store.transaction(() => {
      const chunk = this.#chunks.findHeld(number, claimId)
      if (!chunk || this.#store.record()?.status !== 'sending' || (chunk.claimed_until ?? 0) <= now) return false
      const gone = new Set(excluded.map(({ n }) => n))
      this.#chunks.begin(
        number,
        membersOf(chunk).filter((n) => !gone.has(n)),
      )
      this.#store.recordOutcomes(new Map(excluded.map((one) => [one.n, skipped(one)])), false)
      return true
    })
  }

  report(report: ChunkReport, claimId: string, now: number): ClaimAnswer {
    return this.#store.transaction(() => {
      this.#take(report, now)
      this.expire(now)
      const answer = this.#next(report.goes_on ? claimId : null, now)
      this.conclude(now)
      return answer
    })
  }

  /** Records results. After the end of the claim only `sent` counts. */
  #take(report: ChunkReport, now: number): void {
    const record = this.#store.record()
    if (!record) return
    const chunk = this.#chunks.findHeld(report.chunk, report.claim_id)
    const { outcomes, retries, halted, paused_until, lanes } = this.#read(record, chunk, report, now)
    this.#store.recordOutcomes(outcomes, !this.#provider.reportsDelivery)
    if (!chunk) return
    this.#chunks.remove(chunk.number)
    // After the campaign has stopped, the next run makes new chunks of those who cannot have got a message.
    const goesOn = record.status === 'sending' && halted === null
    for (const retry of retries) if (retry.exact || goesOn) this.#chunks.addRetry(chunk, retry)
    if (paused_until !== record.paused_until || lanes !== record.lanes)
      this.#store.change({ paused_until, lanes }, false)
    if (halted !== null && record.status === 'sending') this.halt(halted, now)
    if (record.status === 'cancelled') this.abandon()
  }

  #read(record: CampaignRecord, chunk: Chunk | null, report: ChunkReport, now: number): ReportReading {
    const reading: ReportReading = {
      outcomes: new Map(),
      retries: [],
      halted: null,
      paused_until: record.paused_until,
      lanes: Math.min(maxLanes, record.lanes + 1),
    }
    const tries = chunk?.tries ?? 1
    const attempt = {
      now,
      is_repeat: chunk?.is_repeat === 1,
      tries: tries - 1,
      first_tried_at: chunk?.first_tried_at ?? now,
      deduplicates: this.#provider.deduplicates,
    }
    for (const call of report.calls) {
      const again = { exact: [] as number[], anew: [] as number[], at: now, isLimited: false }
      for (const { n, result } of call) {
        const verdict = verdictOf(result, attempt)
        if (verdict.to === 'sent') reading.outcomes.set(n, { to: 'sent', provider_id: verdict.provider_id, at: now })
        else if (!chunk) continue
        else if (verdict.to === 'failed') reading.outcomes.set(n, verdict)
        else {
          const isExact = verdict.to === 'again' ? verdict.exact : attempt.is_repeat
          again[isExact ? 'exact' : 'anew'].push(n)
          if (verdict.to === 'halted') reading.halted = verdict.detail
          else again.at = Math.max(again.at, verdict.at)
        }
        if (!result.ok && result.kind === 'rate_limited') again.isLimited = true
      }
      if (again.isLimited) {
        reading.paused_until = Math.max(reading.paused_until, again.at)
        reading.lanes = Math.max(1, Math.floor(record.lanes / 2))
      }
      // A rate limit does not count as a try.
      const retry = { at: again.at, tries: tries - Number(again.isLimited) }
      // A repeated call must have the same messages, also those whose result is known.
      if (again.exact.length) reading.retries.push({ ...retry, members: call.map(({ n }) => n), exact: true })
      else if (again.anew.length) reading.retries.push({ ...retry, members: again.anew, exact: false })
    }
    const reported = new Set(report.calls.flat().map(({ n }) => n))
    const unreported = chunk ? membersOf(chunk).filter((n) => !reported.has(n)) : []
    // Those for whom no call was made although it was for others have not been tried.
    const rest = { members: unreported, exact: attempt.is_repeat, at: now }
    if (unreported.length) reading.retries.push({ ...rest, tries: tries - Number(reported.size > 0) })
    return reading
  }

  /**
   * Ends expired claims. A chunk that cannot have been sent is ready again. One that may have been sent is repeated
   * unchanged, or given up when the provider does not deduplicate.
   */
  expire(now: number): void {
    const { deduplicates } = this.#provider
    const isCancelled = this.#store.record()?.status === 'cancelled'
    for (const chunk of this.#chunks.expired(now)) {
      const wasCalled = deduplicates || chunk.state === 'begun' || chunk.is_repeat === 1
      if (wasCalled && (!deduplicates || isCancelled)) this.#giveUp(chunk)
      else if (isCancelled) this.#chunks.remove(chunk.number)
      else this.#chunks.returnToReady(chunk.number, wasCalled, now)
    }
  }

  #giveUp(chunk: Chunk): void {
    const outcome: RecipientOutcome = { to: 'failed', reason: 'unknown', code: 'no_answer', detail: unknownAnswer }
    this.#store.recordOutcomes(new Map(this.#open(chunk).map((n) => [n, outcome])), false)
    this.#chunks.remove(chunk.number)
  }

  /** Members without a result. */
  #open(chunk: Chunk): number[] {
    const people = this.#store.recipients(membersOf(chunk))
    return people.filter(({ state }) => state === 'pending').map(({ n }) => n)
  }

  #next(claimId: string | null, now: number): ClaimAnswer {
    const record = this.#store.record()
    const isClosed = record?.status !== 'sending' || record.paused_until > now
    if (!record || isClosed || this.#chunks.countHeld(now) >= record.lanes) return { next: null, has_more: false }
    const ready = this.#ready(now)
    if (claimId === null)
      return { next: null, has_more: ready !== null || this.#store.pendingAfter(record, 1).length > 0 }
    const claimed_until = now + chunkClaimMs
    const claim = { claim_id: claimId, claimed_until, now }
    if (ready) this.#chunks.claim(ready.number, claim)
    const chunk = ready ?? this.#cut(record, claim)
    if (!chunk) return { next: null, has_more: false }
    const recipients = this.#store.recipients(membersOf(chunk)).map((row) => ({
      n: row.n,
      address: row.address,
      language: row.language,
      person: personOf(row),
    }))
    const { campaign_id } = record
    const { number, content } = chunk
    return {
      next: {
        campaign_id,
        content,
        chunk: number,
        claim_id: claimId,
        claimed_until,
        is_repeat: chunk.is_repeat === 1,
        recipients,
      },
      has_more: true,
    }
  }

  #ready(now: number): Chunk | null {
    for (let chunk = this.#chunks.findReady(now); chunk; chunk = this.#chunks.findReady(now))
      if (this.#isWanted(chunk, now)) return chunk
    return null
  }

  /** Whether the chunk has to be sent. It is deleted when not. */
  #isWanted(chunk: Chunk, now: number): boolean {
    const open = this.#open(chunk)
    const { deduplicates } = this.#provider
    const age = { now, tries: chunk.tries, is_repeat: true, first_tried_at: chunk.first_tried_at ?? now, deduplicates }
    if (open.length === 0) this.#chunks.remove(chunk.number)
    else if (chunk.is_repeat && !isRepeatable(age)) this.#giveUp(chunk)
    else {
      if (!chunk.is_repeat) {
        chunk.members = JSON.stringify(open)
        this.#chunks.setMembers(chunk.number, open)
      }
      return true
    }
    return false
  }

  /** Makes a chunk of the next pending recipients. At the end the cursor is set so that nothing is searched again. */
  #cut(record: CampaignRecord, claim: ChunkClaim): Chunk | null {
    const members = this.#store.pendingAfter(record, chunkSizeOf(this.#provider.batch))
    this.#store.change({ cut_after: members.at(-1) ?? Number.MAX_SAFE_INTEGER }, false)
    return members.length ? this.#chunks.addClaimed(record, members, claim) : null
  }

  /** Stops for a reason that has to be corrected by hand. Unsent recipients wait for a retry. */
  halt(message: string, now: number): void {
    this.release()
    this.#store.change({ status: 'failed', error_message: message, completed_at: now })
  }

  release(): void {
    this.#chunks.deleteUnsent()
  }

  /** Gives up chunks that may have been sent and will not be repeated. */
  abandon(): void {
    this.release()
    for (const chunk of this.#chunks.listReady()) this.#giveUp(chunk)
  }

  count(): number {
    return this.#chunks.count()
  }

  /** Whether a consumer would get a chunk now. */
  isWaiting(now: number): boolean {
    const record = this.#store.record()
    if (record?.status !== 'sending' || record.paused_until > now || this.#chunks.countHeld(now) >= record.lanes)
      return false
    return this.#chunks.findReady(now) !== undefined || this.#store.pendingAfter(record, 1).length > 0
  }

  /** Whether a consumer holds a chunk, or would get one. */
  isBusy(now: number): boolean {
    return this.#chunks.countHeld(now) > 0 || this.isWaiting(now)
  }

  /** When the next chunk or the end of a claim is due. */
  nextAt(): number | null {
    const record = this.#store.record()
    if (!record) return null
    const { claimed_until, not_before } = this.#chunks.nextTimes()
    const ready = not_before !== null && record.status === 'sending' ? Math.max(not_before, record.paused_until) : null
    return claimed_until !== null && ready !== null ? Math.min(claimed_until, ready) : (claimed_until ?? ready)
  }

  /** Ends the campaign when no recipient is pending. */
  conclude(now: number): void {
    const record = this.#store.record()
    if (record?.status !== 'sending' || pendingOf(record) > 0 || this.count() > 0) return
    const isSent = record.sent > 0
    const why = record.total === 0 ? 'Nobody could be reached.' : 'No message could be sent.'
    this.#store.change({
      status: isSent ? 'sent' : 'failed',
      error_message: isSent ? '' : why,
      completed_at: now,
    })
  }
}
