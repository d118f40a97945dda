import type { Language } from '../languages.ts'
import type { KeyValue, OrderBy, PageRequest } from '../page.ts'
import { isRecord, readJson } from '../text/json.ts'
import type { RecipientEvent, Stamps } from './recipient-events.ts'
import type {
  ChunkReport,
  ClaimAnswer,
  Engagement,
  ExcludedRecipient,
  Reason,
  RecipientPerson,
  RecipientState,
  SkipReason,
} from './sending-policy.ts'
import type { Counters } from './counters.ts'
import type { CampaignStatus } from './lifecycle.ts'

/** What the object of a campaign projects into its row. */
export interface CampaignSnapshot extends Counters {
  campaign_id: string
  run: number
  /** Grows with every change, so that an earlier snapshot never overwrites a later one. */
  revision: number
  status: CampaignStatus
  error_message: string
  user_count: number
  started_at: number | null
  completed_at: number | null
}

/** A member of the segment, as the campaign takes it over. */
export interface NewRecipient {
  n: number
  user_id: string
  address: string
  language: Language
  /** JSON of `RecipientPerson`. */
  person: string
  reason: SkipReason | null
}

export interface RecipientRow extends Stamps {
  n: number
  user_id: string
  address: string
  language: Language
  person: string
  state: RecipientState
  reason: Reason | null
  code: string
  detail: string
  attempts: number
  provider_id: string | null
  sent_at: number | null
}

/** What the campaign's receipt of a recipient says. */
export type RecipientEngagement = Pick<RecipientRow, 'user_id' | 'state' | 'sent_at' | 'opened_at' | 'clicked_at'>

const isPerson = (value: unknown): value is RecipientPerson => isRecord(value) && 'email' in value

/** The person as the campaign's object stores them. */
export const personOf = ({ person }: Pick<RecipientRow, 'person'>): RecipientPerson => readJson(person, isPerson)

/** Replaces the address of a recipient who was erased. */
export const erasedAddress = (n: number): string => `erased-${n}`

export const isErasedAddress = ({ n, address }: Pick<RecipientRow, 'n' | 'address'>): boolean =>
  address === erasedAddress(n)

export interface RecipientFilters {
  state?: RecipientState | undefined
  reason?: Reason | undefined
  engagement?: Engagement | undefined
}

export interface RecipientsQuery extends RecipientFilters {
  /** Empty: by number. */
  ordering: readonly OrderBy<'address' | 'sent_at'>[]
  page: PageRequest
}

/**
 * One row more than the page shows, each with its sort keys as `k0`, `k1` and so on: those of the ordering and the number.
 */
export interface RecipientsPage {
  rows: (RecipientRow & Record<string, KeyValue>)[]
  count: number
  /** The most rows that `page=N` skips. */
  maxOffset: number
}

/** The recipient of a bounce or complaint. */
export interface AffectedRecipient {
  event: RecipientEvent
  user_id: string
  address: string
}

export interface ErasedRecipient {
  /** False while the recipient is part of a call that is under way, or that has to be repeated unchanged. */
  is_done: boolean
  /** The address that was erased; null when there was none. */
  address: string | null
}

/**
 * The object of a campaign is the only writer of who was sent what. Every method may be called again after its answer
 * was lost.
 */
export interface CampaignSenderRpc {
  /** Reads the campaign's row, now or at the given time, and does what it requests. */
  wake(campaignId: string, at?: number): Promise<void>
  /** Stops the run, also one that has not begun yet; `done` is false when the run is over already. */
  cancel(campaignId: string, run: number): Promise<{ done: boolean; snapshot: CampaignSnapshot }>
  /** Deletes everything, unless a message was or may have been sent. */
  forget(): Promise<boolean>
  snapshot(): Promise<CampaignSnapshot | null>
  /** How many recipients a retry would try: pending ones, and those who failed for a reason that may pass. */
  retryable(): Promise<number>
  recipients(query: RecipientsQuery): Promise<RecipientsPage>
  recipient(n: number): Promise<RecipientRow | null>
  /** Blanks the personal data of a recipient. */
  erase(n: number): Promise<ErasedRecipient>
  claim(claimId: string): Promise<ClaimAnswer>
  /** Removes excluded recipients just before the first call. False when the claim is over or the campaign has stopped. */
  begin(chunk: number, claimId: string, excluded: readonly ExcludedRecipient[]): Promise<boolean>
  /** Records the results, and hands out the next chunk under the new claim. */
  report(report: ChunkReport, claimId: string): Promise<ClaimAnswer>
  /** Answers the recipients of bounces and complaints. */
  apply(events: readonly RecipientEvent[]): Promise<AffectedRecipient[]>
}

export interface CampaignSenders {
  of: (campaignId: string) => CampaignSenderRpc
}
