import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { isRunning } from '../../../domain/campaigns/lifecycle.ts'
import type { RunChanges } from '../../../domain/campaigns/sender.ts'
import { invalidTransition } from '../checks.ts'
import type { CampaignRow } from '../delivery/campaign-row.ts'
import { applySnapshot, buildProjection } from '../delivery/projection.ts'

/**
 * Changes a running campaign in its Durable Object, which hands out the chunks. The campaign's row follows, also when the
 * commit is lost. `participle` ends the sentence of a refusal.
 */
export async function changeRun(
  ctx: Ctx,
  campaign: CampaignRow,
  changes: RunChanges,
  participle: string,
): Promise<CampaignRow> {
  const { isChanged, snapshot } = await ctx.senders.get(campaign.id).changeRun(campaign.id, campaign.run, changes)
  if (!isChanged) throw invalidTransition(isRunning(snapshot.status) ? campaign.status : snapshot.status, participle)
  // Nothing is left to store when the request asks for what is so already.
  if (snapshot.revision === campaign.revision) return commit(ctx, campaign, [])
  const now = ctx.now()
  return commit(ctx, applySnapshot(campaign, snapshot, now), [buildProjection(snapshot, now)])
}
