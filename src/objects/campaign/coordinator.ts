import type { JobCtx } from '../../context.ts'
import type { RecipientEvent } from '../../domain/campaigns/recipient-events.ts'
import type {
  CampaignSender,
  CampaignSnapshot,
  ErasedRecipient,
  RecipientRow,
  RecipientsPage,
  RecipientsQuery,
  Told,
} from '../../domain/campaigns/sender.ts'
import {
  type Answer,
  type FailReason,
  type LeftOut,
  type Report,
  retryableReasons,
} from '../../domain/campaigns/sending-policy.ts'
import { pendingOf } from '../../domain/campaigns/counters.ts'
import { isRunning } from '../../domain/campaigns/lifecycle.ts'
import {
  type CampaignRow,
  project,
  projectReceipts,
  readCampaign,
  enqueueCampaign,
  startDue,
} from '../../modules/campaigns/index.ts'
import { Calculation } from './calculation.ts'
import { Chunks } from './chunks.ts'
import { eraseRecipient } from './erasure.ts'
import { type Settled, snapshotOf, type Storage } from './schema.ts'
import { Ledger } from './recipient-store.ts'
import { listRecipients } from './recipient-list.ts'

/** The row shows what the object knows at most this much later. */
const projectEveryMs = 2000
/** An alarm that dies leaves another behind, this much later. */
const reviveMs = 5000
/** Whoever was enqueued for has come by then, or the bell was lost. */
const enqueueAgainMs = 10_000
const consumersAtOnce = 4
const receiptsATime = 20

/** What the object of a campaign does, over its storage and a job's surroundings. */
export class CampaignDesk implements CampaignSender {
  readonly #storage: Storage
  readonly #job: JobCtx
  readonly #ledger: Ledger
  #enqueuedAt = 0
  #woken = 0

  constructor(storage: Storage, job: JobCtx) {
    this.#storage = storage
    this.#job = job
    this.#ledger = new Ledger(storage)
  }

  get #chunks(): Chunks {
    const { email, sms } = this.#job
    return new Chunks(this.#ledger, this.#ledger.record()?.channel === 'sms' ? sms : email)
  }

  async wake(campaignId: string, at?: number): Promise<void> {
    this.#ledger.open(campaignId)
    this.#woken++
    await this.#wakeBy(Math.max(at ?? 0, this.#job.now()))
  }

