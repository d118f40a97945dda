import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { campaigns } from '../../../db/schema/messaging/campaigns.ts'
import { updateVersion } from '../../../db/write.ts'
import { type ScheduleFault, scheduleOf } from '../../../domain/campaigns/schedule.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { openEditions } from '../../editions/index.ts'
import { checkSegmentRole, messageStays, segmentStays } from '../judge.ts'
import type { CampaignDetailRow, LoadedCampaign } from '../queries.ts'
import { checkReady, checkTransition } from '../refusals.ts'

const faults: Record<ScheduleFault, string> = {
  invalid_date: 'A date and time as in 2026-06-01T10:00:00, with or without an offset.',
  nonexistent_local_time: 'The clocks of the edition skip this time.',
  scheduled_at_in_past: 'This time is over.',
  scheduled_at_too_far: 'At most a year from now.',
}

export async function scheduleCampaign(ctx: Ctx, campaign: LoadedCampaign, text: string): Promise<CampaignDetailRow> {
  checkSegmentRole(ctx, campaign)
  const now = ctx.now()
  const scheduled_at = scheduleOf(text, campaign.edition_timezone, now)
  if (typeof scheduled_at === 'string') throw invalid(fieldError(['scheduled_at'], scheduled_at, faults[scheduled_at]))
  checkTransition(campaign, 'scheduled', 'scheduled')
  checkReady(ctx, campaign)
  const changes = { status: 'scheduled' as const, scheduled_at, error_message: '', modified_at: now }
  const scheduled = await commit(ctx, { ...campaign, ...changes, version: campaign.version + 1 }, [
    ...openEditions(campaign.edition_id),
    ...segmentStays(ctx, campaign),
    ...messageStays(campaign),
    ...updateVersion(campaigns, campaign, changes),
  ])
  ctx.afterCommit(() => ctx.senders.of(campaign.id).wake(campaign.id, scheduled_at))
  return scheduled
}
