import type { JobCtx } from '../../../context.ts'

/** Enqueues messages for consumers, which then claim chunks from the campaign's Durable Object. */
export const enqueueConsumers = (job: JobCtx, campaignId: string, consumers: number): Promise<void> =>
  job.jobQueue.enqueue(
    'campaigns',
    Array.from({ length: consumers }, () => ({ type: 'campaign.send-chunks', campaign_id: campaignId })),
  )
