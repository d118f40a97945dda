import type { Ctx } from '../../../context.ts'
import { replaceApprovalRequest } from '../../../db/campaign-approvals.ts'
import { commit } from '../../../db/commit.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { updateVersion } from '../../../db/write.ts'
import { canBecome } from '../../../domain/campaigns/approval.ts'
import { openEditions } from '../../editions/index.ts'
import { guardSegment } from '../checks.ts'
import type { CampaignRow } from '../delivery/campaign-row.ts'
import type { LoadedCampaign } from '../queries.ts'
import { checkStartable, refuseDecision } from './checks.ts'
import type { OptionalNoteInput } from './contract.ts'

/** Requests the approval of what the campaign sends when this commits. */
export async function requestCampaignApproval(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { note }: OptionalNoteInput,
): Promise<CampaignRow> {
  checkStartable(ctx, campaign, 'sent for approval')
  if (!canBecome(campaign.approval, 'requested')) throw refuseDecision(campaign.approval, 'requested')
  const now = ctx.now()
  const request = { requested_by: ctx.caller.id, requested_at: now, request_note: note ?? null }
  const approval = {
    ...request,
    status: 'requested' as const,
    decided_by: null,
    decided_at: null,
    note: null,
    run: campaign.approval?.run ?? 0,
    is_content_current: true,
    is_segment_current: true,
    changes: campaign.approval?.changes ?? [],
  }
  const requestedCampaign = { ...campaign, approval, modified_at: now, version: campaign.version + 1 }
  return commit(ctx, requestedCampaign, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...updateVersion(campaigns, campaign, { modified_at: now }),
    replaceApprovalRequest(campaign.id, request),
  ])
}
