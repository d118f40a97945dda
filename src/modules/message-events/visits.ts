import { and, eq, sql } from 'drizzle-orm'
import type { CampaignEventsMessage, JobCtx } from '../../context.ts'
import { campaignLinks, campaigns } from '../../db/schema/messaging/campaigns.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { isMachine, parseReference, toRecipientEvent } from '../../domain/campaigns/recipient-events.ts'
import type { RecipientRow } from '../../domain/campaigns/sender.ts'
import { type LinkTarget, readLinkToken } from '../../domain/campaigns/link-tokens.ts'
import type { Channel, ProviderEvent } from '../../domain/messaging/messaging.ts'
import type { Subscriber, SubscriptionLink } from './subscription.ts'

/** A request to a link. Neither the visitor's address nor a cookie is kept. */
export interface LinkVisit {
  method: string
  agent: string | null
}

function recordVisit(job: JobCtx, { kind, campaign_id, n }: LinkTarget, { method, agent }: LinkVisit): Promise<void> {
  const person = kind === 'click' ? 'clicked' : 'opened'
  const type = isMachine(method, agent) ? 'machine_opened' : person
  return job.jobQueue.enqueue('campaign-events', [
    { type: 'campaign.events', campaign_id, events: [{ n, type, at: job.now(), is_visit: true }] },
  ])
}

export interface FollowedLink<Result> {
  result: Result
  /** Records the visit. */
  note: () => Promise<void>
}

/** The target of a tracked link; null for a forged one. */
export async function followLink(job: JobCtx, token: string, visit: LinkVisit): Promise<FollowedLink<string> | null> {
  const target = readLinkToken(job.config.linkSigningKey, 'click', token)
  const row =
    target &&
    (await job.db.first(
      select({ url: campaignLinks.url })
        .from(campaignLinks)
        .where(and(eq(campaignLinks.campaign_id, target.campaign_id), eq(campaignLinks.position, target.link))),
    ))
  return target && row ? { result: row.url, note: () => recordVisit(job, target, visit) } : null
}

export async function openPixel(job: JobCtx, token: string, visit: LinkVisit): Promise<FollowedLink<true> | null> {
  const target = readLinkToken(job.config.linkSigningKey, 'open', token)
  return target && { result: true, note: () => recordVisit(job, target, visit) }
}

export async function loadSubscriber(
  job: JobCtx,
  campaignId: string,
  { n, user_id, address, language }: RecipientRow,
): Promise<Subscriber | null> {
  const campaign = await job.db.first(
    select({
      organization_id: campaigns.organization_id,
      edition_id: campaigns.edition_id,
      channel: sql<Channel>`${campaigns.channel}`,
      organization_name: organizations.name,
    })
      .from(campaigns)
      .innerJoin(organizations, eq(organizations.id, campaigns.organization_id))
      .where(eq(campaigns.id, campaignId)),
  )
  return campaign ? { ...campaign, campaign_id: campaignId, n, user_id, address, language } : null
}

/** The recipient of a link to unsubscribe or to subscribe again. */
export async function findSubscriber(job: JobCtx, kind: SubscriptionLink, token: string): Promise<Subscriber | null> {
  const target = readLinkToken(job.config.linkSigningKey, kind, token)
  // Without this look-up a call would create the object of a deleted campaign again.
  const known =
    target &&
    (await job.db.first(select({ id: campaigns.id }).from(campaigns).where(eq(campaigns.id, target.campaign_id))))
  const row = known && (await job.senders.of(known.id).findRecipient(target.n))
  return row ? loadSubscriber(job, known.id, row) : null
}

/** Enqueues provider events of campaign messages for the campaigns' objects. */
export async function enqueueCampaignEvents(job: JobCtx, events: readonly ProviderEvent[]): Promise<void> {
  const known = events.flatMap((event) => {
    const about = parseReference(event.reference)
    const applied = about && toRecipientEvent(about.n, event)
    return about && applied ? [{ campaign_id: about.campaign_id, event: applied }] : []
  })
  const messages = [...Map.groupBy(known, ({ campaign_id }) => campaign_id)].map(
    ([campaign_id, group]): CampaignEventsMessage => ({
      type: 'campaign.events',
      campaign_id,
      events: group.map(({ event }) => event),
    }),
  )
  if (messages.length) await job.jobQueue.enqueue('campaign-events', messages)
}
