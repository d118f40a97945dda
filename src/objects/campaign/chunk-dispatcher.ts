import {
  evaluateReport,
  listSent,
  type RecipientOutcome,
  type RetryChunk,
} from '../../domain/campaigns/chunk-report.ts'
import { countPending } from '../../domain/campaigns/counters.ts'
import { readPerson } from '../../domain/campaigns/sender.ts'
import {
  chunkClaimMs,
  type ChunkReport,
  type ClaimResult,
  computeChunkSize,
  type ExcludedRecipient,
  isRepeatable,
  repeatableMs,
} from '../../domain/campaigns/sending-policy.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { noWait } from '../../domain/waiting.ts'
import { type Chunk, ChunkStore, type ChunkClaimTerms, readMembers } from './chunk-store.ts'
import type { RecipientStore } from './recipient-store.ts'
import type { CampaignRecord } from './schema.ts'
import { SendGate } from './send-gate.ts'

/** Abilities of the provider of a channel. */
interface ChannelProvider {
  batch: number
  deduplicates: boolean
  reportsDelivery: boolean
}

const unknownResult = 'The consumer that sent this message never reported a result.'

const toSkipped = ({ reason }: ExcludedRecipient): RecipientOutcome => ({ to: 'skipped', reason, code: '', detail: '' })

/** Hands out the pending recipients of a campaign in chunks and records the results. */
export class ChunkDispatcher {
  readonly gate: SendGate
  readonly #store: RecipientStore
  readonly #chunks: ChunkStore
  readonly #providers: Readonly<Record<Channel, ChannelProvider>>

  constructor(store: RecipientStore, providers: Readonly<Record<Channel, ChannelProvider>>, isHeld: boolean) {
    this.#store = store
    this.#chunks = new ChunkStore(store.storage.sql)
    this.#providers = providers
    this.gate = new SendGate(store, this.#chunks, isHeld)
  }

  #getProvider(record = this.#store.readRecord()): ChannelProvider {
    return this.#providers[record?.channel ?? 'email']
  }

