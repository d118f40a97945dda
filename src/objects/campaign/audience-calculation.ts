import type { JobCtx } from '../../context.ts'
import { zeroCounters } from '../../domain/campaigns/counters.ts'
import { retryableReasons } from '../../domain/campaigns/sending-policy.ts'
import {
  advanceAudience,
  type CampaignRow,
  storeContentSnapshot,
  snapshotCalculatedSegment,
  listAudience,
  readCampaign,
} from '../../modules/campaigns/index.ts'
import type { ChunkDispatcher } from './chunk-dispatcher.ts'
import type { CampaignRecord } from './schema.ts'
import type { RecipientStore } from './recipient-store.ts'

const membersPerPage = 1000
/** An alarm calculates for this long, so that calls from outside are not delayed for long. */
const alarmTimeMs = 10_000

/**
 * Finds the recipients and texts of a campaign: it stores a snapshot of the content, recalculates the segment, and adds
 * the members page by page. A step that did not finish is repeated.
 */
export class AudienceCalculation {
  readonly #job: JobCtx
  readonly #store: RecipientStore
  readonly #dispatcher: ChunkDispatcher

  constructor(job: JobCtx, store: RecipientStore, dispatcher: ChunkDispatcher) {
    this.#job = job
    this.#store = store
    this.#dispatcher = dispatcher
  }

  async advance(): Promise<void> {
    const endsAt = this.#job.now() + alarmTimeMs
    for (let hasMore = true; hasMore && this.#job.now() < endsAt;) {
      const record = this.#store.readRecord()
      if (record?.status !== 'calculating') return
      const row = await readCampaign(this.#job, record.campaign_id)
      if (!row || row.run !== record.run) return
      hasMore = await this.#step(record, row)
    }
  }

  /** Returns whether the next step can follow at once. */
  async #step(record: CampaignRecord, row: CampaignRow): Promise<boolean> {
    switch (record.step) {
      case 'content': {
        const { error } = await storeContentSnapshot(this.#job, row, record.run)
        return this.#commit(
          record,
          error
            ? () => this.#fail(error)
            : () => this.#store.changeRecord({ content_run: record.run, step: 'segment' }),
        )
      }
      case 'segment': {
        const audience = await advanceAudience(this.#job, row, record.segment_epoch)
        if ('error' in audience) return this.#commit(record, () => this.#fail(audience.error))
        if (!audience.is_ready) {
          this.#commit(record, () => this.#store.changeRecord({ segment_epoch: audience.epoch }, { isVisible: false }))
          return audience.has_more
        }
        await this.#job.db.batch([snapshotCalculatedSegment(row, audience.epoch)])
        return this.#commit(record, () => {
          this.#store.removeUnsent(retryableReasons)
          this.#store.changeRecord({
            step: 'members',
            segment_epoch: audience.epoch,
            added_up_to: 0,
            user_count: audience.count,
          })
        })
      }
      default: {
        const page = await listAudience(this.#job, row, {
          epoch: record.segment_epoch,
          after: record.added_up_to,
          limit: membersPerPage,
        })
        // Another calculation of the segment has deleted the members, so this one begins again.
        if (page === null)
          return this.#commit(record, () => this.#store.changeRecord({ step: 'segment', segment_epoch: 0 }))
        return this.#commit(record, () => {
          this.#store.addRecipients(page.people, record.channel)
          if (page.after === null) this.#finish()
          else this.#store.changeRecord({ added_up_to: page.after })
        })
      }
    }
  }

  /** Writes the result of a step, unless the campaign was stopped meanwhile. */
  #commit({ run }: CampaignRecord, write: () => void): boolean {
    return this.#store.transaction(() => {
      const record = this.#store.readRecord()
      if (record?.status !== 'calculating' || record.run !== run) return false
      write()
      return true
    })
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
