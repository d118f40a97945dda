import { and, eq, getTableColumns, isNull, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { JobCtx } from '../../../context.ts'
import { consentRecords, consents } from '../../../db/schema/consents.ts'
import { users } from '../../../db/schema/users.ts'
import { select } from '../../../db/select.ts'
import { buildContactColumn } from '../../../db/customers.ts'
import type { AnswerMethod } from '../../../domain/consents/consents.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'
import type { DefinitionRow } from '../queries.ts'
import type { AnsweredDefinition, AnsweringUser, RecordRow } from './records.ts'

/** The latest answer of a person to a consent to marketing. */
export interface MarketingAnswer {
  definition: AnsweredDefinition & Pick<DefinitionRow, 'name' | 'title' | 'channels'>
  user: AnsweringUser
  before: RecordRow
  /** When the consent would have ended that this answer took back. */
  previous_expires_at: number | null
}

export interface MarketingRecipient {
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
 * Answers with this status to marketing through a channel, to consents of the edition and of the whole organisation. A
 * definition has the version of the wording that was answered, which a later change of the definition does not change.
 */
export async function marketingAnswers(
  { db }: Pick<JobCtx, 'db'>,
  recipient: MarketingRecipient,
  asked: { status: 'given' } | { status: 'withdrawn'; method: AnswerMethod },
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
          // Written out: the index of latest answers is not used for a bound value.
          sql`r.is_latest = 1`,
          eq(r.status, asked.status),
          'method' in asked ? eq(r.method, asked.method) : undefined,
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
