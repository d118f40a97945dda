import type { JobCtx } from '../../context.ts'
import { noCounters } from '../../domain/campaigns/counters.ts'
import { retryableReasons } from '../../domain/campaigns/sending-policy.ts'
import {
  audienceOf,
  type CampaignRow,
  keepContent,
  keepCalculated,
  membersOf,
  readCampaign,
} from '../../modules/campaigns/index.ts'
import type { ChunkDispatcher } from './chunk-dispatcher.ts'
import type { CampaignRecord } from './schema.ts'
import type { RecipientStore } from './recipient-store.ts'

const membersAPage = 1000
/** One alarm works this long, so that calls from outside are not delayed for long. */
const shiftMs = 10_000

type Calculating = CampaignRecord & { status: 'calculating' }

/**
 * Finds the recipients and the texts of a campaign: it keeps a snapshot of the content, recalculates the segment, and
 * adds the members by pages. A step that was not finished is made again.
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

  async proceed(): Promise<void> {
    const endsAt = this.#job.now() + shiftMs
    for (let hasMore = true; hasMore && this.#job.now() < endsAt;) {
      const record = this.#store.record()
      if (record?.status !== 'calculating') return
      const row = await readCampaign(this.#job, record.campaign_id)
      if (!row || row.run !== record.run) return
      hasMore = await this.#step(record as Calculating, row)
    }
  }

  /** Answers whether there is more to do at once. */
  async #step(record: Calculating, row: CampaignRow): Promise<boolean> {
    switch (record.step) {
      case 'content': {
        const { error } = await keepContent(this.#job, row, record.run)
        return this.#commit(
          record,
          error ? () => this.#fail(error) : () => this.#store.change({ content: record.run, step: 'segment' }),
        )
      }
      case 'segment': {
        const audience = await audienceOf(this.#job, row, record.segment_epoch)
        if ('error' in audience) return this.#commit(record, () => this.#fail(audience.error))
        if (!audience.is_ready) {
          this.#commit(record, () => this.#store.change({ segment_epoch: audience.epoch }, false))
          return audience.has_more
        }
        await this.#job.db.batch([keepCalculated(row, audience.epoch)])
        return this.#commit(record, () => {
          this.#store.removeUnsent(retryableReasons)
          this.#store.change({
            step: 'members',
            segment_epoch: audience.epoch,
            member_after: 0,
            user_count: audience.count,
          })
        })
      }
      default: {
        const page = await membersOf(this.#job, row, {
          epoch: record.segment_epoch,
          after: record.member_after,
          limit: membersAPage,
        })
        // The segment was recalculated meanwhile, and the members of the old calculation are deleted.
        if (page === null) return this.#commit(record, () => this.#store.change({ step: 'segment', segment_epoch: 0 }))
        return this.#commit(record, () => {
          this.#store.addRecipients(page.people, record.channel)
          if (page.after === null) this.#finish()
          else this.#store.change({ member_after: page.after })
        })
      }
    }
  }

  /** Writes the result of a step, unless the campaign was stopped meanwhile. */
  #commit(record: Calculating, write: () => void): boolean {
    return this.#store.transaction(() => {
      const now = this.#store.record()
      if (now?.status !== 'calculating' || now.run !== record.run) return false
      write()
      return true
    })
  }

  #finish(): void {
    const now = this.#job.now()
    const { total } = this.#store.record() ?? noCounters
    if (total === 0) return this.#fail('Nobody in the segment can be reached.')
    this.#store.change({ status: 'sending', step: '', started_at: now })
    this.#dispatcher.conclude(now)
  }

  /** The step stays, because the recipients are not all known. */
  #fail(message: string): void {
    this.#store.change({ status: 'failed', error_message: message, completed_at: this.#job.now() })
  }
}
