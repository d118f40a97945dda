import {
  type Answer,
  chunkSizeOf,
  isRepeatable,
  leaseMs,
  type LeftOut,
  maxLanes,
  type Person,
  type Report,
  verdictOf,
} from '../../domain/campaigns/sending-policy.ts'
import { pendingOf } from '../../domain/campaigns/counters.ts'
import type { Language } from '../../domain/languages.ts'
import type { CampaignRecord, Settled } from './schema.ts'
import type { Ledger } from './recipient-store.ts'
import { type Chunk, ChunkShelf, type Follower, membersOf } from './chunk-store.ts'

/** What the channel's provider can do. */
export interface Provider {
  batch: number
  deduplicates: boolean
  reportsDelivery: boolean
}

const unknownAnswer = 'The consumer that sent this never told what came of it.'

const skipped = ({ reason }: LeftOut): Settled => ({ to: 'skipped', reason, code: '', detail: '' })

/** What a report says of a chunk, taken together. */
interface Reading {
  endings: Map<number, Settled>
  followers: Follower[]
  halted: string | null
  paused_until: number
  lanes: number
}

/** How the pending recipients of a campaign are handed out, and what comes back. */
export class Chunks {
  readonly #ledger: Ledger
  readonly #shelf: ChunkShelf
  readonly #provider: Provider

  constructor(ledger: Ledger, provider: Provider) {
    this.#ledger = ledger
    this.#shelf = new ChunkShelf(ledger.storage.sql)
    this.#provider = provider
  }

