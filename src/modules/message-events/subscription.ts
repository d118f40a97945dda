import { and, eq, isNull, or, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { users } from '../../db/schema/customers.ts'
import { select } from '../../db/select.ts'
import { mintLinkToken } from '../../domain/campaigns/link-tokens.ts'
import { mintPreferencesToken } from '../../domain/consents/consent-tokens.ts'
import { buildReader, readTranslation } from '../../domain/email/messages/phrases.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { type CampaignSubscriber, listGivenConsents, listWithdrawnConsents, unsubscribe } from '../consents/index.ts'
import { findSuppressionReason } from '../suppressions/index.ts'
import { enqueueCampaignEvents } from './enqueue.ts'

export { resubscribe } from '../consents/index.ts'

/** A recipient of a campaign who opened a link to unsubscribe or to subscribe again. */
export interface Subscriber extends CampaignSubscriber {
  n: number
  organization_name: string
}

export type SubscriptionLink = 'unsubscribe' | 'resubscribe'

/** The content of the page. `consents` lists the consents that its button changes. */
export interface Subscription {
  suppression: string | null
  consents: { title: string; channels: Channel[] }[]
  tokens: Record<SubscriptionLink, string>
  /** The token of the page of all consents. It is null when the person no longer has the address. */
  preferences: string | null
}

async function createPreferencesToken(job: JobCtx, subscriber: Subscriber): Promise<string | null> {
  const { user_id, organization_id, channel, address } = subscriber
  const column = channel === 'email' ? users.email : users.phone_number
  const hadAddress = sql`exists (select 1 from earlier_addresses
    where user_id = ${user_id} and channel = ${channel} and address = ${address})`
  const person = await job.db.first(
    select({ id: users.id })
      .from(users)
      .where(and(eq(users.id, user_id), isNull(users.erased_at), or(eq(column, address), hadAddress))),
  )
  const link = { user_id, organization_id, channel, address, made_at: job.now() }
  return person ? mintPreferencesToken(job.config.linkSigningKey, link) : null
}

export async function loadSubscription(job: JobCtx, subscriber: Subscriber): Promise<Subscription> {
  const suppression = await findSuppressionReason(job, subscriber)
  const rows = await (suppression === null ? listGivenConsents : listWithdrawnConsents)(job, subscriber)
  const reader = buildReader(subscriber.language, 'en')
  const consents = rows.map(({ definition: { name, title, channels } }) => ({
    title: readTranslation(title, reader) || name,
    channels,
  }))
  const { campaign_id, n } = subscriber
  const createToken = (kind: SubscriptionLink) =>
    mintLinkToken(job.config.linkSigningKey, { kind, campaign_id, n, link: 0 })
  const tokens = { unsubscribe: createToken('unsubscribe'), resubscribe: createToken('resubscribe') }
  return { suppression, consents, tokens, preferences: await createPreferencesToken(job, subscriber) }
}

/** Unsubscribes the recipient and counts it for the campaign. A second call changes nothing. */
export async function unsubscribeAndCount(job: JobCtx, subscriber: Subscriber): Promise<void> {
  await unsubscribe(job, subscriber)
  const { campaign_id, n } = subscriber
  await enqueueCampaignEvents(job, [{ campaign_id, event: { n, type: 'unsubscribed', at: job.now() } }])
}