  /** At the latest then: whatever it was to wake for before that is not put off, unless it should long have come. */
  async #wakeBy(at: number): Promise<void> {
    const set = await this.#storage.getAlarm()
    const isNear = set !== null && set <= at && set > this.#job.now() - reviveMs
    if (!isNear) await this.#storage.setAlarm(at)
  }

  async cancel(campaignId: string, run: number): Promise<{ done: boolean; snapshot: CampaignSnapshot }> {
    const done = this.#ledger.together(() => {
      const record = this.#ledger.open(campaignId)
      if (record.run > run || (record.run === run && !isRunning(record.status))) return record.status === 'cancelled'
      this.#ledger.change({ run, status: 'cancelled', step: '', completed_at: this.#job.now() })
      this.#chunks.abandon()
      return true
    })
    await this.#wakeBy(this.#job.now() + projectEveryMs)
    return { done, snapshot: snapshotOf(this.#ledger.open(campaignId)) }
  }

  async forget(): Promise<boolean> {
    const record = this.#ledger.record()
    const mayBeOut = () => this.#chunks.count() > 0 || this.#ledger.countFailed(['unknown'] satisfies FailReason[]) > 0
    if (record && (record.sent > 0 || isRunning(record.status) || mayBeOut())) return false
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
    this.#ledger.lay()
    return true
  }

  async snapshot(): Promise<CampaignSnapshot | null> {
    const record = this.#ledger.record()
    return record && snapshotOf(record)
  }

  async retryable(): Promise<number> {
    const record = this.#ledger.record()
    return record && record.step === '' ? pendingOf(record) + this.#ledger.countFailed(retryableReasons) : 0
  }

  async recipients(query: RecipientsQuery): Promise<RecipientsPage> {
    return listRecipients(this.#storage.sql, query)
  }

  async recipient(n: number): Promise<RecipientRow | null> {
    return this.#ledger.people([n])[0] ?? null
  }

  async erase(n: number): Promise<ErasedRecipient> {
    const erased = eraseRecipient(this.#ledger, n)
    if (this.#ledger.isBehind()) await this.#wakeBy(this.#job.now() + projectEveryMs)
    return erased
  }

  async claim(lease: string): Promise<Answer> {
    return this.#handingOut(this.#chunks.claim(lease, this.#job.now()))
  }

  async begin(chunk: number, lease: string, leftOut: readonly LeftOut[]): Promise<boolean> {
    return this.#chunks.begin(chunk, lease, leftOut, this.#job.now())
  }

  async report(report: Report, lease: string): Promise<Answer> {
    const answer = this.#chunks.report(report, lease, this.#job.now())
    if (!isRunning(this.#ledger.record()?.status ?? '')) await this.#wakeBy(this.#job.now())
    return this.#handingOut(answer)
  }

  /** Consumers who come show that the bell was heard. */
  #handingOut(answer: Answer): Answer {
    this.#enqueuedAt = this.#job.now()
    return answer
  }

  async apply(events: readonly RecipientEvent[]): Promise<Told[]> {
    const told = this.#ledger.together(() => {
      const proven = new Map<number, Extract<Settled, { to: 'sent' }>>()
      for (const { n, at, provider_id } of events) {
        const known = proven.get(n)
        proven.set(n, {
          to: 'sent',
          provider_id: known?.provider_id ?? provider_id ?? null,
          at: Math.min(known?.at ?? at, at),
        })
      }
      // Whatever happened to a message shows that it was sent, also when nobody told us so.
      this.#ledger.settle(proven, false)
      this.#chunks.conclude(this.#job.now())
      return this.#ledger.stamp(events)
    })
    if (this.#ledger.isBehind()) await this.#wakeBy(this.#job.now() + projectEveryMs)
    return told
  }

  /** Everything that the object does by itself. Dying anywhere in it costs nothing but time. */
  async alarm(): Promise<void> {
    const woken = this.#woken
    await this.#storage.setAlarm(this.#job.now() + reviveMs)
    await this.#look()
    const record = this.#ledger.record()
    if (!record) return
    if (record.status === 'calculating') await new Calculation(this.#job, this.#ledger, this.#chunks).proceed()
    await this.#keepGoing()
    await this.#show()
    await this.#rest(woken)
  }

  /** What the campaign's row asks for: a start that is due, or a new run. */
  async #look(): Promise<void> {
    const record = this.#ledger.record()
    if (!record || isRunning(record.status)) return
    const now = this.#job.now()
    let row = await readCampaign(this.#job, record.campaign_id)
    if (row?.status === 'scheduled' && (row.scheduled_at ?? 0) <= now) row = await startDue(this.#job, row.id)
    if (row?.status === 'scheduled') await this.#storage.setAlarm(row.scheduled_at ?? now)
    if (row && isRunning(row.status)) this.#start(row)
  }

  #start(row: CampaignRow): void {
    this.#ledger.together(() => {
      const record = this.#ledger.open(row.id)
      if (record.run >= row.run) return
      const isRetry = row.status === 'sending'
      this.#chunks.release()
      this.#ledger.change({
        run: row.run,
        channel: row.channel,
        status: isRetry ? 'sending' : 'calculating',
        step: isRetry ? '' : 'content',
        error_message: '',
        cut_after: 0,
        member_after: 0,
        paused_until: 0,
        completed_at: null,
        started_at: isRetry ? record.started_at : null,
      })
      if (row.channel === 'sms') this.#ledger.shareAddresses()
      if (isRetry) this.#ledger.reopen(retryableReasons)
    })
  }

  /** Rings for consumers while there is something to send that nobody holds. */
  async #keepGoing(): Promise<void> {
    const now = this.#job.now()
    this.#ledger.together(() => {
      this.#chunks.expire(now)
      this.#chunks.conclude(now)
    })
    const record = this.#ledger.record()
    if (record?.status !== 'sending' || !this.#chunks.isWaiting(now) || now - this.#enqueuedAt < enqueueAgainMs) return
    await enqueueCampaign(this.#job, record.campaign_id, consumersAtOnce)
    this.#enqueuedAt = now
  }

  /** Brings the campaign's row and people's receipts up to date. */
  async #show(): Promise<void> {
    const record = this.#ledger.record()
    if (!record || record.run === 0) return
    const now = this.#job.now()
    const isDue = !isRunning(record.status) || now - record.projected_at >= projectEveryMs
    if (record.projected < record.revision && isDue) {
      await project(this.#job, snapshotOf(record))
      this.#ledger.change({ projected: record.revision, projected_at: now }, false)
    }
    for (;;) {
      const due = this.#ledger.changedReceipts(receiptsATime)
      if (due.numbers.length === 0) return
      await projectReceipts(this.#job, record.campaign_id, due.rows)
      this.#ledger.forgetChanged(due.numbers)
    }
  }

  /** Sets the alarm for what comes next, or for nothing. Whoever woke the object meanwhile has not been heard yet. */
  async #rest(woken: number): Promise<void> {
    const known = this.#ledger.record()
    const row = known && !isRunning(known.status) ? await readCampaign(this.#job, known.campaign_id) : null
    // From here on nothing is waited for: what is told while the row is read is in the record.
    const record = this.#ledger.record()
    if (!record) return
    const now = this.#job.now()
    const due = this.#chunks.nextAt()
    const times = [due]
    if (this.#woken !== woken) times.push(now)
    if (row?.status === 'scheduled') times.push(row.scheduled_at)
    if (this.#ledger.isBehind()) times.push(record.projected_at + projectEveryMs)
    if (record.status === 'calculating') times.push(now)
    // While others work its numbers change; while the provider rests nothing does.
    if (record.status === 'sending') {
      const isResting = record.paused_until > now
      if (this.#chunks.isBusy(now) || (due === null && !isResting)) times.push(now + projectEveryMs)
      else if (isResting) times.push(record.paused_until)
    }
    const next = times.filter((at) => at !== null).toSorted((a, b) => a - b)[0]
    if (next === undefined) await this.#storage.deleteAlarm()
    else await this.#storage.setAlarm(Math.max(next, now + 50))
  }
}
