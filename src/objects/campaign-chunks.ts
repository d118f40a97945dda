import {
  type Answer,
  chunkSizeOf,
  type Claim,
  isRepeatable,
  leaseMs,
  type LeftOut,
  maxLanes,
  type Person,
  type Report,
  verdictOf,
} from '../domain/campaign-sending.ts'
import { pendingOf } from '../domain/campaigns.ts'
import type { Language } from '../domain/languages.ts'
import type { CampaignRecord, Ledger } from './campaign-ledger.ts'

/** What the channel's provider can do. */
export interface Provider {
  batch: number
  deduplicates: boolean
  reportsDelivery: boolean
}

/** A chunk that is out: its members never change, but for those that are left out before the first call. */
interface Chunk {
  number: number
  run: number
  content: number
  members: string
  /** ready: may be claimed. leased: somebody holds it. begun: and says that calls are being made. */
  state: 'ready' | 'leased' | 'begun'
  is_repeat: number
  tries: number
  first_tried_at: number | null
  not_before: number
  lease: string | null
  lease_until: number | null
}

interface Follower {
  members: number[]
  exact: boolean
  at: number
  isLimited: boolean
}

type Settlements = Parameters<Ledger['settle']>[0]
type Settlement = Settlements extends ReadonlyMap<number, infer One> ? One : never

const membersOf = (chunk: Chunk): number[] => JSON.parse(chunk.members) as number[]

const unknownAnswer = 'The consumer that sent this never told what came of it.'

/** How the pending recipients of a campaign are handed out, and what comes back. */
export class Chunks {
  readonly #ledger: Ledger
  readonly #sql: SqlStorage
  readonly #provider: Provider