  /** Records a report, if there is one, and then claims the next chunk, if there is a claim id for it. */
  exchange(report: ChunkReport | null, claimId: string | null, now: number): ClaimResult {
    return this.#store.transaction(() => {
      if (report) this.#recordReport(report, now)
      this.endExpiredClaims(now)
      const result = this.#claimNext(claimId, now)
      if (report) this.finishIfDone(now)
      return result
    })
  }

  begin(number: number, claimId: string, excludedRecipients: readonly ExcludedRecipient[], now: number): boolean {
    return this.#store.transaction(() => {
      const chunk = this.#chunks.findHeld(number, claimId)
      if (!chunk || this.#store.readRecord()?.status !== 'sending' || (chunk.claimed_until ?? 0) <= now) return false
      const excludedNumbers = new Set(excludedRecipients.map(({ n }) => n))
      this.#chunks.begin(
        number,
        readMembers(chunk).filter((n) => !excludedNumbers.has(n)),
      )
      this.#store.recordOutcomes(
        new Map(excludedRecipients.map((recipient) => [recipient.n, toSkipped(recipient)])),
        false,
      )
      return true
    })
  }

  /** Records results. A report that comes after the end of its claim only records messages that were sent. */
  #recordReport({ calls, chunk: number, claim_id }: ChunkReport, now: number): void {
    const record = this.#store.readRecord()
    if (!record) return
    const { deduplicates, reportsDelivery } = this.#getProvider(record)
    const chunk = this.#chunks.findHeld(number, claim_id)
    if (!chunk) return this.#store.recordOutcomes(listSent(calls, now), !reportsDelivery)
    const { outcomes, retries, halt_reason, pace } = evaluateReport(
      calls,
      {
        members: readMembers(chunk),
        is_repeat: chunk.is_repeat === 1,
        tries: chunk.tries,
        first_tried_at: chunk.first_tried_at ?? now,
      },
      { now, channel: record.channel, deduplicates, pace: record },
    )
    this.#store.recordOutcomes(outcomes, !reportsDelivery)
    this.#chunks.remove(chunk.number)
    // After the campaign stopped, the next run makes new chunks of everybody who cannot have got a message.
    const isSending = record.status === 'sending' && halt_reason === null
    for (const retry of retries) if (retry.is_repeat || isSending) this.#chunks.addRetry(chunk, retry)
    const { limited_until, concurrency } = pace
    if (limited_until !== record.limited_until || concurrency !== record.concurrency)
      this.#store.changeRecord({ limited_until, concurrency }, { isVisible: false })
    this.#updateWait(retries, limited_until, now)
    if (halt_reason !== null && record.status === 'sending') this.halt(halt_reason, now)
    if (record.status === 'cancelled') this.giveUpChunks()
  }

  /** Stores what the campaign waits for. It waits until every call that failed has succeeded or is given up. */
  #updateWait(retries: readonly RetryChunk[], limitedUntil: number, now: number): void {
    const record = this.#store.readRecord()
    if (!record) return
    const faultyRetries = retries.filter(({ fault }) => fault !== null)
    const [first] = faultyRetries
    if (!first) {
      if (record.waiting_since !== null && !this.#chunks.hasFault()) this.#store.changeRecord(noWait)
      return
    }
    const attemptAt = Math.max(limitedUntil, Math.min(...faultyRetries.map(({ not_before }) => not_before)))
    const earlierAt =
      record.next_attempt_at !== null && record.next_attempt_at > now ? record.next_attempt_at : attemptAt
    this.#store.changeRecord({
      waiting_reason: first.fault,
      waiting_since: record.waiting_since ?? now,
      next_attempt_at: Math.max(limitedUntil, Math.min(earlierAt, attemptAt)),
    })
  }

  /**
   * Ends expired claims. A chunk that cannot have been sent is ready again. A chunk that may have been sent is repeated
   * unchanged, or given up when the provider does not deduplicate.
   */
  endExpiredClaims(now: number): void {
    const record = this.#store.readRecord()
    const { deduplicates } = this.#getProvider(record)
    const isCancelled = record?.status === 'cancelled'
    for (const chunk of this.#chunks.listExpired(now)) {
      const mayHaveBeenSent = deduplicates || chunk.state === 'begun' || chunk.is_repeat === 1
      if (mayHaveBeenSent && (!deduplicates || isCancelled)) this.#giveUp(chunk)
      else if (isCancelled) this.#chunks.remove(chunk.number)
      else this.#chunks.returnToReady(chunk.number, mayHaveBeenSent, now)
    }
  }

  /** Gives up calls that the provider would not recognise any more, also while no chunk is handed out. */
  giveUpOldRepeats(now: number): void {
    for (const chunk of this.#chunks.listReadyRepeats(now - repeatableMs)) this.#giveUp(chunk)
  }

  #giveUp(chunk: Chunk): void {
    const outcome: RecipientOutcome = { to: 'failed', reason: 'unknown', code: 'no_answer', detail: unknownResult }
    this.#store.recordOutcomes(new Map(this.#listPending(chunk).map((n) => [n, outcome])), false)
    this.#chunks.remove(chunk.number)
  }

  /** Lists the members without a result. */
  #listPending(chunk: Chunk): number[] {
    const recipients = this.#store.listRecipients(readMembers(chunk), ['n', 'state'])
    return recipients.filter(({ state }) => state === 'pending').map(({ n }) => n)
  }

  #claimNext(claimId: string | null, now: number): ClaimResult {
    const record = this.#store.readRecord()
    if (record?.send_window || record?.held_since) this.gate.update(now)
    const isClosed = record?.status !== 'sending' || this.findClosedUntil(now, record) > now
    if (!record || isClosed || this.#chunks.countHeld(now) >= record.concurrency) return { next: null, has_more: false }
    const readyChunk = this.#findReady(now)
    if (claimId === null)
      return { next: null, has_more: readyChunk !== null || this.#store.listPending(record, 1).length > 0 }
    const claimed_until = now + chunkClaimMs
    const newClaim = { claim_id: claimId, now, until: claimed_until }
    if (readyChunk) this.#chunks.claim(readyChunk.number, newClaim)
    const chunk = readyChunk ?? this.#addChunk(record, newClaim)
    if (!chunk) return { next: null, has_more: false }
    const recipients = this.#store
      .listRecipients(readMembers(chunk), ['n', 'address', 'language', 'person', 'conditions'])
      .map((row) => ({
        n: row.n,
        address: row.address ?? '',
        language: row.language,
        person: readPerson(row),
        conditions: row.conditions,
      }))
    const { campaign_id } = record
    const { number, content_run } = chunk
    const is_repeat = chunk.is_repeat === 1
    return {
      next: { campaign_id, content_run, chunk: number, claim_id: claimId, claimed_until, is_repeat, recipients },
      has_more: true,
    }
  }

  #findReady(now: number): Chunk | null {
    for (let chunk = this.#chunks.findReady(now); chunk; chunk = this.#chunks.findReady(now))
      if (this.#narrow(chunk, now)) return chunk
    return null
  }

  /** Narrows a chunk to its pending members. Deletes it and returns false when none of it has to be sent. */
  #narrow(chunk: Chunk, now: number): boolean {
    const pendingNumbers = this.#listPending(chunk)
    const { deduplicates } = this.#getProvider()
    const { tries } = chunk
    const attempt = { now, tries, is_repeat: true, first_tried_at: chunk.first_tried_at ?? now, deduplicates }
    if (pendingNumbers.length === 0) {
      this.#chunks.remove(chunk.number)
      return false
    }
    if (chunk.is_repeat && !isRepeatable(attempt)) {
      this.#giveUp(chunk)
      return false
    }
    if (!chunk.is_repeat) {
      chunk.members = JSON.stringify(pendingNumbers)
      this.#chunks.setMembers(chunk.number, pendingNumbers)
    }
    return true
  }

  /** Makes a chunk of the next pending recipients. After the last one, the cursor stops further searches. */
  #addChunk(record: CampaignRecord, claim: ChunkClaimTerms): Chunk | null {
    const members = this.#store.listPending(record, computeChunkSize(this.#getProvider(record).batch))
    this.#store.changeRecord({ chunked_up_to: members.at(-1) ?? Number.MAX_SAFE_INTEGER }, { isVisible: false })
    return members.length ? this.#chunks.addClaimed(record, members, claim) : null
  }

  /** Stops the campaign for a reason that somebody has to correct. Pending recipients wait for a retry. */
  halt(reason: string, now: number): void {
    this.deleteUnsentChunks()
    this.#store.changeRecord({ status: 'failed', error_message: reason, completed_at: now })
  }

  deleteUnsentChunks(): void {
    this.#chunks.deleteUnsent()
  }

  /** Fails the recipients of chunks that may have been sent, because nobody will repeat the calls. */
  giveUpChunks(): void {
    this.deleteUnsentChunks()
    for (const chunk of this.#chunks.listReady()) this.#giveUp(chunk)
  }

  countChunks(): number {
    return this.#chunks.count()
  }

  /** True if a consumer would get a chunk now. */
  isWaiting(now: number): boolean {
    const record = this.#store.readRecord()
    if (record?.status !== 'sending' || this.findClosedUntil(now, record) > now) return false
    if (this.#chunks.countHeld(now) >= record.concurrency) return false
    return this.#chunks.findReady(now) !== undefined || this.#store.listPending(record, 1).length > 0
  }

  /** True if a consumer holds a chunk, or would get one. */
  isBusy(now: number): boolean {
    return this.#chunks.countHeld(now) > 0 || this.isWaiting(now)
  }

  /** Finds until when no chunk is handed out: 0 while chunks are, and infinity while the campaign is paused. */
  findClosedUntil(now: number, record = this.#store.readRecord()): number {
    return record ? Math.max(record.limited_until, this.gate.findEnd(record, now)) : 0
  }

  /** Finds when the next chunk may be claimed or given up, or the next claim ends. */
  findNextTime(now: number): number | null {
    const record = this.#store.readRecord()
    if (!record) return null
    const { claimed_until, not_before, repeated_since } = this.#chunks.findNextTimes()
    const isSending = record.status === 'sending'
    const readyAt = not_before !== null && isSending ? Math.max(not_before, this.findClosedUntil(now, record)) : null
    const givenUpAt = repeated_since === null ? null : repeated_since + repeatableMs
    const times = [claimed_until, readyAt, givenUpAt].filter((at) => at !== null && Number.isFinite(at))
    return times.length ? Math.min(...(times as number[])) : null
  }

  /** Ends the campaign when no recipient is pending. */
  finishIfDone(now: number): void {
    const record = this.#store.readRecord()
    if (record?.status !== 'sending' || countPending(record) > 0 || this.countChunks() > 0) return
    const isSent = record.sent > 0
    const failure = record.total === 0 ? 'Nobody could be reached.' : 'No message could be sent.'
    this.#store.changeRecord({
      status: isSent ? 'sent' : 'failed',
      error_message: isSent ? '' : failure,
      completed_at: now,
    })
  }
}
