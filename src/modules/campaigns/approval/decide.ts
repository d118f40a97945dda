import { eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { holdsApproval } from '../../../db/campaign-approvals.ts'
import { abortUnless, commit } from '../../../db/commit.ts'
import { campaignApprovals, campaigns } from '../../../db/schema/campaigns.ts'
import { update, updateVersion } from '../../../db/write.ts'
import { type Approval, checkSecondAccount } from '../../../domain/campaigns/approval.ts'
import { openEditions } from '../../editions/index.ts'
import { guardSegment } from '../checks.ts'
import type { CampaignRow } from '../delivery/campaign-row.ts'
import type { LoadedCampaign } from '../queries.ts'
import { checkDecision } from './checks.ts'
import type { OptionalNoteInput, RequiredNoteInput } from './contract.ts'

/**
 * Stores a decision about what was requested: a change of that at the same time makes the request outdated. Decisions and
 * requests raise the version of the campaign, so no two of them overlap.
 */
function commitDecision(
  ctx: Ctx,
  campaign: LoadedCampaign,
  approval: Approval,
  { status, note }: Pick<Approval, 'status' | 'note'>,
): Promise<CampaignRow> {
  const now = ctx.now()
  const decision = { status, note, decided_by: ctx.caller.id, decided_at: now }
  const decidedCampaign = {
    ...campaign,
    approval: { ...approval, ...decision },
    modified_at: now,
    version: campaign.version + 1,
  }
  return commit(ctx, decidedCampaign, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...updateVersion(campaigns, campaign, { modified_at: now }),
    abortUnless(holdsApproval(campaign.id, approval)),
    update(campaignApprovals, decision, eq(campaignApprovals.campaign_id, campaign.id)),
  ])
}

export async function approveCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { note }: OptionalNoteInput,
): Promise<CampaignRow> {
  const approval = checkDecision(ctx, campaign, 'approved')
  checkSecondAccount(approval, ctx.caller.id)
  return commitDecision(ctx, campaign, approval, { status: 'approved', note: note ?? null })
}

export async function rejectCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { note }: RequiredNoteInput,
): Promise<CampaignRow> {
  const approval = checkDecision(ctx, campaign, 'rejected')
  return commitDecision(ctx, campaign, approval, { status: 'rejected', note })
}
