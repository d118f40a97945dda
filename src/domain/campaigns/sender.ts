import type { Language } from '../languages.ts'
import type { KeyValue, OrderBy, PageRequest } from '../page.ts'
import { isRecord, readJson } from '../text/json.ts'
import type { SearchTerm } from '../text/trigrams.ts'
import type { Wait } from '../waiting.ts'
import type { Counters } from './counters.ts'
import type { CampaignStatus } from './lifecycle.ts'
import type { LinkCounts } from './link-counts.ts'
import type { RecipientEvent, Stamps } from './recipient-events.ts'
import type { SendWindow } from './send-window.ts'
import type {
  ChunkReport,
  ClaimResult,
  Engagement,
  ExcludedRecipient,
  Reason,
  RecipientPerson,
  RecipientState,
  SkipReason,
} from './sending-policy.ts'
import type { Timeline, TimelineQuery } from './timeline.ts'
import type { WindowWait } from './waits.ts'

/** The state of a campaign's Durable Object that is copied to the campaign's row. */
export interface CampaignSnapshot extends Counters, Wait, WindowWait {
  campaign_id: string
  run: number
  /** Grows with every change, so that an older snapshot never overwrites a newer one. */
  revision: number
  status: CampaignStatus
  error_message: string
  user_count: number
  started_at: number | null
  completed_at: number | null
  send_window: SendWindow | null
  /** Since when a running campaign is paused. */
  paused_at: number | null
}

/** Changes of a running campaign. What is left out stays as it is. */
export interface RunChanges {
  is_paused?: boolean
  /** The window in local time of the zone; null for all days and hours. */
  send_window?: { window: SendWindow | null; timezone: string }
}

/** A member of the segment who becomes a recipient. `reason` is set for a member who is skipped. */
export interface NewRecipient {
  n: number
  user_id: string
  /** Null for a person without an address. */
  address: string | null
  language: Language
  /** JSON of `RecipientPerson`. */
  person: string
  /** The conditions of blocks that the person fulfils: the bits of their positions. */
  conditions: number
  reason: SkipReason | null
}

export interface RecipientRow extends Stamps {
  n: number
  user_id: string
  /** Null for a person without an address, and after an erasure. */
  address: string | null
  language: Language
  person: string
  /** Bits of the positions of conditions, as in `NewRecipient`. */
  conditions: number
  state: RecipientState
  reason: Reason | null
  code: string
  detail: string
  attempts: number
  provider_id: string | null
  sent_at: number | null
}

/** The columns of a recipient that `campaign_receipts` stores. */
export interface RecipientEngagement extends Pick<
  RecipientRow,
  | 'user_id'
  | 'state'
  | 'reason'
  | 'sent_at'
  | 'delivered_at'
  | 'opened_at'
  | 'clicked_at'
  | 'bounced_at'
  | 'complained_at'
  | 'unsubscribed_at'
> {
  /** JSON of the positions of the links that the person clicked; null for none. */
  clicked_links: string | null
}

const isPerson = (value: unknown): value is RecipientPerson => isRecord(value) && 'email' in value

export const readPerson = ({ person }: Pick<RecipientRow, 'person'>): RecipientPerson => readJson(person, isPerson)

/** Finds recipients by user ids, and by the text of their names and addresses or by their numbers. */
export type RecipientSearch = { user_ids: readonly string[] } & (
  | { terms: readonly SearchTerm[] }
  | { numbers: readonly number[] }
)

export interface RecipientFilters {
  search?: RecipientSearch | undefined
  state?: RecipientState | undefined
  reason?: Reason | undefined
  engagement?: Engagement | undefined
  /** The position of a link that the recipient clicked, or did not click with the engagement `not_clicked`. */
  link?: number | undefined
}

export interface RecipientsQuery extends RecipientFilters {
  /** An empty list orders recipients by number. */
  ordering: readonly OrderBy<'address' | 'sent_at'>[]
  page: PageRequest
}

/**
 * `rows` has one row more than the page, each with its sort keys `k0`, `k1` and so on, of which the last is the number.
 */
export interface RecipientsPage {
  rows: (RecipientRow & Record<string, KeyValue>)[]
  count: number
  /** The largest offset that `page=N` may ask for. */
  maxOffset: number
}

/** The recipient of a message that bounced or that they complained about. */
export interface AffectedRecipient {
  event: RecipientEvent
  user_id: string
  address: string
}

/** The recipients of earlier starts whom a further start leaves as they are. */
export interface EarlierRecipients {
  /** A pending recipient is part of a call that has to be repeated. */
  recipients: { n: number; state: RecipientState }[]
  addresses: string[]
}

export interface ErasedRecipient {
  /** False while the recipient is part of a call that is under way or has to be repeated unchanged. */
  is_done: boolean
  /** The erased address. It is null when the recipient had none. */
  address: string | null
}

/**
 * The Durable Object of a campaign. It alone records who was sent what. Every method may be called again when its
 * answer was lost.
 */
export interface CampaignSenderRpc {
  /** Reads the campaign's row now, or at `at`, and starts the run that the row requests. */
  wake(campaignId: string, at?: number): Promise<void>
  /** Stops the run, even before it has begun. `isCancelled` is false when the run ended otherwise. */
  cancel(campaignId: string, run: number): Promise<{ isCancelled: boolean; snapshot: CampaignSnapshot }>
  /**
   * Pauses or resumes the run, or changes its send window. No chunk that these keep back is handed out once it has
   * answered. `isChanged` is false when the run has ended.
   */
  changeRun(
    campaignId: string,
    run: number,
    changes: RunChanges,
  ): Promise<{ isChanged: boolean; snapshot: CampaignSnapshot }>
  /** Deletes the object's data. Returns false when a message was, or may have been, sent. */
  deleteIfUnsent(): Promise<boolean>
  readSnapshot(): Promise<CampaignSnapshot | null>
  /** Counts the recipients whom a retry would try: pending ones, and those who failed for a temporary reason. */
  countRetryable(): Promise<number>
  listRecipients(query: RecipientsQuery): Promise<RecipientsPage>
  /** Finds the recipients whom a further start leaves as they are, among these numbers and with these addresses. */
  findEarlier(numbers: readonly number[], addresses: readonly string[]): Promise<EarlierRecipients>
  readTimeline(query: TimelineQuery): Promise<Timeline>
  /** Lists the links that somebody clicked. */
  listLinkCounts(): Promise<LinkCounts[]>
  findRecipient(n: number): Promise<RecipientRow | null>
  /** Blanks the personal data of a recipient. */
  erase(n: number): Promise<ErasedRecipient>
  /**
   * Records the results of a chunk, and hands out the next one under the new claim. `report` is null for the first chunk
   * of a consumer, and `claimId` for a consumer whose time is over.
   */
  exchangeChunk(report: ChunkReport | null, claimId: string | null): Promise<ClaimResult>
  /**
   * Skips excluded recipients just before the first call, and remembers that calls may be made. Returns false when the
   * claim is over or the campaign stopped.
   */
  beginCalls(chunk: number, claimId: string, excludedRecipients: readonly ExcludedRecipient[]): Promise<boolean>
  /** Records events of recipients. Returns those who bounced or complained. */
  applyEvents(events: readonly RecipientEvent[]): Promise<AffectedRecipient[]>
}

export interface CampaignSenders {
  get: (campaignId: string) => CampaignSenderRpc
}
