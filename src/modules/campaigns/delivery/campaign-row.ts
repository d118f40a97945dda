import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { campaigns } from '../../../db/schema/messaging/campaigns.ts'
import type { CampaignStatus } from '../../../domain/campaigns/lifecycle.ts'
import type { Readiness } from '../../../domain/campaigns/readiness.ts'
import type { Language, TranslatedDict } from '../../../domain/languages.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'

type TableRow = typeof campaigns.$inferSelect

/** Columns of other tables that decide whether a campaign can be sent, joined to its row. */
export interface ReadinessColumns {
  edition_name: string
  edition_timezone: string
  edition_is_archived: number
  edition_default_language: Language
  edition_enabled_languages: string
  edition_default_country_code: string
  edition_start_at: number | null
  edition_end_at: number | null
  edition_sms_sender_name: string
  edition_email_sender_name: string | null
  edition_email_sender_address: string | null
  edition_email_reply_to: string | null
  organization_name: string
  segment_seq: number
  segment_edition_id: string | null
  segment_communication_channel: string
  segment_deleted_at: number | null
  message_id: string | null
  message_type: string | null
  message_subject: string | null
  message_blocks: number | null
  message_version: number | null
}

export interface CampaignRow extends TableRow, ReadinessColumns {
  channel: Channel
  status: CampaignStatus
}

export const readinessColumns: SQL = sql`editions.full_name as edition_name, editions.timezone as edition_timezone,
  editions.is_archived as edition_is_archived, editions.default_language as edition_default_language,
  editions.enabled_languages as edition_enabled_languages,
  editions.default_country_code as edition_default_country_code, editions.start_at as edition_start_at,
  editions.end_at as edition_end_at, editions.sms_sender_name as edition_sms_sender_name,
  editions.email_sender_name as edition_email_sender_name,
  editions.email_sender_address as edition_email_sender_address,
  editions.email_reply_to as edition_email_reply_to, organizations.name as organization_name,
  segments.seq as segment_seq, segments.edition_id as segment_edition_id,
  segments.communication_channel as segment_communication_channel, segments.deleted_at as segment_deleted_at,
  email_messages.id as message_id, email_messages.type as message_type, email_messages.subject as message_subject,
  json_array_length(email_messages.blocks) as message_blocks, email_messages.version as message_version`

/** Messages of the campaign's edition, or of its whole organisation. */
export const messageJoin = (id: SQL, organization: SQL, edition: SQL): SQL =>
  sql`left join email_messages on email_messages.id = ${id} and email_messages.organization_id = ${organization}
    and (email_messages.edition_id is null or email_messages.edition_id = ${edition})`

export const readinessJoins: SQL = sql`join editions on editions.id = campaigns.edition_id
  join organizations on organizations.id = campaigns.organization_id
  join segments on segments.id = campaigns.segment_id
  ${messageJoin(sql`campaigns.email_message_id`, sql`campaigns.organization_id`, sql`campaigns.edition_id`)}`

type ReadinessRow = ReadinessColumns &
  Pick<TableRow, 'channel' | 'email_message_id' | 'deleted_message_id' | 'sms_body'>

export const readinessOf = ({ config, email }: Pick<JobCtx, 'config' | 'email'>, row: ReadinessRow): Readiness => ({
  channel: row.channel as Channel,
  edition: {
    is_archived: row.edition_is_archived,
    default_language: row.edition_default_language,
    sms_sender_name: row.edition_sms_sender_name,
  },
  segment: {
    communication_channel: row.segment_communication_channel,
    is_deleted: row.segment_deleted_at !== null,
  },
  has_message: row.email_message_id !== null || row.deleted_message_id !== null,
  message:
    row.message_id === null
      ? null
      : {
          type: row.message_type ?? '',
          subject: JSON.parse(row.message_subject ?? '{}') as TranslatedDict,
          blocks: row.message_blocks ?? 0,
        },
  sms_body: JSON.parse(row.sms_body) as TranslatedDict,
  is_bulk: row.channel === 'sms' || email.bulk,
  has_links: config.publicUrl !== '' && config.linkSigningKey !== '',
})

export async function readCampaign({ db }: JobCtx, id: string): Promise<CampaignRow | null> {
  const row = await db.first(
    sql<CampaignRow>`select campaigns.*, ${readinessColumns} from campaigns ${readinessJoins}
      where campaigns.id = ${id}`,
  )
  return row ?? null
}
