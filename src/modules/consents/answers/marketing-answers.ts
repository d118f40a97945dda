import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { contactSeenInEdition } from '../../../db/shared-customers.ts'
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

type MarketingAnswerRow = RecordRow &
  Pick<DefinitionRow, 'key' | 'name' | 'title' | 'channels' | 'is_active' | 'is_required' | 'expires_after_days'> & {
    definition_edition_id: string | null
    email: string | null
    previous_expires_at: number | null
  }

/**
 * Answers with this status to marketing through a channel, to consents of the edition and of the whole organisation. A
 * definition shows the wording that was answered: a change of these definitions does not change it.
 */
export async function marketingAnswers(
  { db }: Pick<JobCtx, 'db'>,
  recipient: MarketingRecipient,
  asked: { status: 'given' } | { status: 'withdrawn'; method: string },
): Promise<MarketingAnswer[]> {
  const { user_id, organization_id, edition_id, channel } = recipient
  const rows = await db.all(
    sql<MarketingAnswerRow>`select r.*, consents.edition_id as definition_edition_id, consents.key, consents.name, consents.title,
        consents.channels, consents.is_active, consents.is_required, consents.expires_after_days,
        ${contactSeenInEdition(sql`users`, 'email', sql`r.edition_id`)} as email,
        (select before.expires_at from consent_records before where before.user_id = r.user_id
          and before.consent_id = r.consent_id and before.number = r.number - 1) as previous_expires_at
      from consent_records r join consents on consents.id = r.consent_id join users on users.id = r.user_id
      where r.user_id = ${user_id} and r.is_latest = 1 and r.status = ${asked.status}
        ${'method' in asked ? sql`and r.method = ${asked.method}` : sql``}
        and r.organization_id = ${organization_id} and consents.type = 'marketing'
        and (consents.edition_id is null or consents.edition_id = ${edition_id})
        and exists (select 1 from json_each(consents.channels) where value = ${channel})
      order by consents.position, consents.id`,
  )
  return rows.map((row) => {
    const { definition_edition_id, key, name, title, channels, email, previous_expires_at, ...rest } = row
    const { is_active, is_required, expires_after_days, ...before } = rest
    const { consent_id: id, consent_version: wording_version, content_hash } = before
    const wording = { wording_version, content_hash, reconsent_on_change: 0 }
    const rules = { is_active, is_required, expires_after_days, ...wording }
    return {
      definition: { id, organization_id, edition_id: definition_edition_id, key, name, title, channels, ...rules },
      user: { id: user_id, email },
      before,
      previous_expires_at,
    }
  })
}
