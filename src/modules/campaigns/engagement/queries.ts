import type { Ctx } from '../../../context.ts'
import { maxTimelineBuckets, type Timeline } from '../../../domain/campaigns/timeline.ts'
import { invalid, parameterError } from '../../../domain/errors.ts'
import type { LoadedCampaign } from '../queries.ts'
import type { TimelineRequest } from './contract.ts'

export interface LoadedTimeline extends Pick<TimelineRequest, 'interval'>, Pick<Timeline, 'buckets'> {
  timezone: string
}

/** Reads the timeline from the campaign's Durable Object, which a draft does not have yet. */
export async function getCampaignTimeline(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { interval, from, to }: TimelineRequest,
): Promise<LoadedTimeline> {
  const timezone = campaign.edition_timezone
  if (campaign.run === 0) return { interval, timezone, buckets: [] }
  const query = { timezone, interval, from: from ?? null, to: to ?? null }
  const { is_complete, buckets } = await ctx.senders.get(campaign.id).readTimeline(query)
  if (is_complete) return { interval, timezone, buckets }
  throw invalid(
    parameterError(
      'interval',
      'too_many_buckets',
      `The timeline has more than ${maxTimelineBuckets} buckets. Ask for a longer interval, or for less time with \`from\` and \`to\`.`,
    ),
  )
}
