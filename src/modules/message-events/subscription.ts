import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { mintLinkToken } from '../../domain/campaigns/link-tokens.ts'
import { mintPreferencesToken } from '../../domain/consent-tokens.ts'
import { readerOf, wordsOf } from '../../domain/email/words.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { Channel } from '../../domain/messaging.ts'
import { marketingAnswers, type MarketingAnswer } from '../consents/index.ts'
import { suppressionReasonOf } from '../suppressions/index.ts'

/** A recipient of a campaign, and where its marketing is subscribed to. */
export interface Subscriber {
  campaign_id: string
  n: number
  user_id: string
  address: string
  language: string
  organization_id: string
  organization_name: string
  edition_id: string
  channel: Channel
}

/** The consents that unsubscribing withdraws. */
export const givenConsents = (job: JobCtx, subscriber: Subscriber): Promise<MarketingAnswer[]> =>
  marketingAnswers(job, subscriber, { status: 'given' })

export const unsubscribeMethod = 'one_click_unsubscribe'

/** The consents that unsubscribing has withdrawn, and nobody has answered since. */
export const withdrawnConsents = (job: JobCtx, subscriber: Subscriber): Promise<MarketingAnswer[]> =>
  marketingAnswers(job, subscriber, { status: 'withdrawn', method: unsubscribeMethod })

export type SubscriptionLink = 'unsubscribe' | 'resubscribe'

/** What the page shows: whether marketing goes there, and the consents that its button changes. */
export interface Subscription {
  suppression: string | null
  consents: { title: string; channels: Channel[] }[]
  /** Of the links out and back. */
  tokens: Record<SubscriptionLink, string>
  /** Of the page of all consents; null where the address is not the person's any more. */
  preferences: string | null
}

async function preferencesToken(job: JobCtx, subscriber: Subscriber): Promise<string | null> {
  const { user_id, organization_id, channel, address } = subscriber
  const own = await job.db.first(sql<{ id: string }>`select id from users where id = ${user_id} and erased_at is null
    and iif(${channel} = 'email', email, phone_number) = ${address}`)
  const link = { user_id, organization_id, channel, address, made_at: job.now() }
  return own ? mintPreferencesToken(job.config.linkSigningKey, link) : null
}

export async function subscriptionOf(job: JobCtx, subscriber: Subscriber): Promise<Subscription> {
  const suppression = await suppressionReasonOf(job, subscriber)
  const rows = await (suppression === null ? givenConsents : withdrawnConsents)(job, subscriber)
  const reader = readerOf(subscriber.language as Language, 'en')
  const consents = rows.map(({ definition: { name, title, channels } }) => ({
    title: wordsOf(JSON.parse(title) as TranslatedDict, reader) || name,
    channels: JSON.parse(channels) as Channel[],
  }))
  const { campaign_id, n } = subscriber
  const token = (kind: SubscriptionLink) => mintLinkToken(job.config.linkSigningKey, { kind, campaign_id, n, link: 0 })
  const tokens = { unsubscribe: await token('unsubscribe'), resubscribe: await token('resubscribe') }
  return { suppression, consents, tokens, preferences: await preferencesToken(job, subscriber) }
}
