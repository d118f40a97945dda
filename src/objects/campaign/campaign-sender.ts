import { DurableObject } from 'cloudflare:workers'
import type { JobCtx } from '../../context.ts'
import type { RecipientOutcome } from '../../domain/campaigns/chunk-report.ts'
import { countPending } from '../../domain/campaigns/counters.ts'
import { isRunning } from '../../domain/campaigns/lifecycle.ts'
import type { LinkCounts } from '../../domain/campaigns/link-counts.ts'
import type { RecipientEvent } from '../../domain/campaigns/recipient-events.ts'
import type {
  AffectedRecipient,
  CampaignSenderRpc,
  CampaignSnapshot,
  EarlierRecipients,
  ErasedRecipient,
  RecipientRow,
  RecipientsPage,
  RecipientsQuery,
  RunChanges,
} from '../../domain/campaigns/sender.ts'
import {
  type ChunkReport,
  type ClaimResult,
  type ExcludedRecipient,
  type FailReason,
  retryableReasons,
} from '../../domain/campaigns/sending-policy.ts'
import type { Timeline, TimelineQuery } from '../../domain/campaigns/timeline.ts'
import { CampaignCoordinator } from './coordinator.ts'
import { selectRecipients } from './recipient-list.ts'
import { RecipientStore } from './recipient-store.ts'
import { type ObjectStorage, toSnapshot } from './schema.ts'

/** The Durable Object of a campaign. */
export class CampaignSenderObject<Bindings> extends DurableObject<Bindings> implements CampaignSenderRpc {
  readonly #storage: ObjectStorage
  readonly #job: JobCtx
  readonly #store: RecipientStore
  readonly #coordinator: CampaignCoordinator

  constructor(state: DurableObjectState, env: Bindings, job: JobCtx, storage: ObjectStorage = state.storage) {
    super(state, env)
    this.#storage = storage
    this.#job = job
    this.#store = new RecipientStore(storage)
    this.#coordinator = new CampaignCoordinator(storage, job, this.#store)
  }

  async wake(campaignId: string, at?: number): Promise<void> {
    this.#store.ensureRecord(campaignId)
    await this.#coordinator.requestRun(Math.max(at ?? 0, this.#job.now()))
  }

  async cancel(campaignId: string, run: number): Promise<{ isCancelled: boolean; snapshot: CampaignSnapshot }> {
    const isCancelled = this.#store.transaction(() => {
      const record = this.#store.ensureRecord(campaignId)
      if (record.run > run || (record.run === run && !isRunning(record.status))) return record.status === 'cancelled'
      this.#store.changeRecord({ run, status: 'cancelled', step: '', completed_at: this.#job.now() })
      this.#coordinator.dispatcher.giveUpChunks()
      return true
    })
    await this.#coordinator.projectSoon()
    return { isCancelled, snapshot: toSnapshot(this.#store.ensureRecord(campaignId)) }
  }

  async changeRun(
    campaignId: string,
    run: number,
    changes: RunChanges,
  ): Promise<{ isChanged: boolean; snapshot: CampaignSnapshot }> {
    this.#store.ensureRecord(campaignId)
    await this.#coordinator.beginRun(run)
    const now = this.#job.now()
    const isChanged = this.#store.transaction(() => {
      const record = this.#store.ensureRecord(campaignId)
      if (record.run !== run || !isRunning(record.status)) return false
      this.#coordinator.dispatcher.gate.change(changes, now)
      return true
    })
    if (isChanged) await this.#coordinator.resumeSoon()
    return { isChanged, snapshot: toSnapshot(this.#store.ensureRecord(campaignId)) }
  }

  async deleteIfUnsent(): Promise<boolean> {
    const record = this.#store.readRecord()
    const mayHaveSent = () =>
      this.#coordinator.dispatcher.countChunks() > 0 || this.#store.countFailed(['unknown'] satisfies FailReason[]) > 0
    if (record && (record.sent > 0 || isRunning(record.status) || mayHaveSent())) return false
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
    this.#store.createTables()
    return true
  }

  async readSnapshot(): Promise<CampaignSnapshot | null> {
    const record = this.#store.readRecord()
    return record && toSnapshot(record)
  }

  async countRetryable(): Promise<number> {
    const record = this.#store.readRecord()
    return record && record.step === '' ? countPending(record) + this.#store.countFailed(retryableReasons) : 0
  }

  async listRecipients(query: RecipientsQuery): Promise<RecipientsPage> {
    return selectRecipients(this.#storage.sql, query)
  }

  async findEarlier(numbers: readonly number[], addresses: readonly string[]): Promise<EarlierRecipients> {
    return this.#store.findEarlier(numbers, addresses)
  }

  async readTimeline(query: TimelineQuery): Promise<Timeline> {
    return this.#store.timeline.read(query)
  }

  async listLinkCounts(): Promise<LinkCounts[]> {
    return this.#store.links.listCounts()
  }

  async findRecipient(n: number): Promise<RecipientRow | null> {
    return this.#store.findRecipient(n)
  }

  async erase(n: number): Promise<ErasedRecipient> {
    const recipient = this.#store.erase(n)
    if (this.#store.isProjectionBehind()) await this.#coordinator.projectSoon()
    return recipient
  }

  async exchangeChunk(report: ChunkReport | null, claimId: string | null): Promise<ClaimResult> {
    const now = this.#job.now()
    const result = this.#coordinator.dispatcher.exchange(report, claimId, now)
    if (report && !isRunning(this.#store.readRecord()?.status ?? '')) await this.#coordinator.setAlarmBy(now)
    this.#coordinator.noteConsumer()
    return result
  }

  async beginCalls(chunk: number, claimId: string, excludedRecipients: readonly ExcludedRecipient[]): Promise<boolean> {
    return this.#coordinator.dispatcher.begin(chunk, claimId, excludedRecipients, this.#job.now())
  }

  async applyEvents(events: readonly RecipientEvent[]): Promise<AffectedRecipient[]> {
    const affectedRecipients = this.#store.transaction(() => {
      // An event proves that its message was sent, even when no consumer has reported it.
      this.#store.recordOutcomes(buildProvenOutcomes(events), false)
      this.#coordinator.dispatcher.finishIfDone(this.#job.now())
      return this.#store.stampEvents(events)
    })
    if (this.#store.isProjectionBehind()) await this.#coordinator.projectSoon()
    return affectedRecipients
  }

  override alarm(): Promise<void> {
    return this.#coordinator.alarm()
  }
}

/** Builds outcomes by recipient number. A message was sent at the time of its earliest event. */
function buildProvenOutcomes(events: readonly RecipientEvent[]): Map<number, RecipientOutcome> {
  const outcomes = new Map<number, Extract<RecipientOutcome, { to: 'sent' }>>()
  for (const { n, at, provider_id } of events) {
    const earlier = outcomes.get(n)
    outcomes.set(n, {
      to: 'sent',
      provider_id: earlier?.provider_id ?? provider_id ?? null,
      at: Math.min(earlier?.at ?? at, at),
    })
  }
  return outcomes
}
