import { lifecycle } from '../lifecycle.ts'

export const maxCampaignNameLength = 255
export const maxSmsBodyLength = 1600

/**
 * `sent` may have failures; `failed` means that nothing was sent or that it stopped. From `failed` and `sent` a retry
 * goes straight to `sending`: who gets it is known.
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

/** Those in which a campaign's object is at work. */
export const runningStatuses = ['calculating', 'sending'] as const satisfies readonly CampaignStatus[]

export const isRunning = (status: string): boolean => (runningStatuses as readonly string[]).includes(status)
export const isEditable = (status: string): boolean => status === 'draft' || status === 'scheduled'
export const isDeletable = (status: string): boolean => ['draft', 'failed', 'cancelled'].includes(status)