  claim(lease: string, now: number): Answer {
    return this.#ledger.together(() => {
      this.expire(now)
      return this.#next(lease, now)
    })
  }

  begin(number: number, lease: string, leftOut: readonly LeftOut[], now: number): boolean {
    return this.#ledger.together(() => {
      const chunk = this.#shelf.held(number, lease)
      if (!chunk || this.#ledger.record()?.status !== 'sending' || (chunk.lease_until ?? 0) <= now) return false
      const gone = new Set(leftOut.map(({ n }) => n))
      this.#shelf.begin(
        number,
        membersOf(chunk).filter((n) => !gone.has(n)),
      )
      this.#ledger.settle(new Map(leftOut.map((one) => [one.n, skipped(one)])), false)
      return true
    })
  }

  report(report: Report, lease: string, now: number): Answer {
    return this.#ledger.together(() => {
      this.#take(report, now)
      this.expire(now)
      const answer = this.#next(report.goes_on ? lease : null, now)
      this.conclude(now)
      return answer
    })
  }

  /** What results say. Those of a lease that is over count as far as they are final and good. */
  #take(report: Report, now: number): void {
    const record = this.#ledger.record()
    if (!record) return
    const chunk = this.#shelf.held(report.chunk, report.lease)
    const { endings, followers, halted, paused_until, lanes } = this.#read(record, chunk, report, now)
    this.#ledger.settle(endings, !this.#provider.reportsDelivery)
    if (!chunk) return
    this.#shelf.remove(chunk.number)
    // Once the campaign has stopped, the next run cuts anew whoever cannot have got it.
    const goesOn = record.status === 'sending' && halted === null
    for (const follower of followers) if (follower.exact || goesOn) this.#shelf.follow(chunk, follower)
    if (paused_until !== record.paused_until || lanes !== record.lanes)
      this.#ledger.change({ paused_until, lanes }, false)
    if (halted !== null && record.status === 'sending') this.halt(halted, now)
    if (record.status === 'cancelled') this.abandon()
  }

  #read(record: CampaignRecord, chunk: Chunk | null, report: Report, now: number): Reading {
    const reading: Reading = {
      endings: new Map(),
      followers: [],
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
        if (verdict.to === 'sent') reading.endings.set(n, { to: 'sent', provider_id: verdict.provider_id, at: now })
        else if (!chunk) continue
        else if (verdict.to === 'failed') reading.endings.set(n, verdict)
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
      // Being asked to wait does not count as a try.
      const follower = { at: again.at, tries: tries - Number(again.isLimited) }
      // The same call again has to be of the same messages, also of those whose result is known.
      if (again.exact.length) reading.followers.push({ ...follower, members: call.map(({ n }) => n), exact: true })
      else if (again.anew.length) reading.followers.push({ ...follower, members: again.anew, exact: false })
    }
    const told = new Set(report.calls.flat().map(({ n }) => n))
    const untold = chunk ? membersOf(chunk).filter((n) => !told.has(n)) : []
    if (untold.length) reading.followers.push({ members: untold, exact: attempt.is_repeat, at: now, tries })
    return reading
  }

  /** Of leases that are over: what cannot have been sent is free again, what may have been is repeated as it was or given up. */
  expire(now: number): void {
    const { deduplicates } = this.#provider
    const isCancelled = this.#ledger.record()?.status === 'cancelled'
    for (const chunk of this.#shelf.overdue(now)) {
      const wasCalled = deduplicates || chunk.state === 'begun' || chunk.is_repeat === 1
      if (wasCalled && (!deduplicates || isCancelled)) this.#giveUp(chunk)
      else if (isCancelled) this.#shelf.remove(chunk.number)
      else this.#shelf.free(chunk.number, wasCalled, now)
    }
  }

  #giveUp(chunk: Chunk): void {
    const ending: Settled = { to: 'failed', reason: 'unknown', code: 'no_answer', detail: unknownAnswer }
    this.#ledger.settle(new Map(this.#open(chunk).map((n) => [n, ending])), false)
    this.#shelf.remove(chunk.number)
  }

  /** Members of whom nothing is known yet. */
  #open(chunk: Chunk): number[] {
    const people = this.#ledger.people(membersOf(chunk))
    return people.filter(({ state }) => state === 'pending').map(({ n }) => n)
  }

  #next(lease: string | null, now: number): Answer {
    const record = this.#ledger.record()
    const isClosed = record?.status !== 'sending' || record.paused_until > now
    if (!record || isClosed || this.#shelf.out(now) >= record.lanes) return { next: null, has_more: false }
    const chunk = this.#ready(record, now)
    if (!chunk || lease === null) return { next: null, has_more: chunk !== null }
    const lease_until = now + leaseMs
    this.#shelf.lease(chunk.number, lease, now, lease_until)
    const recipients = this.#ledger.people(membersOf(chunk)).map((row) => ({
      n: row.n,
      address: row.address,
      language: row.language as Language,
      person: JSON.parse(row.person) as Person,
    }))
    const { campaign_id } = record
    const { number, content } = chunk
    return {
      next: { campaign_id, content, chunk: number, lease, lease_until, is_repeat: chunk.is_repeat === 1, recipients },
      has_more: true,
    }
  }

  #ready(record: CampaignRecord, now: number): Chunk | null {
    for (let chunk = this.#shelf.ready(now); chunk; chunk = this.#shelf.ready(now))
      if (this.#isWanted(chunk, now)) return chunk
    return this.#cut(record, now)
  }

  /** False, and it is gone, for a chunk of which nothing is left to do. */
  #isWanted(chunk: Chunk, now: number): boolean {
    const open = this.#open(chunk)
    const { deduplicates } = this.#provider
    const age = { now, tries: chunk.tries, is_repeat: true, first_tried_at: chunk.first_tried_at ?? now, deduplicates }
    if (open.length === 0) this.#shelf.remove(chunk.number)
    else if (chunk.is_repeat && !isRepeatable(age)) this.#giveUp(chunk)
    else {
      if (!chunk.is_repeat) {
        chunk.members = JSON.stringify(open)
        this.#shelf.trim(chunk.number, open)
      }
      return true
    }
    return false
  }

  /** The next pending recipients who are in no chunk. Once nobody is left behind the cursor, nobody looks again. */
  #cut(record: CampaignRecord, now: number): Chunk | null {
    const members = this.#ledger.pendingAfter(record, chunkSizeOf(this.#provider.batch))
    this.#ledger.change({ cut_after: members.at(-1) ?? Number.MAX_SAFE_INTEGER }, false)
    return members.length ? this.#shelf.add(record, members, now) : null
  }

  /** Stops for a reason that somebody has to mend. What was not sent waits for a retry. */
  halt(message: string, now: number): void {
    this.release()
    this.#ledger.change({ status: 'failed', error_message: message, completed_at: now })
  }

  release(): void {
    this.#shelf.release()
  }

  /** Gives up what may have been sent and will not be repeated. */
  abandon(): void {
    this.release()
    for (const chunk of this.#shelf.unclaimed()) this.#giveUp(chunk)
  }

  count(): number {
    return this.#shelf.count()
  }

  /** Whether somebody who came now would get something. */
  isWaiting(now: number): boolean {
    const record = this.#ledger.record()
    if (record?.status !== 'sending' || record.paused_until > now || this.#shelf.out(now) >= record.lanes) return false
    return this.#shelf.ready(now) !== undefined || this.#ledger.pendingAfter(record, 1).length > 0
  }

  /** Whether anybody holds a chunk, or would get one. */
  isBusy(now: number): boolean {
    return this.#shelf.out(now) > 0 || this.isWaiting(now)
  }

  /** When something falls due: a chunk, or the end of a lease. */
  nextAt(): number | null {
    const record = this.#ledger.record()
    if (!record) return null
    const { lease_until, not_before } = this.#shelf.next()
    const ready = not_before !== null && record.status === 'sending' ? Math.max(not_before, record.paused_until) : null
    return lease_until !== null && ready !== null ? Math.min(lease_until, ready) : (lease_until ?? ready)
  }

  /** Ends the campaign when nobody is left. */
  conclude(now: number): void {
    const record = this.#ledger.record()
    if (record?.status !== 'sending' || pendingOf(record) > 0 || this.count() > 0) return
    const isSent = record.sent > 0
    const why = record.total === 0 ? 'Nobody could be reached.' : 'No message could be sent.'
    this.#ledger.change({
      status: isSent ? 'sent' : 'failed',
      error_message: isSent ? '' : why,
      completed_at: now,
    })
  }
}
