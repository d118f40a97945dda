import type { JobCtx } from '../../context.ts'
import type { RecipientEvent } from '../../domain/campaigns/recipient-events.ts'

/** Events of one recipient or several, by the campaign whose messages they are about. */
export type CampaignEvents = readonly { campaign_id: string; event: RecipientEvent }[]

/** Enqueues events for the campaigns' Durable Objects, as one message for each campaign. */
export async function enqueueCampaignEvents(job: JobCtx, events: CampaignEvents): Promise<void> {
  const byCampaign = Map.groupBy(events, ({ campaign_id }) => campaign_id)
  if (byCampaign.size)
    await job.jobQueue.enqueue(
      'campaign-events',
      [...byCampaign].map(([campaign_id, group]) => ({
        type: 'campaign.events',
        campaign_id,
        events: group.map(({ event }) => event),
      })),
    )
}