  constructor(ledger: Ledger, provider: Provider) {
    this.#ledger = ledger
    this.#sql = ledger.storage.sql
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
      const chunk = this.#held(number, lease)
      if (!chunk || this.#ledger.record()?.status !== 'sending' || (chunk.lease_until ?? 0) <= now) return false
      const gone = new Set(leftOut.map(({ n }) => n))
      const left = membersOf(chunk).filter((n) => !gone.has(n))
      this.#sql.exec("update chunks set state = 'begun', members = ? where number = ?", JSON.stringify(left), number)
      const endings = leftOut.map(({ n, reason }) => [n, { to: 'skipped' as const, reason, code: '', detail: '' }] as const)
      this.#ledger.settle(new Map(endings), false)
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
    const chunk = this.#held(report.chunk, report.lease)
    if (!record) return
    const endings = new Map<number, Settlement>()
    const followers: Follower[] = []
    let halted: string | null = null
    let pausedUntil = record.paused_until
    let lanes = Math.min(maxLanes, record.lanes + 1)
    const tries = chunk?.tries ?? 1
    const attempt = {
      now,
      is_repeat: chunk?.is_repeat === 1,
      tries: tries - 1,
      first_tried_at: chunk?.first_tried_at ?? now,
      deduplicates: this.#provider.deduplicates,
    }
    for (const call of report.calls) {
      const exact: number[] = []
      const free: number[] = []
      let at = now
      let isLimited = false
      for (const { n, result } of call) {
        const verdict = verdictOf(result, attempt)
        if (verdict.to === 'sent') endings.set(n, { to: 'sent', provider_id: verdict.provider_id, at: now })
        else if (!chunk) continue
        else if (verdict.to === 'failed') endings.set(n, verdict)
        else if (verdict.to === 'halted') {
          halted = verdict.detail
          ;(attempt.is_repeat ? exact : free).push(n)
        } else {
          at = Math.max(at, verdict.at)
          ;(verdict.exact ? exact : free).push(n)
        }
        if (!result.ok && result.kind === 'rate_limited') {
          isLimited = true
          pausedUntil = Math.max(pausedUntil, at)
          lanes = Math.max(1, Math.floor(record.lanes / 2))
        }
      }
      // The same call again has to be of the same messages, also of those whose result is known.
      if (exact.length) followers.push({ members: call.map(({ n }) => n), exact: true, at, isLimited })
      else if (free.length) followers.push({ members: free, exact: false, at, isLimited })
    }
    this.#ledger.settle(endings, !this.#provider.reportsDelivery)
    if (!chunk) return
    const told = new Set(report.calls.flat().map(({ n }) => n))
    const untold = membersOf(chunk).filter((n) => !told.has(n))
    if (untold.length) followers.push({ members: untold, exact: attempt.is_repeat, at: now, isLimited: false })
    this.#sql.exec('delete from chunks where number = ?', chunk.number)
    // Once the campaign has stopped, the next run cuts anew whoever cannot have got it.
    for (const follower of followers)
      if (follower.exact || (record.status === 'sending' && halted === null)) this.#follow(chunk, follower)
    if (pausedUntil !== record.paused_until || lanes !== record.lanes)
      this.#ledger.change({ paused_until: pausedUntil, lanes }, false)
    if (halted !== null && record.status === 'sending') this.halt(halted, now)
  }

  /** Being asked to wait does not count as a try. */
  #follow(chunk: Chunk, { members, exact, at, isLimited }: Follower): void {
    const tries = chunk.tries - Number(isLimited)
    this.#sql.exec(
      `insert into chunks (run, content, members, state, is_repeat, tries, first_tried_at, not_before)
       values (?, ?, ?, 'ready', ?, ?, ?, ?)`,
      ...[chunk.run, chunk.content, JSON.stringify(members), Number(exact), tries, chunk.first_tried_at, at],
    )
  }

  #held(number: number, lease: string): Chunk | null {
    const [chunk] = this.#sql.exec('select * from chunks where number = ?', number).toArray() as unknown as Chunk[]
    return chunk && chunk.state !== 'ready' && chunk.lease === lease ? chunk : null
  }

  /** Of leases that are over: what cannot have been sent is free again, what may have been is repeated as it was or given up. */
  expire(now: number): void {
    const record = this.#ledger.record()
    const over = this.#sql
      .exec("select * from chunks where state <> 'ready' and lease_until <= ? order by number", now)
      .toArray() as unknown as Chunk[]
    for (const chunk of over) {
      const wasCalled = this.#provider.deduplicates || chunk.state === 'begun' || chunk.is_repeat === 1
      if (wasCalled && (!this.#provider.deduplicates || record?.status === 'cancelled')) this.#giveUp(chunk)
      else
        this.#sql.exec(
          "update chunks set state = 'ready', lease = null, lease_until = null, is_repeat = ?, not_before = ? where number = ?",
          ...[Number(wasCalled), now, chunk.number],
        )
    }
  }

  #giveUp(chunk: Chunk): void {
    const ending: Settlement = { to: 'failed', reason: 'unknown', code: 'no_answer', detail: unknownAnswer }
    const open = this.#ledger.people(membersOf(chunk)).filter(({ state }) => state === 'pending')
    this.#ledger.settle(new Map(open.map(({ n }) => [n, ending])), false)
    this.#sql.exec('delete from chunks where number = ?', chunk.number)
  }

  #next(lease: string | null, now: number): Answer {
    const record = this.#ledger.record()
    if (!record || record.status !== 'sending' || record.paused_until > now) return { next: null, has_more: false }
    if (this.#out(now) >= record.lanes) return { next: null, has_more: false }
    const chunk = this.#ready(record, now)
    if (!chunk || lease === null) return { next: null, has_more: chunk !== null }
    return { next: this.#hand(record, chunk, lease, now), has_more: true }
  }

  #out(now: number): number {
    const [row] = this.#sql
      .exec<{ n: number }>("select count(*) as n from chunks where state <> 'ready' and lease_until > ?", now)
      .toArray()
    return row?.n ?? 0
  }

  #ready(record: CampaignRecord, now: number): Chunk | null {
    for (;;) {
      const [chunk] = this.#sql
        .exec("select * from chunks where state = 'ready' and not_before <= ? order by number limit 1", now)
        .toArray() as unknown as Chunk[]
      if (!chunk) return this.#cut(record, now)
      if (this.#isWanted(chunk, now)) return chunk
    }
  }

  /** False, and it is gone, for a chunk of which nothing is left to do. */
  #isWanted(chunk: Chunk, now: number): boolean {
    const members = membersOf(chunk)
    const open = this.#ledger.people(members).filter(({ state }) => state === 'pending')
    const age = { now, tries: chunk.tries, is_repeat: true, first_tried_at: chunk.first_tried_at ?? now }
    if (open.length && chunk.is_repeat && !isRepeatable({ ...age, deduplicates: this.#provider.deduplicates }))
      this.#giveUp(chunk)
    else if (open.length === 0) this.#sql.exec('delete from chunks where number = ?', chunk.number)
    else {
      if (!chunk.is_repeat && open.length < members.length) {
        chunk.members = JSON.stringify(open.map(({ n }) => n))
        this.#sql.exec('update chunks set members = ? where number = ?', chunk.members, chunk.number)
      }
      return true
    }
    return false
  }

  /** The next pending recipients who are in no chunk. Those of this run lie behind the cursor. */
  #cut(record: CampaignRecord, now: number): Chunk | null {
    const members = this.#sql
      .exec<{ n: number }>(
        `select n from recipients where n > ? and state = 'pending'
          and n not in (select value from chunks, json_each(chunks.members) where chunks.run < ?)
         order by n limit ?`,
        ...[record.cut_after, record.run, chunkSizeOf(this.#provider.batch)],
      )
      .toArray()
      .map(({ n }) => n)
    // Once nobody is left behind the cursor, nobody looks again.
    this.#ledger.change({ cut_after: members.at(-1) ?? Number.MAX_SAFE_INTEGER }, false)
    if (members.length === 0) return null
    const [chunk] = this.#sql
      .exec(
        "insert into chunks (run, content, members, state, not_before) values (?, ?, ?, 'ready', ?) returning *",
        ...[record.run, record.content, JSON.stringify(members), now],
      )
      .toArray() as unknown as Chunk[]
    return chunk ?? null
  }

  #hand(record: CampaignRecord, chunk: Chunk, lease: string, now: number): Claim {
    const until = now + leaseMs
    this.#sql.exec(
      `update chunks set state = 'leased', lease = ?, lease_until = ?, tries = tries + 1,
        first_tried_at = coalesce(first_tried_at, ?) where number = ?`,
      ...[lease, until, now, chunk.number],
    )
    return {
      campaign_id: record.campaign_id,
      content: chunk.content,
      chunk: chunk.number,
      lease,
      lease_until: until,
      is_repeat: chunk.is_repeat === 1,
      started_at: record.started_at ?? now,
      recipients: this.#ledger.people(membersOf(chunk)).map((row) => ({
        n: row.n,
        address: row.address,
        language: row.language as Language,
        person: JSON.parse(row.person) as Person,
      })),
    }
  }

  /** Stops for a reason that somebody has to mend. What was not sent waits for a retry. */
  halt(message: string, now: number): void {
    this.release()
    this.#ledger.change({ status: 'failed', error_message: message, completed_at: now })
  }

  /** Lets go of what nobody holds and cannot have been sent: its recipients are cut anew. */
  release(): void {
    this.#sql.exec("delete from chunks where state = 'ready' and is_repeat = 0")
  }

  /** Gives up what may have been sent and will not be repeated. */
  abandon(): void {
    this.release()
    const left = this.#sql.exec("select * from chunks where state = 'ready'").toArray() as unknown as Chunk[]
    for (const chunk of left) this.#giveUp(chunk)
  }

  count(): number {
    return this.#sql.exec<{ n: number }>('select count(*) as n from chunks').one().n
  }

  /** Whether somebody who came now would get something. */
  isWaiting(now: number): boolean {
    const record = this.#ledger.record()
    if (record?.status !== 'sending' || record.paused_until > now || this.#out(now) >= record.lanes) return false
    const found = this.#sql.exec(
      `select 1 from chunks where state = 'ready' and not_before <= ?
       union all select 1 from recipients where n > ? and state = 'pending' limit 1`,
      ...[now, record.cut_after],
    )
    return found.toArray().length > 0
  }

  /** When something falls due: a chunk, or the end of a lease. */
  nextAt(): number | null {
    const record = this.#ledger.record()
    if (!record) return null
    const { lease_until, not_before } = this.#sql
      .exec<{ lease_until: number | null; not_before: number | null }>(
        `select min(iif(state = 'ready', null, lease_until)) as lease_until,
          min(iif(state = 'ready', not_before, null)) as not_before from chunks`,
      )
      .one()
    const ready = not_before !== null && record.status === 'sending' ? Math.max(not_before, record.paused_until) : null
    return [lease_until, ready].reduce((first, at) => (first === null || (at !== null && at < first) ? at : first), null)
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
