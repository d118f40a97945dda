import type { Schema } from '../../api'

export type Campaign = Schema['CampaignList']
export type CampaignDetail = Schema['CampaignDetail']
export type CampaignStatusCode = Campaign['status']
export type CampaignAction = Campaign['allowed_actions'][number]
export type Channel = Campaign['channel']
export type Recipient = Schema['CampaignRecipient']
export type Reason = NonNullable<Recipient['reason']>
export type FailReason = keyof CampaignDetail['failed_by_reason']
export type Approval = Schema['CampaignApproval']
export type Plan = Schema['CampaignPlan']
export type CommunicationType = Schema['Segment']['communication_type']

/** The summary of a segment has its type as a text. */
export const readType = ({ segment }: Pick<Campaign, 'segment'>): CommunicationType =>
  segment.communication_type === 'transactional' ? 'transactional' : 'marketing'

/** True while the numbers change by the second. */
export const isRunning = (status: CampaignStatusCode): boolean => status === 'calculating' || status === 'sending'
/** True if the campaign can be started, and so planned. */
export const isStartable = (status: CampaignStatusCode): boolean =>
  status === 'draft' || status === 'scheduled' || status === 'failed'
export const isEditable = (status: CampaignStatusCode): boolean => status === 'draft' || status === 'scheduled'

const hourMs = 3_600_000

/** The milliseconds after which a page reads a campaign again. Queries of a hidden tab wait. */
export const pollMs = (
  campaign: Pick<CampaignDetail, 'status' | 'scheduled_at' | 'completed_at' | 'is_paused'> | undefined,
): number => {
  if (!campaign) return 30_000
  if (isRunning(campaign.status)) return 1000
  const { status, scheduled_at, completed_at, is_paused } = campaign
  // Most people open a message soon after they get it.
  if (completed_at !== null && Date.now() - new Date(completed_at).getTime() < hourMs) return 5000
  const startsSoon = scheduled_at !== null && new Date(scheduled_at).getTime() - Date.now() < 60_000
  return status === 'scheduled' && startsSoon && !is_paused ? 2000 : 30_000
}

/** Reasons whose recipients a retry sends to. */
export const retryableReasons: readonly FailReason[] = ['unreachable', 'rate_limited']
