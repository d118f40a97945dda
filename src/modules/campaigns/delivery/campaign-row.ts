import { and, eq, getTableColumns, isNull, or, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { selectApproval } from '../../../db/campaign-approvals.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { editions } from '../../../db/schema/editions.ts'
import { emailMessages } from '../../../db/schema/email-messages.ts'
import { organizations } from '../../../db/schema/organizations.ts'
import { segments } from '../../../db/schema/segments.ts'
import { type RowOf, select, type Nullable } from '../../../db/select.ts'
import type { Approval } from '../../../domain/campaigns/approval.ts'
import {
  type AcceptedTranslation,
  type CampaignTexts,
  findContentFaults,
  toFieldErrors,
} from '../../../domain/campaigns/content-faults.ts'
import { findReadinessFaults, type Readiness } from '../../../domain/campaigns/readiness.ts'
import type { FieldError } from '../../../domain/errors.ts'
import { noProvider } from '../../../domain/messaging/messaging.ts'
import { segmentSummaryFields } from '../../segments/index.ts'

/** Columns of the edition, the organisation and the segment that decide whether a campaign can be sent. */
const tenantFields = {
  edition_name: editions.full_name,
  edition_timezone: editions.timezone,
  edition_is_archived: editions.is_archived,
  edition_default_language: editions.default_language,
  edition_enabled_languages: editions.enabled_languages,
  edition_default_country_code: editions.default_country_code,
  edition_start_at: editions.start_at,
  edition_end_at: editions.end_at,
  edition_sms_sender_name: editions.sms_sender_name,
  edition_email_sender_name: editions.email_sender_name,
  edition_email_sender_address: editions.email_sender_address,
  edition_email_reply_to: editions.email_reply_to,
  edition_version: editions.version,
  organization_name: organizations.name,
  organization_version: organizations.version,
  requires_approval: organizations.requires_campaign_approval,
  segment_seq: segments.seq,
  segment_edition_id: segments.edition_id,
  segment_edition_timezone: sql<string | null>`(select timezone from editions where id = ${segments.edition_id})`,
  segment_deleted_at: segments.deleted_at,
  /** The greatest number of a recipient, which the links of messages contain. */
  last_user_seq: sql<number>`(select coalesce(max(seq), 1) from users)`,
  ...segmentSummaryFields,
}

/** Columns of the message, which are null when the campaign has none. */
const messageFields = {
  message_id: emailMessages.id,
  message_type: emailMessages.type,
  message_subject: emailMessages.subject,
  message_blocks: sql<number>`json_array_length(${emailMessages.blocks})`,
  message_version: emailMessages.version,
  message_edition_id: emailMessages.edition_id,
}

export const readinessFields = { ...tenantFields, ...messageFields }

/** Columns of other tables that decide whether a campaign can be sent. */
export type ReadinessColumns = RowOf<typeof tenantFields> & Nullable<RowOf<typeof messageFields>>

type StoredCampaignRow = typeof campaigns.$inferSelect
export type CampaignRow = StoredCampaignRow & ReadinessColumns & { approval: Approval | null }

/** The edition that conditions of blocks are about, with its time zone; both are null for the organisation. */
export interface ConditionPlace {
  edition_id: string | null
  edition_timezone: string | null
}

/**
 * Conditions are about the edition of the message, which is the campaign's, and otherwise about that of the segment.
 */
export const findConditionPlace = (row: CampaignRow, messageEditionId: string | null): ConditionPlace =>
  messageEditionId === null
    ? { edition_id: row.segment_edition_id, edition_timezone: row.segment_edition_timezone }
    : { edition_id: messageEditionId, edition_timezone: row.edition_timezone }

/** Holds for the message with this id when it belongs to the edition or to the whole organisation. */
export const isMessageInScope = (id: SQLWrapper, organization: SQLWrapper, edition: SQLWrapper): SQL | undefined =>
  and(
    eq(emailMessages.id, id),
    eq(emailMessages.organization_id, organization),
    or(isNull(emailMessages.edition_id), eq(emailMessages.edition_id, edition)),
  )

const isCampaignMessage = isMessageInScope(campaigns.email_message_id, campaigns.organization_id, campaigns.edition_id)

/** Selects campaigns together with everything that decides whether they can be sent. */
export const selectCampaigns = () =>
  select({ ...getTableColumns(campaigns), ...readinessFields, approval: selectApproval(sql`${campaigns.id}`) })
    .from(campaigns)
    .innerJoin(editions, eq(editions.id, campaigns.edition_id))
    .innerJoin(organizations, eq(organizations.id, campaigns.organization_id))
    .innerJoin(segments, eq(segments.id, campaigns.segment_id))
    .leftJoin(emailMessages, isCampaignMessage)

type ReadinessRow = ReadinessColumns &
  Pick<StoredCampaignRow, 'channel' | 'email_message_id' | 'deleted_message_id' | 'sms_body'>

const buildReadiness = ({ config, email }: Pick<JobCtx, 'config' | 'email'>, row: ReadinessRow): Readiness => ({
  channel: row.channel,
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
      : { type: row.message_type ?? '', subject: row.message_subject ?? {}, blocks: row.message_blocks ?? 0 },
  sms_body: row.sms_body,
  has_provider: config[row.channel].name !== noProvider,
  is_bulk: row.channel === 'sms' || email.bulk,
  has_links: config.publicUrl !== '' && config.linkSigningKey !== '',
})

/** Loads the texts of a campaign that decide whether it can be sent. Rows have no blocks, because they can be long. */
export async function loadTexts({ db }: Pick<JobCtx, 'db'>, row: CampaignRow): Promise<CampaignTexts> {
  const content =
    row.channel === 'email' && row.message_id !== null
      ? await db.first(
          select({ preheader: emailMessages.preheader, blocks: emailMessages.blocks })
            .from(emailMessages)
            .where(eq(emailMessages.id, row.message_id)),
        )
      : undefined
  return {
    channel: row.channel,
    message: content ? { subject: row.message_subject ?? {}, ...content } : null,
    sms_body: row.sms_body,
    default_language: row.edition_default_language,
    enabled_languages: row.edition_enabled_languages,
    communication_type: row.segment_communication_type,
    message_edition_id: row.message_edition_id,
    segment_edition_id: row.segment_edition_id,
  }
}

/** Finds everything that keeps a campaign with these texts from being sent, and what its recipients may miss. */
export function findCampaignFaults(
  job: Pick<JobCtx, 'config' | 'email'>,
  row: CampaignRow,
  texts: CampaignTexts,
  acceptedTranslations: readonly AcceptedTranslation[],
): { faults: FieldError[]; warnings: FieldError[] } {
  const { errors, warnings } = findContentFaults(texts, acceptedTranslations)
  return {
    faults: [...findReadinessFaults(buildReadiness(job, row)), ...toFieldErrors(errors, row.channel)],
    warnings: toFieldErrors(warnings, row.channel),
  }
}

export async function readCampaign({ db }: JobCtx, id: string): Promise<CampaignRow | null> {
  return (await db.first(selectCampaigns().where(eq(campaigns.id, id)))) ?? null
}
