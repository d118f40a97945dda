import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { mayAt, pickOrganizationRoles, type Tenant } from '../../domain/accounts/access.ts'
import { isEditable } from '../../domain/campaigns/lifecycle.ts'
import { AppError } from '../../domain/errors.ts'
import { writers } from './contract.ts'
import { type CampaignDetailRow, findCampaign, type LoadedCampaign } from './queries.ts'

interface CampaignSegment {
  organization_id: string
  segment_id: string
  segment_edition_id: string | null
}

const tenantOf = ({ organization_id, segment_edition_id }: CampaignSegment): Tenant => ({
  organization_id,
  editions: segment_edition_id === null ? [] : [segment_edition_id],
})

/** A campaign sends to the people of its segment, so the caller needs a role for the segment's tenant. */
export function checkSegmentRole(ctx: Ctx, campaign: CampaignSegment): void {
  if (mayAt(ctx.caller, writers, tenantOf(campaign))) return
  const isWhole = campaign.segment_edition_id === null
  throw new AppError(
    'permission_denied',
    isWhole
      ? 'The segment of this campaign is of the whole organisation: this takes a role in the organisation.'
      : 'The segment of this campaign belongs to another edition: this needs a role there, or a role in the organisation.',
    { extra: { required_roles: isWhole ? pickOrganizationRoles(writers) : writers } },
  )
}

/**
 * As `findCampaign`, for callers with a role for the segment's tenant: the one at the start of the campaign, and the
 * present one while the campaign can still be changed.
 */
export async function findJudged(ctx: Ctx, id: string): Promise<LoadedCampaign> {
  const campaign = await findCampaign(ctx, id)
  const snapshot = campaign.segment_snapshot
  if (snapshot) checkSegmentRole(ctx, { ...campaign, segment_edition_id: snapshot.edition_id })
  if (!snapshot || isEditable(campaign.status)) checkSegmentRole(ctx, campaign)
  return campaign
}

/** Aborts when the segment has moved since the role was checked. A role in the organisation reaches all editions. */
export const segmentStays = (ctx: Ctx, campaign: CampaignSegment): Statement[] => {
  const { organization_id, segment_id, segment_edition_id } = campaign
  if (mayAt(ctx.caller, writers, { organization_id, editions: [] })) return []
  return [
    abortUnless(sql`exists (select 1 from segments where id = ${segment_id} and edition_id is ${segment_edition_id})`),
  ]
}

/** Aborts when the message has changed since the campaign was found ready. */
export const messageStays = ({ message_id, message_version }: CampaignDetailRow): Statement[] => {
  if (message_id === null) return []
  return [
    abortUnless(sql`exists (select 1 from email_messages where id = ${message_id} and version = ${message_version})`),
  ]
}
