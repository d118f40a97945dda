import type { RecipientEvent, Stamps } from './recipient-events.ts'
import type { Answer, Engagement, LeftOut, Reason, RecipientState, Report } from './sending-policy.ts'
import type { Counters } from './counters.ts'
import type { CampaignStatus } from './lifecycle.ts'

/** What the row of a campaign shows of its object. */
export interface CampaignSnapshot extends Counters {
  campaign_id: string
  run: number
  /** Grows with every change: a later one is never overwritten by an earlier. */
  revision: number
  status: CampaignStatus
  error_message: string
  user_count: number
  started_at: number | null
  completed_at: number | null
}

export interface RecipientRow extends Stamps {
  n: number
  user_id: string
  address: string
  language: string
  person: string
  state: RecipientState
  reason: Reason | null
  code: string
  detail: string
  attempts: number
  provider_id: string | null
  sent_at: number | null
}

/** What stands in place of the address of a recipient who was erased. */
export const erasedAddress = (n: number): string => `erased-${n}`

export const isErasedAddress = ({ n, address }: Pick<RecipientRow, 'n' | 'address'>): boolean =>
  address === erasedAddress(n)

export interface RecipientsQuery {
  state?: RecipientState | undefined
  reason?: Reason | undefined
  engagement?: Engagement | undefined
  sort: { by: 'address' | 'sent_at' | 'n'; desc: boolean }[]
  size: number
  /** Rows before this page; sort keys of the row before it, when the link that was followed carries them. */
  skipped: number
  after: readonly (string | number)[] | null
}

export interface RecipientsPage {
  rows: RecipientRow[]
  count: number
  after: (string | number)[] | null
}

/** Whom an event is about. */
export interface Told {
  event: RecipientEvent
  user_id: string
  address: string
}

export interface ErasedRecipient {
  /** False while the recipient is part of a call that is under way, or that has to be repeated as it was. */
  is_done: boolean
  /** Where messages to them went; null when there was nothing to erase. */
  address: string | null
}

/**
 * The object of a campaign: the only writer of what was sent to whom. Every method may be repeated: a call whose answer
 * was lost and that is made again does no harm.
 */
export interface CampaignSender {
  /** Looks at the campaign's row and does what it asks for, now or at the given time. */
  wake(campaignId: string, at?: number): Promise<void>
  /** Stops the run, also one that has not begun yet; false when it is over already. */
  cancel(campaignId: string, run: number): Promise<{ done: boolean; snapshot: CampaignSnapshot }>
  /** Forgets everything, unless a message went out or may have. */
  forget(): Promise<boolean>
  snapshot(): Promise<CampaignSnapshot | null>
  /** How many did not get it for a reason that may pass, or have not been tried. */
  retryable(): Promise<number>
  recipients(query: RecipientsQuery): Promise<RecipientsPage>
  recipient(n: number): Promise<RecipientRow | null>
  /** Blanks what says who a recipient is. */
  erase(n: number): Promise<ErasedRecipient>
  claim(lease: string): Promise<Answer>
  /** Just before the first call: leaves these out of the chunk. False when the lease is over or the campaign stopped. */
  begin(chunk: number, lease: string, leftOut: readonly LeftOut[]): Promise<boolean>
  /** Takes the results in, and hands out the next chunk under the new lease. */
  report(report: Report, lease: string): Promise<Answer>
  /** Answers whom bounces and complaints are about. */
  apply(events: readonly RecipientEvent[]): Promise<Told[]>
}

export interface CampaignSenders {
  of: (campaignId: string) => CampaignSender
}
