import type { JobCtx } from '../../../context.ts'

/** Enqueues messages for consumers. A consumer gets chunks to send from the campaign's object. */
export const enqueueCampaign = (job: JobCtx, campaignId: string, consumers: number): Promise<void> =>
  job.jobQueue.enqueue(
    'campaigns',
    Array.from({ length: consumers }, () => ({ type: 'campaign.send-chunks', campaign_id: campaignId })),
  )
