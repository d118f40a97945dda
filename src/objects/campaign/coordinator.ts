import type { JobCtx } from '../../context.ts'
import { isRunning } from '../../domain/campaigns/lifecycle.ts'
import { retryableReasons } from '../../domain/campaigns/sending-policy.ts'
import { noWait } from '../../domain/waiting.ts'
import {
  type CampaignRow,
  enqueueConsumers,
  projectSnapshot,
  projectEngagement,
  readCampaign,
  startDueCampaign,
} from '../../modules/campaigns/index.ts'
import { AudienceCalculation } from './audience-calculation.ts'
import { ChunkDispatcher } from './chunk-dispatcher.ts'
import type { RecipientStore } from './recipient-store.ts'
import { type ObjectStorage, toSnapshot } from './schema.ts'

/** The campaign's row is at most this far behind the object. */
const projectEveryMs = 2000
/** Each alarm first sets another one this much later, in case it is interrupted. */
const recoveryMs = 5000
/** After this time without a consumer, the queue messages count as lost. */
const enqueueAgainMs = 10_000
const consumersAtOnce = 4
const engagementChangesAtOnce = 20

/**
 * The work that a campaign's object does in its alarms: it starts runs, finds recipients, enqueues messages for
 * consumers and projects its state into the database.
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

  /** Creates a new dispatcher each time, because the provider depends on the campaign's channel. */
  get dispatcher(): ChunkDispatcher {
    const { email, sms } = this.#job
    return new ChunkDispatcher(this.#store, this.#store.readRecord()?.channel === 'sms' ? sms : email)
  }

  /** Sets an alarm that reads the campaign's row. */
  async wake(at: number): Promise<void> {
    this.#wakeCount++
    await this.wakeBy(at)
  }

  /** Sets the alarm, unless one goes off earlier. An overdue alarm does not count, because it may be lost. */
  async wakeBy(at: number): Promise<void> {
    const alarmAt = await this.#storage.getAlarm()
    const isEarlier = alarmAt !== null && alarmAt <= at && alarmAt > this.#job.now() - recoveryMs
    if (!isEarlier) await this.#storage.setAlarm(at)
  }

  projectSoon(): Promise<void> {
    return this.wakeBy(this.#job.now() + projectEveryMs)
  }

  /** Notes that a consumer asked for chunks, so the queue messages are not lost. */
  noteConsumer(): void {
    this.#enqueuedAt = this.#job.now()
  }

  /** A crash at any point loses nothing, because the next alarm continues. */
  async alarm(): Promise<void> {
    const wakeCount = this.#wakeCount
    await this.#storage.setAlarm(this.#job.now() + recoveryMs)
    await this.#startIfRequested()
    const record = this.#store.readRecord()
    if (!record) return
    if (record.status === 'calculating')
      await new AudienceCalculation(this.#job, this.#store, this.dispatcher).advance()
    await this.#enqueueConsumers()
    await this.#project()
    await this.#setNextAlarm(wakeCount)
  }

  /** Starts the run that the campaign's row requests, and a scheduled campaign that is due. */
  async #startIfRequested(): Promise<void> {
    const record = this.#store.readRecord()
    if (!record || isRunning(record.status)) return
    const now = this.#job.now()
    let row = await readCampaign(this.#job, record.campaign_id)
    if (row?.status === 'scheduled' && (row.scheduled_at ?? 0) <= now) row = await startDueCampaign(this.#job, row.id)
    if (row?.status === 'scheduled') await this.#storage.setAlarm(row.scheduled_at ?? now)
    if (row && isRunning(row.status)) this.#start(row)
  }

  #start(row: CampaignRow): void {
    this.#store.transaction(() => {
      const record = this.#store.ensureRecord(row.id)
      if (record.run >= row.run) return
      const isRetry = row.status === 'sending'
      this.dispatcher.deleteUnsentChunks()
      this.#store.changeRecord({
        run: row.run,
        channel: row.channel,
        status: isRetry ? 'sending' : 'calculating',
        step: isRetry ? '' : 'content',
        error_message: '',
        chunked_up_to: 0,
        added_up_to: 0,
        segment_epoch: 0,
        paused_until: 0,
        ...noWait,
        completed_at: null,
        started_at: isRetry ? record.started_at : null,
      })
      if (isRetry) this.#store.reopen(retryableReasons)
    })
  }

  /** Enqueues messages for consumers while a chunk waits for one. */
  async #enqueueConsumers(): Promise<void> {
    const now = this.#job.now()
    this.#store.transaction(() => {
      this.dispatcher.endExpiredClaims(now)
      this.dispatcher.finishIfDone(now)
    })
    const record = this.#store.readRecord()
    if (record?.status !== 'sending' || !this.dispatcher.isWaiting(now) || now - this.#enqueuedAt < enqueueAgainMs)
      return
    await enqueueConsumers(this.#job, record.campaign_id, consumersAtOnce)
    this.#enqueuedAt = now
  }

  /** Brings the campaign's row and its rows of `campaign_receipts` up to date. */
  async #project(): Promise<void> {
    const record = this.#store.readRecord()
    if (!record || record.run === 0) return
    const now = this.#job.now()
    const isDue = !isRunning(record.status) || now - record.projected_at >= projectEveryMs
    if (record.projected_revision < record.revision && isDue) {
      await projectSnapshot(this.#job, toSnapshot(record))
      this.#store.changeRecord({ projected_revision: record.revision, projected_at: now }, { isVisible: false })
    }
    for (;;) {
      const changes = this.#store.engagement.listChanged(engagementChangesAtOnce)
      if (changes.numbers.length === 0) return
      await projectEngagement(this.#job, record.campaign_id, changes.rows)
      this.#store.engagement.clear(changes.numbers)
    }
  }

  /**
   * Sets the alarm for the next work, or deletes it. A `wake` since `wakeCount` was read needs another alarm at once.
   */
  async #setNextAlarm(wakeCount: number): Promise<void> {
    const before = this.#store.readRecord()
    const row = before && !isRunning(before.status) ? await readCampaign(this.#job, before.campaign_id) : null
    // Nothing is awaited from here on, so the record includes everything that happened while the row was read.
    const record = this.#store.readRecord()
    if (!record) return
    const now = this.#job.now()
    const nextChunkAt = this.dispatcher.findNextTime()
    const times = [nextChunkAt]
    if (this.#wakeCount !== wakeCount) times.push(now)
    if (row?.status === 'scheduled') times.push(row.scheduled_at)
    if (this.#store.isProjectionBehind()) times.push(record.projected_at + projectEveryMs)
    if (record.status === 'calculating') times.push(now)
    // Consumers at work change the counters, which have to be projected. While the provider is paused nothing changes.
    if (record.status === 'sending') {
      const isPaused = record.paused_until > now
      if (this.dispatcher.isBusy(now) || (nextChunkAt === null && !isPaused)) times.push(now + projectEveryMs)
      else if (isPaused) times.push(record.paused_until)
    }
    const next = times.filter((at) => at !== null).toSorted((a, b) => a - b)[0]
    if (next === undefined) await this.#storage.deleteAlarm()
    else await this.#storage.setAlarm(Math.max(next, now + 50))
  }
}
