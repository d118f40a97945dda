import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { mintLinkToken } from '../../domain/campaign-tokens.ts'
import { readerOf, wordsOf } from '../../domain/email/words.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { Channel } from '../../domain/messaging.ts'
import { marketingAnswers, type MarketingAnswer } from '../consents/index.ts'

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

/** Why no marketing goes to the address; null when nothing keeps it from going. */
export async function suppressionReason({ db }: JobCtx, subscriber: Subscriber): Promise<string | null> {
  const { organization_id, channel, address } = subscriber
  const row = await db.first(sql<{ reason: string }>`select reason from suppressions
    where organization_id = ${organization_id} and channel = ${channel} and address = ${address}`)
  return row?.reason ?? null
}

export type SubscriptionLink = 'unsubscribe' | 'resubscribe'

/** What the page shows: whether marketing goes there, and the consents that its button changes. */
export interface Subscription {
  suppression: string | null
  consents: { title: string; channels: Channel[] }[]
  /** Of the links out and back. */
  tokens: Record<SubscriptionLink, string>
}

export async function subscriptionOf(job: JobCtx, subscriber: Subscriber): Promise<Subscription> {
  const suppression = await suppressionReason(job, subscriber)
  const rows = await (suppression === null ? givenConsents : withdrawnConsents)(job, subscriber)
  const reader = readerOf(subscriber.language as Language, 'en')
  const consents = rows.map(({ definition: { name, title, channels } }) => ({
    title: wordsOf(JSON.parse(title) as TranslatedDict, reader) || name,
    channels: JSON.parse(channels) as Channel[],
  }))
  const { campaign_id, n } = subscriber
  const token = (kind: SubscriptionLink) => mintLinkToken(job.config.linkSigningKey, { kind, campaign_id, n, link: 0 })
  const tokens = { unsubscribe: await token('unsubscribe'), resubscribe: await token('resubscribe') }
  return { suppression, consents, tokens }
}
