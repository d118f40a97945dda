import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { campaigns } from '../../../db/schema/messaging/campaigns.ts'
import { updateVersion } from '../../../db/write.ts'
import { isRunning } from '../../../domain/campaigns/lifecycle.ts'
import { projection } from '../delivery/projection.ts'
import { keepSegment } from '../delivery/segment-snapshot.ts'
import { segmentStays } from '../judge.ts'
import type { CampaignDetailRow, LoadedCampaign } from '../queries.ts'
import { checkTransition, invalidTransition } from '../refusals.ts'

/** A running campaign is stopped by its object, because the row may be behind. */
export async function cancelCampaign(ctx: Ctx, campaign: LoadedCampaign): Promise<CampaignDetailRow> {
  checkTransition(campaign, 'cancelled', 'cancelled')
  const now = ctx.now()
  if (!isRunning(campaign.status)) {
    const changes = { status: 'cancelled' as const, completed_at: now, modified_at: now }
    return commit(ctx, { ...campaign, ...changes, version: campaign.version + 1 }, [
      ...segmentStays(ctx, campaign),
      ...updateVersion(campaigns, campaign, changes),
      keepSegment(campaign.id),
    ])
  }
  const { done, snapshot } = await ctx.senders.of(campaign.id).cancel(campaign.id, campaign.run)
  if (!done) throw invalidTransition(snapshot.status, 'cancelled')
  const result: CampaignDetailRow = {
    ...campaign,
    status: snapshot.status,
    total_recipients: snapshot.total,
    sent_count: snapshot.sent,
    failed_count: snapshot.failed,
    skipped_count: snapshot.skipped,
    user_count: snapshot.user_count,
    error_message: snapshot.error_message,
    started_at: snapshot.started_at,
    completed_at: snapshot.completed_at,
    modified_at: now,
    version: campaign.version + 1,
  }
  return commit(ctx, result, [projection(snapshot, now)])
}
