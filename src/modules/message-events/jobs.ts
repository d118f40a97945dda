import { eq, sql } from 'drizzle-orm'
import type { CampaignEventsMessage, JobCtx } from '../../context.ts'
import { selectPresentId } from '../../db/customers.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { select } from '../../db/select.ts'
import type { RecipientEvent } from '../../domain/campaigns/recipient-events.ts'
import type { AffectedRecipient } from '../../domain/campaigns/sender.ts'
import { buildRecipientSuppressions } from '../suppressions/index.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import { buildRecipientAnnouncements } from './announcements.ts'
import { unsubscribeAndCount } from './subscription.ts'
import { loadSubscriber } from './visits.ts'

export const isEventsMessage = (body: unknown): body is CampaignEventsMessage => {
  if (typeof body !== 'object' || body === null) return false
  const { type, campaign_id, events } = body as Partial<CampaignEventsMessage>
  return type === 'campaign.events' && typeof campaign_id === 'string' && Array.isArray(events)
}

/** Hands events to the campaigns' Durable Objects, in one call for each campaign. */
export async function applyEvents(job: JobCtx, messages: readonly CampaignEventsMessage[]): Promise<void> {
  const byCampaign = Map.groupBy(messages, ({ campaign_id }) => campaign_id)
  const results = await Promise.allSettled(
    [...byCampaign].map(([id, group]) =>
      applyToCampaign(
        job,
        id,
        group.flatMap(({ events }) => events),
      ),
    ),
  )
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw new Error('events could not be applied', { cause: failure.reason })
}

/** Suppresses the addresses of recipients who bounced or complained, and announces what happened to their messages. */
async function recordAffected(
  job: JobCtx,
  campaignId: string,
  recipients: readonly AffectedRecipient[],
): Promise<void> {
  const { id, organization_id, edition_id, channel, segment_snapshot } = campaigns
  const userIds = JSON.stringify(recipients.map(({ user_id }) => user_id))
  const [[campaign], people] = await job.db.batch([
    select({ id, organization_id, edition_id, channel, segment_snapshot })
      .from(campaigns)
      .where(eq(campaigns.id, campaignId)),
    sql<{ id: string; present_id: string }>`select value as id, ${selectPresentId(sql`value`)} as present_id
      from json_each(${userIds})`,
  ])
  if (!campaign) return
  const presentIds = new Map(people.map((person) => [person.id, person.present_id]))
  const affectedRecipients = recipients.map((recipient) => ({
    ...recipient,
    user_id: presentIds.get(recipient.user_id) ?? recipient.user_id,
  }))
  const suppressions = buildRecipientSuppressions(campaign, affectedRecipients)
  await commitAnnounced(job, suppressions, buildRecipientAnnouncements(campaign, affectedRecipients))
}

async function applyToCampaign(job: JobCtx, campaignId: string, events: readonly RecipientEvent[]): Promise<void> {
  const sender = job.senders.get(campaignId)
  const affectedRecipients = await sender.applyEvents(events)
  if (affectedRecipients.length) await recordAffected(job, campaignId, affectedRecipients)
  // Providers report unsubscriptions from their own lists. Unsubscriptions from our links have no `provider_id` and were
  // applied when the person clicked.
  for (const { n, provider_id } of events.filter(({ type }) => type === 'unsubscribed')) {
    const row = provider_id === undefined ? null : await sender.findRecipient(n)
    const subscriber = row && (await loadSubscriber(job, campaignId, row))
    if (subscriber) await unsubscribeAndCount(job, subscriber)
  }
}
