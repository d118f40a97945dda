import type { CampaignEventsMessage, JobCtx } from '../../context.ts'
import type { RecipientEvent } from '../../domain/campaigns/recipient-events.ts'
import { suppressTold } from '../suppressions/suppress-recipients.ts'
import { unsubscribe } from './unsubscribe.ts'
import { subscriberOf } from './visits.ts'

export const isEventsMessage = (body: unknown): body is CampaignEventsMessage => {
  if (typeof body !== 'object' || body === null) return false
  const { type, campaign_id, events } = body as Partial<CampaignEventsMessage>
  return type === 'campaign.events' && typeof campaign_id === 'string' && Array.isArray(events)
}

/** Takes what was told into the books of the campaigns: one call a campaign, however many messages told of it. */
export async function applyEvents(job: JobCtx, messages: readonly CampaignEventsMessage[]): Promise<void> {
  const byCampaign = Map.groupBy(messages, ({ campaign_id }) => campaign_id)
  const endings = await Promise.allSettled(
    [...byCampaign].map(([id, told]) =>
      apply(
        job,
        id,
        told.flatMap(({ events }) => events),
      ),
    ),
  )
  const fault = endings.find((one) => one.status === 'rejected')
  if (fault) throw new Error('events could not be taken in', { cause: fault.reason })
}

async function apply(job: JobCtx, campaignId: string, events: readonly RecipientEvent[]): Promise<void> {
  const sender = job.senders.of(campaignId)
  const told = await sender.apply(events)
  if (told.length) await suppressTold(job, campaignId, told)
  // Providers with lists of their own tell us who left; whoever left here has been seen to already.
  for (const { n, provider_id } of events.filter(({ type }) => type === 'unsubscribed')) {
    const row = provider_id === undefined ? null : await sender.recipient(n)
    const subscriber = row && (await subscriberOf(job, campaignId, row))
    if (subscriber) await unsubscribe(job, subscriber)
  }
}
