import type { JobCtx } from '../../context.ts'
import { noCounters } from '../../domain/campaigns/counters.ts'
import { retryableReasons } from '../../domain/campaigns/sending-policy.ts'
import {
  audienceOf,
  type CampaignRow,
  drawContent,
  keepCalculated,
  membersOf,
  readCampaign,
} from '../../modules/campaigns/index.ts'
import type { Chunks } from './chunks.ts'
import type { CampaignRecord } from './schema.ts'
import type { Ledger } from './recipient-store.ts'

const membersAPage = 1000
/** One alarm works this long before it makes way for others. */
const shiftMs = 10_000

type Calculating = CampaignRecord & { status: 'calculating' }

/**
 * Finds out who gets a campaign, and in which words: the contents are kept as they are now, the segment is calculated
 * anew, its members are taken into the books by pages. Each step is made again when it was not finished.
 */
export class Calculation {
  readonly #job: JobCtx
  readonly #ledger: Ledger
  readonly #chunks: Chunks

  constructor(job: JobCtx, ledger: Ledger, chunks: Chunks) {
    this.#job = job
    this.#ledger = ledger
    this.#chunks = chunks
  }

  async proceed(): Promise<void> {
    const endsAt = this.#job.now() + shiftMs
    for (let goesOn = true; goesOn && this.#job.now() < endsAt;) {
      const record = this.#ledger.record()
      if (record?.status !== 'calculating') return
      const row = await readCampaign(this.#job, record.campaign_id)
      if (!row || row.run !== record.run) return
      goesOn = await this.#step(record as Calculating, row)
    }
  }

  /** Whether there is more to do at once. */
  async #step(record: Calculating, row: CampaignRow): Promise<boolean> {
    switch (record.step) {
      case 'content': {
        const { error } = await drawContent(this.#job, row, record.run)
        return this.#go(
          record,
          error ? () => this.#fail(error) : () => this.#ledger.change({ content: record.run, step: 'segment' }),
        )
      }
      case 'segment': {
        const audience = await audienceOf(this.#job, row, record.segment_epoch)
        if ('error' in audience) return this.#go(record, () => this.#fail(audience.error))
        if (!audience.is_ready) {
          this.#go(record, () => this.#ledger.change({ segment_epoch: audience.epoch }, false))
          return audience.goes_on
        }
        await this.#job.db.batch([keepCalculated(row, audience.epoch)])
        return this.#go(record, () => {
          this.#ledger.dismiss(retryableReasons)
          this.#ledger.change({
            step: 'members',
            segment_epoch: audience.epoch,
            member_after: 0,
            user_count: audience.count,
          })
        })
      }
      default: {
        const page = await membersOf(this.#job, row, record.segment_epoch, record.member_after, membersAPage)
        // Somebody calculated the segment anew meanwhile, and the members that we were reading are gone.
        if (page === null) return this.#go(record, () => this.#ledger.change({ step: 'segment', segment_epoch: 0 }))
        return this.#go(record, () => {
          this.#ledger.admit(page.people)
          if (page.after === null) this.#finish()
          else this.#ledger.change({ member_after: page.after })
        })
      }
    }
  }

  /** Writes the end of a step, if nobody stopped the campaign meanwhile. */
  #go(record: Calculating, write: () => void): boolean {
    return this.#ledger.together(() => {
      const now = this.#ledger.record()
      if (now?.status !== 'calculating' || now.run !== record.run) return false
      write()
      return true
    })
  }

  #finish(): void {
    const now = this.#job.now()
    const { total } = this.#ledger.record() ?? noCounters
    if (total === 0) return this.#fail('Nobody in the segment can be reached.')
    this.#ledger.change({ status: 'sending', step: '', started_at: now })
    this.#chunks.conclude(now)
  }

  /** The step stays: who would get the campaign is not known to the end. */
  #fail(message: string): void {
    this.#ledger.change({ status: 'failed', error_message: message, completed_at: this.#job.now() })
  }
}
