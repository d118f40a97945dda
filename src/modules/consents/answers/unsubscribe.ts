import { and, eq, getTableColumns, isNull, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import { buildContactColumn } from '../../../db/customers.ts'
import type { Statement } from '../../../db/database.ts'
import { consentRecords, consents } from '../../../db/schema/consents.ts'
import { users } from '../../../db/schema/customers.ts'
import { select } from '../../../db/select.ts'
import type { AnswerMethod } from '../../../domain/consents/consents.ts'
import type { Language } from '../../../domain/languages.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'
import {
  findSuppressionReason,
  selectSuppressedAddress,
  suppress,
  takeBackUnsubscription,
} from '../../suppressions/index.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import type { DefinitionRow } from '../queries.ts'
import {
  type AnsweredDefinition,
  type AnsweringUser,
  answerRaces,
  buildAnswerAnnouncements,
  buildAnswerStatements,
  decideAnswerRecords,
  type RecordRow,
} from './records.ts'

/** A person's latest answer to a marketing consent. */
interface MarketingAnswer {
  definition: AnsweredDefinition & Pick<DefinitionRow, 'name' | 'title' | 'channels'>
  user: AnsweringUser
  before: RecordRow
  /** The time at which the consent before this answer would have expired. */
  previous_expires_at: number | null
}

interface MarketingRecipient {
  user_id: string
  organization_id: string
  edition_id: string
  channel: Channel
}

const r = alias(consentRecords, 'r')

const fields = {
  definition_edition_id: consents.edition_id,
  key: consents.key,
  name: consents.name,
  title: consents.title,
  channels: consents.channels,
  is_active: consents.is_active,
  is_required: consents.is_required,
  expires_after_days: consents.expires_after_days,
  email: sql<string | null>`${buildContactColumn(sql`users`, 'email', sql`r.edition_id`)}`,
  previous_expires_at: sql<number | null>`(select before.expires_at from consent_records before
    where before.user_id = r.user_id and before.consent_id = r.consent_id and before.number = r.number - 1)`,
  ...getTableColumns(r),
}

/**
 * Lists the person's answers with a status to marketing consents of the edition and of the whole organisation. Each
 * definition has the version of the wording that was answered.
 */
async function listMarketingAnswers(
  { db }: Pick<JobCtx, 'db'>,
  recipient: MarketingRecipient,
  filter: { status: 'given' } | { status: 'withdrawn'; method: AnswerMethod },
): Promise<MarketingAnswer[]> {
  const { user_id, organization_id, edition_id, channel } = recipient
  const rows = await db.all(
    select(fields)
      .from(r)
      .innerJoin(consents, eq(consents.id, r.consent_id))
      .innerJoin(users, eq(users.id, r.user_id))
      .where(
        and(
          eq(r.user_id, user_id),
          // A literal, because SQLite does not use the partial index for a bound value.
          sql`r.is_latest = 1`,
          eq(r.status, filter.status),
          'method' in filter ? eq(r.method, filter.method) : undefined,
          eq(r.organization_id, organization_id),
          eq(consents.type, 'marketing'),
          or(isNull(consents.edition_id), eq(consents.edition_id, edition_id)),
          sql`exists (select 1 from json_each(consents.channels) where value = ${channel})`,
        ),
      )
      .orderBy(consents.position, consents.id),
  )
  return rows.map((row) => {
    const { definition_edition_id, key, name, title, channels, email, previous_expires_at, ...rest } = row
    const { is_active, is_required, expires_after_days, ...before } = rest
    const { consent_id: id, consent_version: wording_version, content_hash } = before
    const wording = { wording_version, content_hash, reconsent_on_change: false }
    const rules = { is_active, is_required, expires_after_days, ...wording }
    return {
      definition: { id, organization_id, edition_id: definition_edition_id, key, name, title, channels, ...rules },
      user: { id: user_id, email },
      before,
      previous_expires_at,
    }
  })
}

/** A recipient of a campaign who unsubscribes from marketing to an address, or subscribes again. */
export interface CampaignSubscriber extends MarketingRecipient {
  campaign_id: string
  address: string
  language: Language
}

const unsubscribeMethod = 'one_click_unsubscribe'

/** Lists the consents that unsubscribing withdraws. */
export const listGivenConsents = (job: JobCtx, subscriber: CampaignSubscriber): Promise<MarketingAnswer[]> =>
  listMarketingAnswers(job, subscriber, { status: 'given' })

/** Lists the consents that unsubscribing withdrew and that were not answered since. */
export const listWithdrawnConsents = (job: JobCtx, subscriber: CampaignSubscriber): Promise<MarketingAnswer[]> =>
  listMarketingAnswers(job, subscriber, { status: 'withdrawn', method: unsubscribeMethod })

interface OneClickAnswer {
  status: 'given' | 'withdrawn'
  method: AnswerMethod
  expires_at: number | null
}

interface SubscriptionChange {
  rows: readonly MarketingAnswer[]
  createAnswer: (row: MarketingAnswer) => OneClickAnswer
  /** The statement that changes the suppression of the address. */
  suppression: Statement
}

/** Commits the change with its events. Throws LostRace when one of the consents was answered meanwhile. */
async function commitChange(job: JobCtx, subscriber: CampaignSubscriber, change: SubscriptionChange): Promise<void> {
  const { campaign_id, language } = subscriber
  const request = { at: job.now(), source: `campaign:${campaign_id}`, language }
  const answers = await Promise.all(
    change.rows.map((row) =>
      decideAnswerRecords(job, row, { ...request, ...change.createAnswer(row), edition_id: row.before.edition_id }),
    ),
  )
  const statements = [change.suppression, ...buildAnswerStatements(answers)]
  await commitAnnounced(job, statements, answers.flatMap(buildAnswerAnnouncements), answerRaces)
}

/** Suppresses marketing to the address and withdraws the consents to it. A second call changes nothing. */
export const unsubscribe = (job: JobCtx, subscriber: CampaignSubscriber): Promise<void> =>
  retryLostRaces(async () => {
    await commitChange(job, subscriber, {
      rows: await listGivenConsents(job, subscriber),
      createAnswer: () => ({ status: 'withdrawn', method: unsubscribeMethod, expires_at: null }),
      suppression: suppress(selectSuppressedAddress(subscriber), {
        reason: 'unsubscribed',
        campaign_id: subscriber.campaign_id,
        at: job.now(),
      }),
    })
  })

/**
 * Takes back the suppression and the withdrawals of `unsubscribe`. The consents keep their earlier expiry. An address
 * that bounced or complained stays suppressed. A second call changes nothing.
 */
export const resubscribe = (job: JobCtx, subscriber: CampaignSubscriber): Promise<void> =>
  retryLostRaces(async () => {
    if ((await findSuppressionReason(job, subscriber)) !== 'unsubscribed') return
    await commitChange(job, subscriber, {
      rows: await listWithdrawnConsents(job, subscriber),
      createAnswer: ({ previous_expires_at }) => ({
        status: 'given',
        method: 'one_click_resubscribe',
        expires_at: previous_expires_at,
      }),
      suppression: takeBackUnsubscription(subscriber),
    })
  })
