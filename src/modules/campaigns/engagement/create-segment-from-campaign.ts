import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { campaignLinks } from '../../../db/schema/campaigns.ts'
import { select } from '../../../db/select.ts'
import { buildRecipientExpression } from '../../../domain/campaigns/recipient-expression.ts'
import { AppError, doesNotExist, fieldError, invalid } from '../../../domain/errors.ts'
import { maxExpressionLength } from '../../../domain/segments.ts'
import { createSegment, type SegmentRow } from '../../segments/index.ts'
import { checkSegmentRole } from '../checks.ts'
import type { LoadedCampaign } from '../queries.ts'
import type { CreateSegmentFromCampaignInput } from './contract.ts'

async function loadAddress(ctx: Ctx, campaign: LoadedCampaign, position: number): Promise<string> {
  const link = await ctx.db.first(
    select({ url: campaignLinks.url })
      .from(campaignLinks)
      .where(and(eq(campaignLinks.campaign_id, campaign.id), eq(campaignLinks.position, position))),
  )
  if (!link) throw doesNotExist('link')
  return link.url
}

/**
 * Finds the edition of the segment. A campaign whose recipients may belong to several editions makes a segment of the
 * whole organisation, because a segment of an edition has none of the others' customers.
 */
function findEdition({ edition_id, segment_snapshot, segment_edition_id }: LoadedCampaign): string | null {
  const recipientsEdition = segment_snapshot ? segment_snapshot.edition_id : segment_edition_id
  return recipientsEdition === edition_id ? edition_id : null
}

/** Creates a segment whose expression holds for the recipients of the campaign that meet the filters. */
export async function createSegmentFromCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { name, description, communication_type, communication_channel, link, ...filters }: CreateSegmentFromCampaignInput,
): Promise<SegmentRow> {
  if (campaign.run === 0)
    throw new AppError('campaign_not_started', 'The campaign has no recipients before it starts.', {
      extra: { current_status: campaign.status },
    })
  const edition_id = findEdition(campaign)
  if (edition_id === null) checkSegmentRole(ctx, { ...campaign, segment_edition_id: null })
  const address = link === undefined ? undefined : await loadAddress(ctx, campaign, link)
  const expression = buildRecipientExpression(campaign.id, { ...filters, link: address })
  if (expression.length > maxExpressionLength)
    throw invalid(fieldError(['link'], 'max_length', 'The address of this link is too long for an expression.'))
  return createSegment(ctx, {
    organization_id: campaign.organization_id,
    edition_id,
    name,
    description,
    communication_type:
      communication_type ?? campaign.segment_snapshot?.communication_type ?? campaign.segment_communication_type,
    communication_channel: communication_channel ?? campaign.channel,
    expression,
  })
}
