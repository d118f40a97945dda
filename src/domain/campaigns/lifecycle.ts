import { lifecycle } from '../lifecycle.ts'
import { type ApprovalState, canBecome, isApprovalMissing, isApprovalRejected } from './approval.ts'

export const maxCampaignNameLength = 255
export const maxSmsBodyLength = 1600

/**
 * A `sent` campaign may have recipients who failed. A `failed` campaign sent nothing, or stopped half-way. A retry goes
 * straight to `sending`, because the recipients are known.
 */
export const campaignLifecycle = lifecycle('draft', {
  draft: ['scheduled', 'calculating'],
  scheduled: ['scheduled', 'calculating', 'cancelled', 'failed'],
  calculating: ['sending', 'cancelled', 'failed'],
  sending: ['sent', 'cancelled', 'failed'],
  sent: ['sending'],
  failed: ['scheduled', 'calculating', 'sending'],
  cancelled: [],
})

export type CampaignStatus = (typeof campaignLifecycle.states)[number]

/** The campaign's Durable Object is at work in these statuses. */
export const runningStatuses = ['calculating', 'sending'] as const satisfies readonly CampaignStatus[]

/** A campaign in one of these statuses has not copied its message yet. */
export const statusesBeforeCopy = ['scheduled', 'calculating'] as const satisfies readonly CampaignStatus[]

export const isRunning = (status: string): boolean => (runningStatuses as readonly string[]).includes(status)
export const isPausable = (status: string): boolean => status === 'scheduled' || isRunning(status)
export const isEditable = (status: string): boolean => status === 'draft' || status === 'scheduled'
export const isDeletable = (status: string): boolean => ['draft', 'failed', 'cancelled'].includes(status)

/** The actions on a campaign that clients may offer. */
export const campaignActions = [
  'update',
  'delete',
  'request_approval',
  'approve',
  'reject',
  'schedule',
  'send_now',
  'pause',
  'resume',
  'cancel',
  'retry_failed',
] as const
export type CampaignAction = (typeof campaignActions)[number]

/** A campaign in one of these statuses can be scheduled, sent and approved. */
export const isStartable = (status: CampaignStatus): boolean => campaignLifecycle.allows(status, 'calculating')

export interface CampaignState extends ApprovalState {
  status: CampaignStatus
  /** 0 before the first start. */
  run: number
  paused_at: number | null
  total_recipients: number
  sent_count: number
  edition_is_archived: boolean
}

/** Lists the actions that the state of a campaign allows. What is under way can be paused and cancelled in an archived edition too. */
export function listCampaignActions(campaign: CampaignState): CampaignAction[] {
  const { status, run, paused_at, total_recipients, sent_count, edition_is_archived } = campaign
  const canRetry = !isRunning(status) && run > 0 && total_recipients > sent_count
  // Elsewhere an approval is possible too, and clients need not offer it.
  const mayDecide = campaign.requires_approval && isStartable(status)
  const mayStart = isStartable(status) && !isApprovalMissing(campaign)
  const isAllowed: Record<CampaignAction, boolean> = {
    update: isEditable(status),
    delete: isDeletable(status) && sent_count === 0,
    request_approval: mayDecide && canBecome(campaign.approval, 'requested'),
    approve: mayDecide && canBecome(campaign.approval, 'approved'),
    reject: mayDecide && canBecome(campaign.approval, 'rejected'),
    schedule: mayStart,
    send_now: mayStart,
    pause: isPausable(status) && paused_at === null,
    resume: isPausable(status) && paused_at !== null,
    cancel: campaignLifecycle.allows(status, 'cancelled'),
    retry_failed: canRetry && campaignLifecycle.allows(status, 'sending') && !isApprovalRejected(campaign),
  }
  return campaignActions.filter(
    (action) => isAllowed[action] && (action === 'cancel' || action === 'pause' || !edition_is_archived),
  )
}
