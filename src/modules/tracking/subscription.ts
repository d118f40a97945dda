import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { consentRecords } from '../../db/schema/consents.ts'
import { contactSeenInEdition } from '../../db/shared-customers.ts'
import { mintLinkToken } from '../../domain/campaign-tokens.ts'
import { mintPreferencesToken } from '../../domain/consent-tokens.ts'
import { readerOf, wordsOf } from '../../domain/email/words.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { Channel } from '../../domain/messaging.ts'
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

/** The latest answer to a consent, with what its followers and the page say of the consent. */
export interface ConsentRow {
  record: typeof consentRecords.$inferSelect
  key: string
  name: string
  title: string
  channels: string
  email: string | null
  /** When the consent would have ended that this answer took back. */
  previous_expires_at: number | null
}

type FlatRow = ConsentRow['record'] & Omit<ConsentRow, 'record'>

/** Answers to marketing through the campaign's channel, to consents of its edition or of the whole organisation. */
async function answersOf({ db }: JobCtx, subscriber: Subscriber, condition: SQL): Promise<ConsentRow[]> {
  const { user_id, organization_id, edition_id, channel } = subscriber
  const rows = await db.all(
    sql<FlatRow>`select r.*, consents.key, consents.name, consents.title, consents.channels,
        ${contactSeenInEdition(sql`users`, 'email', sql`r.edition_id`)} as email,
        (select before.expires_at from consent_records before where before.id = r.previous_record_id)
          as previous_expires_at
      from consent_records r join consents on consents.id = r.consent_id join users on users.id = r.user_id
      where r.user_id = ${user_id} and r.is_latest = 1 and ${condition}
        and r.organization_id = ${organization_id} and consents.type = 'marketing'
        and (consents.edition_id is null or consents.edition_id = ${edition_id})
        and exists (select 1 from json_each(consents.channels) where value = ${channel})
      order by consents.position, consents.id`,
  )
  return rows.map(({ key, name, title, channels, email, previous_expires_at, ...record }) => ({
    record,
    key,
    name,
    title,
    channels,
    email,
    previous_expires_at,
  }))
}

/** The consents that unsubscribing withdraws. */
export const givenConsents = (job: JobCtx, subscriber: Subscriber): Promise<ConsentRow[]> =>
  answersOf(job, subscriber, sql`r.status = 'given'`)

export const unsubscribeMethod = 'one_click_unsubscribe'

/** The consents that unsubscribing has withdrawn, and nobody has answered since. */
export const withdrawnConsents = (job: JobCtx, subscriber: Subscriber): Promise<ConsentRow[]> =>
  answersOf(job, subscriber, sql`r.status = 'withdrawn' and r.method = ${unsubscribeMethod}`)

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
  const consents = rows.map(({ name, title, channels }) => ({
    title: wordsOf(JSON.parse(title) as TranslatedDict, reader) || name,
    channels: JSON.parse(channels) as Channel[],
  }))
  const { campaign_id, n } = subscriber
  const token = (kind: SubscriptionLink) => mintLinkToken(job.config.linkSigningKey, { kind, campaign_id, n, link: 0 })
  const tokens = { unsubscribe: await token('unsubscribe'), resubscribe: await token('resubscribe') }
  return { suppression, consents, tokens, preferences: await preferencesToken(job, subscriber) }
}
