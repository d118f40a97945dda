import type { JobCtx } from '../../context.ts'
import { isRunning } from '../../domain/campaigns/lifecycle.ts'
import { retryableReasons } from '../../domain/campaigns/sending-policy.ts'
import { noWindowWait } from '../../domain/campaigns/waits.ts'
import { isHeld, noWait } from '../../domain/waiting.ts'
import {
  enqueueConsumers,
  projectEngagement,
  projectSnapshot,
  type RequestedRun,
  startAndReadRequestedRun,
} from '../../modules/campaigns/index.ts'
import { AudienceCalculation } from './audience-calculation.ts'
import { ChunkDispatcher } from './chunk-dispatcher.ts'
import { computeNextAlarm, projectEveryMs } from './next-alarm.ts'
import type { RecipientStore } from './recipient-store.ts'
import { type ObjectStorage, toSnapshot } from './schema.ts'

/** Each alarm first sets another one this much later, in case it is interrupted. */
const recoveryMs = 5000
/** After this time without a consumer, the queue messages count as lost. */
const enqueueAgainMs = 10_000
const consumersAtOnce = 4
const engagementChangesAtOnce = 20
const restored = 'The database was restored to a time before this campaign was started.'

/**
 * The work that a campaign's object does in its alarms: it starts runs, finds recipients, enqueues messages for
 * consumers and projects its state into the database.
 */
export class CampaignCoordinator {
  readonly dispatcher: ChunkDispatcher
  readonly #storage: ObjectStorage
  readonly #job: JobCtx
  readonly #store: RecipientStore
  readonly #audience: AudienceCalculation
  #enqueuedAt = 0
  #requestCount = 0

  constructor(storage: ObjectStorage, job: JobCtx, store: RecipientStore) {
    this.#storage = storage
    this.#job = job
    this.#store = store
    this.dispatcher = new ChunkDispatcher(store, { email: job.email, sms: job.sms }, isHeld(job.config))
    this.#audience = new AudienceCalculation(job, store, this.dispatcher)
  }

  /** Sets an alarm that reads the campaign's row. */
  async requestRun(at: number): Promise<void> {
    this.#requestCount++
    await this.setAlarmBy(at)
  }

  /** Sets the alarm, unless one goes off earlier. An overdue alarm does not count, because it may be lost. */
  async setAlarmBy(at: number): Promise<void> {
    const alarmAt = await this.#storage.getAlarm()
    const isEarlier = alarmAt !== null && alarmAt <= at && alarmAt > this.#job.now() - recoveryMs
    if (!isEarlier) await this.#storage.setAlarm(at)
  }

  /** Starts the run that the campaign's row requests, if the object has not begun it yet. */
  async beginRun(run: number): Promise<void> {
    if ((this.#store.readRecord()?.run ?? 0) < run) await this.#startRequestedRun()
  }

  /** Sets an alarm that enqueues messages for consumers, if a chunk waits for one, and projects the change. */
  async resumeSoon(): Promise<void> {
    this.#enqueuedAt = 0
    await this.setAlarmBy(this.#job.now())
  }

  projectSoon(): Promise<void> {
    return this.setAlarmBy(this.#job.now() + projectEveryMs)
  }

  /** Notes that a consumer asked for chunks, so the queue messages are not lost. */
  noteConsumer(): void {
    this.#enqueuedAt = this.#job.now()
  }

  /** A crash at any point loses nothing, because the next alarm continues. */
  async alarm(): Promise<void> {
    const requestCount = this.#requestCount
    await this.#storage.setAlarm(this.#job.now() + recoveryMs)
    const scheduledAt = await this.#startRequestedRun()
    await this.#audience.advance()
    await this.#enqueueConsumers()
    await this.#project()
    await this.#setNextAlarm(requestCount, scheduledAt)
  }

  /** Starts the run that the campaign's row requests. Returns when the campaign is due, if it is scheduled. */
  async #startRequestedRun(): Promise<number | null> {
    const record = this.#store.readRecord()
    if (!record) return null
    const request = await startAndReadRequestedRun(this.#job, record.campaign_id)
    this.#followRestore(request)
    if (isRunning(record.status)) return null
    if (request && isRunning(request.status)) this.#start(request)
    return request?.status === 'scheduled' && request.paused_at === null ? request.scheduled_at : null
  }

  /**
   * Notices that the database was restored to an earlier time: its row is older than what was copied to it. What was sent
   * is copied again. A run that the row has not seen ends, because its content is gone and nobody requests it any more.
   */
  #followRestore(request: RequestedRun | null): void {
    this.#store.transaction(() => {
      const record = this.#store.readRecord()
      if (!record) return
      const isUnseen = request === null || request.run < record.run
      const isBehind = request?.run === record.run && request.revision < record.projected_revision
      if (isUnseen && isRunning(record.status)) this.dispatcher.halt(restored, this.#job.now())
      if (!isBehind && (!isUnseen || request === null)) return
      this.#store.changeRecord({ projected_revision: 0, projected_at: 0 }, { isVisible: false })
      this.#store.engagement.markAll()
    })
  }

  #start(request: RequestedRun): void {
    this.#store.transaction(() => {
      const record = this.#store.ensureRecord(request.id)
      if (record.run >= request.run) return
      const isRetry = request.status === 'sending'
      this.dispatcher.deleteUnsentChunks()
      this.#store.changeRecord({
        run: request.run,
        channel: request.channel,
        status: isRetry ? 'sending' : 'calculating',
        step: isRetry ? '' : 'content',
        error_message: '',
        chunked_up_to: 0,
        added_up_to: 0,
        segment_epoch: 0,
        limited_until: 0,
        ...noWait,
        paused_at: null,
        send_window: request.send_window && JSON.stringify(request.send_window),
        timezone: request.timezone,
        held_since: null,
        ...noWindowWait,
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
      this.dispatcher.gate.update(now)
      this.dispatcher.endExpiredClaims(now)
      this.dispatcher.giveUpOldRepeats(now)
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
   * Sets the alarm for the next work, or deletes it. If `requestRun` was called after `requestCount` was
   * read, the next alarm follows at once.
   */
  async #setNextAlarm(requestCount: number, scheduledAt: number | null): Promise<void> {
    const record = this.#store.readRecord()
    const now = this.#job.now()
    const at =
      record &&
      computeNextAlarm(record, {
        now,
        isRequested: this.#requestCount !== requestCount,
        scheduledAt,
        nextChunkAt: this.dispatcher.findNextTime(now),
        closedUntil: this.dispatcher.findClosedUntil(now),
        windowChangesAt: this.dispatcher.gate.findWindowChange(record, now),
        isBusy: this.dispatcher.isBusy(now),
        isProjectionBehind: this.#store.isProjectionBehind(),
      })
    await (at === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(at))
  }
}
