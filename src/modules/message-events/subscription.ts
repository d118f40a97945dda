import { and, eq, isNull } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { users } from '../../db/schema/users.ts'
import { select } from '../../db/select.ts'
import { mintLinkToken } from '../../domain/campaigns/link-tokens.ts'
import { mintPreferencesToken } from '../../domain/consents/consent-tokens.ts'
import { readerOf, wordsOf } from '../../domain/email/messages/words.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { type CampaignSubscriber, listGivenConsents, listWithdrawnConsents } from '../consents/index.ts'
import { findSuppressionReason } from '../suppressions/index.ts'

/** The recipient of a campaign who opened one of its links. */
export interface Subscriber extends CampaignSubscriber {
  n: number
  organization_name: string
}

export type SubscriptionLink = 'unsubscribe' | 'resubscribe'

/** The state that the page shows, and the consents that its button changes. */
export interface Subscription {
  suppression: string | null
  consents: { title: string; channels: Channel[] }[]
  /** Tokens of the links to unsubscribe and to subscribe again. */
  tokens: Record<SubscriptionLink, string>
  /** Token of the page of all consents; null when the address is not the person's any more. */
  preferences: string | null
}

async function createPreferencesToken(job: JobCtx, subscriber: Subscriber): Promise<string | null> {
  const { user_id, organization_id, channel, address } = subscriber
  const column = channel === 'email' ? users.email : users.phone_number
  const own = await job.db.first(
    select({ id: users.id })
      .from(users)
      .where(and(eq(users.id, user_id), isNull(users.erased_at), eq(column, address))),
  )
  const link = { user_id, organization_id, channel, address, made_at: job.now() }
  return own ? mintPreferencesToken(job.config.linkSigningKey, link) : null
}

export async function loadSubscription(job: JobCtx, subscriber: Subscriber): Promise<Subscription> {
  const suppression = await findSuppressionReason(job, subscriber)
  const rows = await (suppression === null ? listGivenConsents : listWithdrawnConsents)(job, subscriber)
  const reader = readerOf(subscriber.language, 'en')
  const consents = rows.map(({ definition: { name, title, channels } }) => ({
    title: wordsOf(title, reader) || name,
    channels,
  }))
  const { campaign_id, n } = subscriber
  const token = (kind: SubscriptionLink) => mintLinkToken(job.config.linkSigningKey, { kind, campaign_id, n, link: 0 })
  const tokens = { unsubscribe: token('unsubscribe'), resubscribe: token('resubscribe') }
  return { suppression, consents, tokens, preferences: await createPreferencesToken(job, subscriber) }
}
