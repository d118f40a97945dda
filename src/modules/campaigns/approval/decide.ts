import { eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { holdsApproval } from '../../../db/campaign-approvals.ts'
import { abortUnless, commit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { campaignApprovals, campaigns } from '../../../db/schema/campaigns.ts'
import { update, updateVersion } from '../../../db/write.ts'
import { type Approval, checkSecondAccount } from '../../../domain/campaigns/approval.ts'
import { LostRace } from '../../../domain/errors.ts'
import { openEditions } from '../../editions/index.ts'
import { guardSegment } from '../checks.ts'
import type { CampaignRow } from '../delivery/campaign-row.ts'
import type { LoadedCampaign } from '../queries.ts'
import { checkDecision } from './checks.ts'
import type { OptionalNoteInput, RequiredNoteInput } from './contract.ts'

type Decision = Pick<Approval, 'status' | 'note'>

/** Stores a decision. All decisions and requests raise the version of the campaign, so no two of them overlap. */
function commitDecision(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { status, note }: Decision,
  guards: readonly Statement[],
): Promise<CampaignRow> {
  const now = ctx.now()
  const decision = { status, note, decided_by: ctx.caller.id, decided_at: now }
  const decidedCampaign = {
    ...campaign,
    approval: campaign.approval && { ...campaign.approval, ...decision },
    modified_at: now,
    version: campaign.version + 1,
  }
  return commit(ctx, decidedCampaign, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...updateVersion(campaigns, campaign, { modified_at: now }),
    ...guards,
    update(campaignApprovals, decision, eq(campaignApprovals.campaign_id, campaign.id)),
  ])
}

/** What is approved is what was requested: a change of it at the same time makes the request outdated. */
export async function approveCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { note }: OptionalNoteInput,
): Promise<CampaignRow> {
  checkDecision(ctx, campaign, 'approved')
  const { approval } = campaign
  if (!approval) throw new LostRace('the request is gone')
  checkSecondAccount(approval, ctx.caller.id)
  return commitDecision(ctx, campaign, { status: 'approved', note: note ?? null }, [
    abortUnless(holdsApproval(campaign.id, approval)),
  ])
}

export async function rejectCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { note }: RequiredNoteInput,
): Promise<CampaignRow> {
  checkDecision(ctx, campaign, 'rejected')
  return commitDecision(ctx, campaign, { status: 'rejected', note }, [])
}
