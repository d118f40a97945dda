import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/visibility.ts'
import type { campaigns } from '../../db/schema/campaigns.ts'
import type { CampaignSnapshot, RecipientRow } from '../../domain/campaign-sender.ts'
import {
  type CampaignStatus,
  lateAfterMs,
  missedSchedule,
  type Readiness,
  runningStatuses,
} from '../../domain/campaigns.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { Channel } from '../../domain/messaging.ts'

type Row = typeof campaigns.$inferSelect

/** What decides whether a campaign can go out, joined to its row. */
export interface Surroundings {
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
}

export interface CampaignRow extends Row, Surroundings {
  channel: Channel
  status: CampaignStatus
}

export const surroundingColumns: SQL = sql`editions.full_name as edition_name, editions.timezone as edition_timezone,
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
  json_array_length(email_messages.blocks) as message_blocks`

/** Messages of the campaign's edition, or of its whole organisation. */
export const messageJoin = (id: SQL, organization: SQL, edition: SQL): SQL =>
  sql`left join email_messages on email_messages.id = ${id} and email_messages.organization_id = ${organization}
    and (email_messages.edition_id is null or email_messages.edition_id = ${edition})`

export const surroundingJoins: SQL = sql`join editions on editions.id = campaigns.edition_id
  join organizations on organizations.id = campaigns.organization_id
  join segments on segments.id = campaigns.segment_id
  ${messageJoin(sql`campaigns.email_message_id`, sql`campaigns.organization_id`, sql`campaigns.edition_id`)}`

type Judged = Surroundings & Pick<Row, 'channel' | 'email_message_id' | 'sms_body'>

export const readinessOf = ({ config, email }: Pick<JobCtx, 'config' | 'email'>, row: Judged): Readiness => ({
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
  has_message: row.email_message_id !== null,
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
    sql<CampaignRow>`select campaigns.*, ${surroundingColumns} from campaigns ${surroundingJoins}
      where campaigns.id = ${id}`,
  )
  return row ?? null
}

/** Starts a campaign whose time has come, or fails one whose time is long over; whoever comes second changes nothing. */
export async function startDue(job: JobCtx, id: string): Promise<CampaignRow | null> {
  const now = job.now()
  const due = sql`id = ${id} and status = 'scheduled' and scheduled_at <= ${now}`
  await job.db.batch([
    sql`update campaigns set status = 'failed', error_message = ${missedSchedule}, completed_at = ${now},
      version = version + 1, modified_at = ${now} where ${due} and scheduled_at < ${now - lateAfterMs}`,
    sql`update campaigns set status = 'calculating', run = run + 1, heartbeat_at = ${now}, error_message = '',
      completed_at = null, version = version + 1, modified_at = ${now} where ${due}`,
  ])
  return readCampaign(job, id)
}

/** What the object says of a run that is over for the row, too, is history: it may be scheduled again or cancelled since. */
const whileRunning = (column: SQL, value: string | number | null): SQL =>
  sql`${column} = iif(${inList(sql`status`, runningStatuses)}, ${value}, ${column})`

/** Shows in the campaign's row what its object knows; what is older than what it shows changes nothing. */
export const projection = (snapshot: CampaignSnapshot, now: number): SQL =>
  sql`update campaigns set ${whileRunning(sql`status`, snapshot.status)}, total_recipients = ${snapshot.total},
      sent_count = ${snapshot.sent}, failed_count = ${snapshot.failed}, skipped_count = ${snapshot.skipped},
      delivered_count = ${snapshot.delivered}, opened_count = ${snapshot.opened}, clicked_count = ${snapshot.clicked},
      bounced_count = ${snapshot.bounced}, unsubscribed_count = ${snapshot.unsubscribed},
      user_count = ${snapshot.user_count}, ${whileRunning(sql`error_message`, snapshot.error_message)},
      started_at = ${snapshot.started_at}, ${whileRunning(sql`completed_at`, snapshot.completed_at)},
      revision = ${snapshot.revision},
      heartbeat_at = ${now}, version = version + 1, modified_at = ${now}
    where id = ${snapshot.campaign_id} and run = ${snapshot.run} and revision < ${snapshot.revision}`

export const project = async (job: JobCtx, snapshot: CampaignSnapshot): Promise<void> => {
  await job.db.batch([projection(snapshot, job.now())])
}

/** Tells segments who got a campaign, opened it, clicked in it. */
export async function projectReceipts(job: JobCtx, campaignId: string, rows: readonly RecipientRow[]): Promise<void> {
  const sent = rows.filter(({ state }) => state === 'sent')
  if (sent.length === 0) return
  const values = sent.map((row) => [row.user_id, row.sent_at, row.opened_at, row.clicked_at])
  await job.db.batch([
    sql`insert into campaign_receipts (organization_id, user_id, campaign_id, received_at, opened_at, clicked_at)
      select campaigns.organization_id, users.id, campaigns.id, value ->> 1, value ->> 2, value ->> 3
      from json_each(${JSON.stringify(values)}) cross join users on users.id = value ->> 0
        cross join campaigns on campaigns.id = ${campaignId} where true
      on conflict (user_id, campaign_id) do update set opened_at = excluded.opened_at, clicked_at = excluded.clicked_at`,
  ])
}

/** Campaigns that are due, and those whose object gave no sign of life for a while. */
export function findUnattended({ db, now }: JobCtx, quietMs: number, limit: number): Promise<{ id: string }[]> {
  return db.all(
    sql<{ id: string }>`select id from campaigns where status = 'scheduled' and scheduled_at <= ${now()}
      union all select id from campaigns where ${inList(sql`status`, runningStatuses)}
        and status in ('calculating', 'sending') and coalesce(heartbeat_at, 0) <= ${now() - quietMs} limit ${limit}`,
  )
}
