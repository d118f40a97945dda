import { lifecycle } from '../lifecycle.ts'

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
export const isEditable = (status: string): boolean => status === 'draft' || status === 'scheduled'
export const isDeletable = (status: string): boolean => ['draft', 'failed', 'cancelled'].includes(status)
