import { and, eq, getTableColumns, isNull, or, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { selectApproval } from '../../db/campaign-approvals.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { segments } from '../../db/schema/segments.ts'
import { fromFlag, type RowOf, select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { type Counters, zeroCounters } from '../../domain/campaigns/counters.ts'
import { doesNotExist, type FieldError, invalid, notFound } from '../../domain/errors.ts'
import { segmentSummaryFields } from '../segments/index.ts'
import {
  type CampaignRow,
  isMessageInScope,
  type ReadinessColumns,
  readinessFields,
  selectCampaigns,
} from './delivery/campaign-row.ts'

export type LoadedCampaign = CampaignRow & { tenant: Tenant }

const columns = getTableColumns(campaigns)
export const campaignListColumns = {
  ...columns,
  ...segmentSummaryFields,
  segment_edition_id: segments.edition_id,
  edition_timezone: editions.timezone,
  edition_is_archived: editions.is_archived,
  requires_approval: fromFlag(sql`(select requires_campaign_approval from organizations
    where organizations.id = ${campaigns.organization_id})`),
  approval: selectApproval(sql`${campaigns.id}`),
}

export type CampaignListRow = RowOf<typeof campaignListColumns>

export const campaignVisibility = buildVisibility(sql`${campaigns.organization_id}`, sql`${campaigns.edition_id}`)
const segmentVisibility = buildVisibility(sql`${segments.organization_id}`, sql`${segments.edition_id}`)

export async function findCampaign(ctx: Ctx, id: string): Promise<LoadedCampaign> {
  const row = await ctx.db.first(
    selectCampaigns().where(and(eq(columns.id, id), isVisibleTo(ctx.caller, campaignVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

interface ReferencedIds {
  organization_id: string
  edition_id: string
  segment_id: string
  email_message_id: string | null
}

/**
 * Loads the edition, segment and message of a campaign. A caller with a role in an edition does not find segments of
 * the whole organisation, which reach people of other editions.
 */
export async function loadReferences(ctx: Ctx, ids: ReferencedIds): Promise<ReadinessColumns> {
  const isReferenced = and(
    eq(segments.id, ids.segment_id),
    eq(segments.organization_id, organizations.id),
    or(isNull(segments.edition_id), eq(segments.edition_id, ids.edition_id)),
    isNull(segments.deleted_at),
    isVisibleTo(ctx.caller, segmentVisibility),
  )
  const row = await ctx.db.first(
    select({ edition: editions.id, ...readinessFields })
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, ids.edition_id), eq(editions.organization_id, organizations.id)))
      .leftJoin(segments, isReferenced)
      .leftJoin(emailMessages, isMessageInScope(sql`${ids.email_message_id}`, organizations.id, sql`${ids.edition_id}`))
      .where(eq(organizations.id, ids.organization_id)),
  )
  if (!row) throw doesNotExist('organization_id')
  const missingFields: FieldError[] = [
    ...(row.edition === null ? doesNotExist('edition_id').errors : []),
    ...(row.segment_id === null ? doesNotExist('segment_id').errors : []),
    ...(ids.email_message_id !== null && row.message_id === null ? doesNotExist('email_message_id').errors : []),
  ]
  if (missingFields.length) throw invalid(...missingFields)
  const { edition: _edition, ...references } = row
  // Nothing is missing, so no column of the edition or the segment is null.
  return references as ReadinessColumns
}

export interface CampaignCounters extends Counters {
  /** The pending recipients of a cancelled campaign are reported as cancelled. */
  is_cancelled: boolean
}

/** Reads the counters of the campaign's Durable Object, which a draft does not have yet. */
export async function loadCounters(ctx: Ctx, campaign: CampaignRow): Promise<CampaignCounters> {
  const counters = campaign.run === 0 ? null : await ctx.senders.get(campaign.id).readSnapshot()
  return { ...(counters ?? zeroCounters), is_cancelled: campaign.status === 'cancelled' }
}
