import type { JobCtx } from '../../context.ts'
import { zeroCounters } from '../../domain/campaigns/counters.ts'
import { retryableReasons } from '../../domain/campaigns/sending-policy.ts'
import { advanceAudience, type AudienceProgress } from '../../modules/campaigns/index.ts'
import type { ChunkDispatcher } from './chunk-dispatcher.ts'
import type { RecipientStore } from './recipient-store.ts'
import type { CampaignRecord } from './schema.ts'

/** An alarm calculates for this long, so that calls from outside are not delayed for long. */
const alarmTimeMs = 10_000

/** Has the content and the audience of a campaign prepared step by step, and stores its recipients. */
export class AudienceCalculation {
  readonly #job: JobCtx
  readonly #store: RecipientStore
  readonly #dispatcher: ChunkDispatcher

  constructor(job: JobCtx, store: RecipientStore, dispatcher: ChunkDispatcher) {
    this.#job = job
    this.#store = store
    this.#dispatcher = dispatcher
  }

  /** A step that did not finish is repeated. */
  async advance(): Promise<void> {
    const endsAt = this.#job.now() + alarmTimeMs
    for (let hasMore = true; hasMore && this.#job.now() < endsAt;) {
      const record = this.#store.readRecord()
      if (record?.status !== 'calculating') return
      const progress = await advanceAudience(this.#job, record)
      hasMore = this.#store.transaction(() => this.#write(record, progress))
    }
  }

  /**
   * Stores the progress of a step, unless the campaign was stopped meanwhile. Returns whether the next step can follow
   * at once.
   */
  #write({ run }: CampaignRecord, progress: AudienceProgress): boolean {
    const record = this.#store.readRecord()
    if (record?.status !== 'calculating' || record.run !== run) return false
    switch (progress.type) {
      case 'overtaken':
        return false
      case 'failed':
        this.#fail(progress.error)
        return false
      case 'content_stored':
        this.#store.changeRecord({ content_run: run, step: 'segment' })
        return true
      case 'segment_calculating':
        this.#store.changeRecord({ segment_epoch: progress.epoch }, { isVisible: false })
        return progress.has_more
      case 'segment_calculated': {
        const { epoch, count } = progress
        this.#store.removeUnsent(retryableReasons)
        this.#store.changeRecord({ step: 'members', segment_epoch: epoch, added_up_to: 0, user_count: count })
        return true
      }
      case 'members_deleted':
        this.#store.changeRecord({ step: 'segment', segment_epoch: 0 })
        return true
      case 'members':
        this.#store.addRecipients(progress.people, record.channel)
        if (progress.after === null) this.#finish()
        else this.#store.changeRecord({ added_up_to: progress.after })
        return true
    }
  }

  #finish(): void {
    const now = this.#job.now()
    const { total } = this.#store.readRecord() ?? zeroCounters
    if (total === 0) return this.#fail('Nobody in the segment can be reached.')
    this.#store.changeRecord({ status: 'sending', step: '', started_at: now })
    this.#dispatcher.finishIfDone(now)
  }

  /** Keeps `step`, so that a retry cannot send to an incomplete list of recipients. */
  #fail(message: string): void {
    this.#store.changeRecord({ status: 'failed', error_message: message, completed_at: this.#job.now() })
  }
}
