import type { JobCtx } from '../../context.ts'
import { isRunning } from '../../domain/campaigns/lifecycle.ts'
import { retryableReasons } from '../../domain/campaigns/sending-policy.ts'
import {
  type CampaignRow,
  enqueueCampaign,
  project,
  projectEngagement,
  readCampaign,
  startDue,
} from '../../modules/campaigns/index.ts'
import { AudienceCalculation } from './audience-calculation.ts'
import { ChunkDispatcher } from './chunk-dispatcher.ts'
import type { RecipientStore } from './recipient-store.ts'
import { type ObjectStorage, snapshotOf } from './schema.ts'

/** The campaign's row is at most this much behind the object. */
const projectEveryMs = 2000
/** Each alarm first sets the next one this much later, in case it is interrupted. */
const reviveMs = 5000
/** After this long without a consumer, the queue messages count as lost. */
const enqueueAgainMs = 10_000
const consumersAtOnce = 4
const engagementRowsAtOnce = 20

/**
 * The work of a campaign object in its alarms: starts runs, finds recipients, enqueues messages for consumers and
 * projects.
 */
export class CampaignCoordinator {
  readonly #storage: ObjectStorage
  readonly #job: JobCtx
  readonly #store: RecipientStore
  #enqueuedAt = 0
  #wakeCount = 0

  constructor(storage: ObjectStorage, job: JobCtx, store: RecipientStore) {
    this.#storage = storage
    this.#job = job
    this.#store = store
  }

  /** A new one each time, because the channel of the campaign decides on the provider. */
  get dispatcher(): ChunkDispatcher {
    const { email, sms } = this.#job
    return new ChunkDispatcher(this.#store, this.#store.record()?.channel === 'sms' ? sms : email)
  }

  /** Sets an alarm that reads the campaign's row. */
  async wake(at: number): Promise<void> {
    this.#wakeCount++
    await this.wakeBy(at)
  }

  /** Sets the alarm, unless it goes off earlier anyway. An alarm that is overdue does not count. */
  async wakeBy(at: number): Promise<void> {
    const set = await this.#storage.getAlarm()
    const isNear = set !== null && set <= at && set > this.#job.now() - reviveMs
    if (!isNear) await this.#storage.setAlarm(at)
  }

  projectSoon(): Promise<void> {
    return this.wakeBy(this.#job.now() + projectEveryMs)
  }

  /** A consumer has requested chunks, so the messages for consumers have arrived. */
  noteConsumer(): void {
    this.#enqueuedAt = this.#job.now()
  }

  /** A crash at any place loses nothing: the next alarm goes on. */
  async alarm(): Promise<void> {
    const wakeCount = this.#wakeCount
    await this.#storage.setAlarm(this.#job.now() + reviveMs)
    await this.#startIfAsked()
    const record = this.#store.record()
    if (!record) return
    if (record.status === 'calculating')
      await new AudienceCalculation(this.#job, this.#store, this.dispatcher).proceed()
    await this.#enqueueConsumers()
    await this.#project()
    await this.#setNextAlarm(wakeCount)
  }

  /** Begins what the campaign's row requests: a start that is due, or a new run. */
  async #startIfAsked(): Promise<void> {
    const record = this.#store.record()
    if (!record || isRunning(record.status)) return
    const now = this.#job.now()
    let row = await readCampaign(this.#job, record.campaign_id)
    if (row?.status === 'scheduled' && (row.scheduled_at ?? 0) <= now) row = await startDue(this.#job, row.id)
    if (row?.status === 'scheduled') await this.#storage.setAlarm(row.scheduled_at ?? now)
    if (row && isRunning(row.status)) this.#start(row)
  }

  #start(row: CampaignRow): void {
    this.#store.transaction(() => {
      const record = this.#store.open(row.id)
      if (record.run >= row.run) return
      const isRetry = row.status === 'sending'
      this.dispatcher.release()
      this.#store.change({
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
      if (isRetry) this.#store.reopen(retryableReasons)
    })
  }

  /** Enqueues messages for consumers while there are unclaimed chunks. */
  async #enqueueConsumers(): Promise<void> {
    const now = this.#job.now()
    this.#store.transaction(() => {
      this.dispatcher.expire(now)
      this.dispatcher.conclude(now)
    })
    const record = this.#store.record()
    if (record?.status !== 'sending' || !this.dispatcher.isWaiting(now) || now - this.#enqueuedAt < enqueueAgainMs)
      return
    await enqueueCampaign(this.#job, record.campaign_id, consumersAtOnce)
    this.#enqueuedAt = now
  }

  /** Brings the campaign's row and the engagement of its recipients up to date. */
  async #project(): Promise<void> {
    const record = this.#store.record()
    if (!record || record.run === 0) return
    const now = this.#job.now()
    const isDue = !isRunning(record.status) || now - record.projected_at >= projectEveryMs
    if (record.projected < record.revision && isDue) {
      await project(this.#job, snapshotOf(record))
      this.#store.change({ projected: record.revision, projected_at: now }, false)
    }
    for (;;) {
      const due = this.#store.engagement.listChanged(engagementRowsAtOnce)
      if (due.numbers.length === 0) return
      await projectEngagement(this.#job, record.campaign_id, due.rows)
      this.#store.engagement.clear(due.numbers)
    }
  }

  /** Sets the alarm for what comes next, or deletes it. A call of `wake` since `wakeCount` needs another alarm at once. */
  async #setNextAlarm(wakeCount: number): Promise<void> {
    const before = this.#store.record()
    const row = before && !isRunning(before.status) ? await readCampaign(this.#job, before.campaign_id) : null
    // Nothing is awaited from here on, so the record has all that happened while the row was read.
    const record = this.#store.record()
    if (!record) return
    const now = this.#job.now()
    const due = this.dispatcher.nextAt()
    const times = [due]
    if (this.#wakeCount !== wakeCount) times.push(now)
    if (row?.status === 'scheduled') times.push(row.scheduled_at)
    if (this.#store.isProjectionBehind()) times.push(record.projected_at + projectEveryMs)
    if (record.status === 'calculating') times.push(now)
    // Consumers at work change the numbers. A provider that requested a pause does not.
    if (record.status === 'sending') {
      const isPaused = record.paused_until > now
      if (this.dispatcher.isBusy(now) || (due === null && !isPaused)) times.push(now + projectEveryMs)
      else if (isPaused) times.push(record.paused_until)
    }
    const next = times.filter((at) => at !== null).toSorted((a, b) => a - b)[0]
    if (next === undefined) await this.#storage.deleteAlarm()
    else await this.#storage.setAlarm(Math.max(next, now + 50))
  }
}
