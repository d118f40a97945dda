import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { selectPresentId } from '../../db/customers.ts'
import { campaignLinks, campaigns } from '../../db/schema/campaigns.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { type LinkTarget, readLinkToken } from '../../domain/campaigns/link-tokens.ts'
import { isMachine } from '../../domain/campaigns/recipient-events.ts'
import type { RecipientRow } from '../../domain/campaigns/sender.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { enqueueCampaignEvents } from './enqueue.ts'
import type { Subscriber, SubscriptionLink } from './subscription.ts'

/** A request to a link. The visitor's IP address is not stored, and no cookie is set. */
export interface LinkVisit {
  method: string
  agent: string | null
}

function recordVisit(
  job: JobCtx,
  { kind, campaign_id, n, link }: LinkTarget,
  { method, agent }: LinkVisit,
): Promise<void> {
  const personType = kind === 'click' ? 'clicked' : 'opened'
  const type = isMachine(method, agent) ? 'machine_opened' : personType
  const event = { n, type, at: job.now(), is_visit: true, ...(kind === 'click' ? { link } : {}) } as const
  return enqueueCampaignEvents(job, [{ campaign_id, event }])
}

export interface FollowedLink<Result> {
  result: Result
  record: () => Promise<void>
}

/** Finds the target of a tracked link. Returns null for a forged link. */
export async function followLink(job: JobCtx, token: string, visit: LinkVisit): Promise<FollowedLink<string> | null> {
  const target = readLinkToken(job.config.linkReadingKeys, 'click', token)
  const row =
    target &&
    (await job.db.first(
      select({ url: campaignLinks.url })
        .from(campaignLinks)
        .where(and(eq(campaignLinks.campaign_id, target.campaign_id), eq(campaignLinks.position, target.link))),
    ))
  return target && row ? { result: row.url, record: () => recordVisit(job, target, visit) } : null
}

export async function openPixel(job: JobCtx, token: string, visit: LinkVisit): Promise<FollowedLink<true> | null> {
  const target = readLinkToken(job.config.linkReadingKeys, 'open', token)
  return target && { result: true, record: () => recordVisit(job, target, visit) }
}

/** Returns null for a deleted campaign and for a recipient who was erased. */
export async function loadSubscriber(
  job: JobCtx,
  campaignId: string,
  { n, user_id, address, language }: RecipientRow,
): Promise<Subscriber | null> {
  if (address === null) return null
  const campaign = await job.db.first(
    select({
      organization_id: campaigns.organization_id,
      edition_id: campaigns.edition_id,
      channel: sql<Channel>`${campaigns.channel}`,
      user_id: sql<string>`${selectPresentId(sql`${user_id}`)}`,
      organization_name: organizations.name,
    })
      .from(campaigns)
      .innerJoin(organizations, eq(organizations.id, campaigns.organization_id))
      .where(eq(campaigns.id, campaignId)),
  )
  return campaign ? { ...campaign, campaign_id: campaignId, n, address, language } : null
}

/** Finds the recipient whom a link unsubscribes or subscribes again. */
export async function findSubscriber(job: JobCtx, kind: SubscriptionLink, token: string): Promise<Subscriber | null> {
  const target = readLinkToken(job.config.linkReadingKeys, kind, token)
  // Without this check a call would create the Durable Object of a deleted campaign again.
  const campaign =
    target &&
    (await job.db.first(select({ id: campaigns.id }).from(campaigns).where(eq(campaigns.id, target.campaign_id))))
  const row = campaign && (await job.senders.get(campaign.id).findRecipient(target.n))
  return row ? loadSubscriber(job, campaign.id, row) : null
}
