import type { JobCtx } from '../../context.ts'

/** Rings for consumers: who comes asks the campaign's object what there is to send. */
export const ringCampaign = (job: JobCtx, campaignId: string, consumers: number): Promise<void> =>
  job.doorbell.ring(
    'campaigns',
    Array.from({ length: consumers }, () => ({ type: 'campaign.send-chunks', campaign_id: campaignId })),
  )
