import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { stillHolds } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { mayAt, organizationRoles, type Place } from '../../domain/access.ts'
import { AppError } from '../../domain/errors.ts'
import { writers } from './contract.ts'
import { findCampaign, type LoadedCampaign } from './queries.ts'

interface SegmentPlace {
  organization_id: string
  segment_id: string
  segment_edition_id: string | null
}

const placeOf = ({ organization_id, segment_edition_id }: SegmentPlace): Place => ({
  organization_id,
  editions: segment_edition_id === null ? [] : [segment_edition_id],
})

/** What a campaign does, it does to the people of its segment: that takes a role where the segment stands. */
export function checkSegmentRole(ctx: Ctx, campaign: SegmentPlace): void {
  if (mayAt(ctx.caller, writers, placeOf(campaign))) return
  const isWhole = campaign.segment_edition_id === null
  throw new AppError(
    'permission_denied',
    isWhole
      ? 'The segment of this campaign is of the whole organisation: this takes a role in the organisation.'
      : 'The segment of this campaign stands in another edition: this takes a role there, or a role in the organisation.',
    { extra: { required_roles: isWhole ? organizationRoles(writers) : writers } },
  )
}

/** As `findCampaign`, for whoever may also write where its segment stands. */
export async function findJudged(ctx: Ctx, id: string): Promise<LoadedCampaign> {
  const campaign = await findCampaign(ctx, id)
  checkSegmentRole(ctx, campaign)
  return campaign
}

/** Aborts when the segment has moved since the caller was judged. A role in the organisation reaches all its places. */
export const segmentStays = (ctx: Ctx, campaign: SegmentPlace): Statement[] => {
  const { organization_id, segment_id, segment_edition_id } = campaign
  if (mayAt(ctx.caller, writers, { organization_id, editions: [] })) return []
  return [
    stillHolds(sql`exists (select 1 from segments where id = ${segment_id} and edition_id is ${segment_edition_id})`),
  ]
}
