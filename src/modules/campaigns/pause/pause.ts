import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { updateVersion } from '../../../db/write.ts'
import { isPausable, isRunning } from '../../../domain/campaigns/lifecycle.ts'
import { editionArchived } from '../../../domain/errors.ts'
import { openEditions } from '../../editions/index.ts'
import { checkContent, guardSegment, invalidTransition } from '../checks.ts'
import type { CampaignRow } from '../delivery/campaign-row.ts'
import type { LoadedCampaign } from '../queries.ts'
import { startCampaign } from '../transitions.ts'
import { changeRun } from './run-change.ts'

/** A campaign that is under way can be paused in an archived edition too. */
export async function pauseCampaign(ctx: Ctx, campaign: LoadedCampaign): Promise<CampaignRow> {
  if (!isPausable(campaign.status)) throw invalidTransition(campaign.status, 'paused')
  if (isRunning(campaign.status)) return changeRun(ctx, campaign, { is_paused: true }, 'paused')
  if (campaign.paused_at !== null) return commit(ctx, campaign, [])
  const now = ctx.now()
  const changes = { paused_at: now, modified_at: now }
  return commit(ctx, { ...campaign, ...changes, version: campaign.version + 1 }, [
    ...guardSegment(ctx, campaign),
    ...updateVersion(campaigns, campaign, changes),
  ])
}

/** A scheduled campaign whose time passed during the pause starts now, so that it is not a missed schedule. */
export async function resumeCampaign(ctx: Ctx, campaign: LoadedCampaign): Promise<CampaignRow> {
  if (!isPausable(campaign.status)) throw invalidTransition(campaign.status, 'resumed')
  if (campaign.edition_is_archived) throw editionArchived()
  if (isRunning(campaign.status)) return changeRun(ctx, campaign, { is_paused: false }, 'resumed')
  if (campaign.paused_at === null) return commit(ctx, campaign, [])
  const now = ctx.now()
  const scheduledAt = campaign.scheduled_at ?? now
  if (scheduledAt <= now)
    return startCampaign(ctx, campaign, await checkContent(ctx, campaign, [], campaign.accepted_translations))
  const changes = { paused_at: null, modified_at: now }
  const resumedCampaign = await commit(ctx, { ...campaign, ...changes, version: campaign.version + 1 }, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...updateVersion(campaigns, campaign, changes),
  ])
  ctx.afterCommit(() => ctx.senders.get(campaign.id).wake(campaign.id, scheduledAt))
  return resumedCampaign
}
