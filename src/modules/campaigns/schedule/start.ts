import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { campaigns } from '../../../db/schema/messaging/campaigns.ts'
import { updateVersion } from '../../../db/write.ts'
import { isRunning } from '../../../domain/campaigns/lifecycle.ts'
import { AppError, fieldError } from '../../../domain/errors.ts'
import { hasSender } from '../delivery/content-snapshot.ts'
import { keepSegment } from '../delivery/segment-snapshot.ts'
import { openEditions } from '../../editions/index.ts'
import { checkSegmentRole, messageStays, segmentStays } from '../judge.ts'
import type { CampaignDetailRow, LoadedCampaign } from '../queries.ts'
import { checkReady, checkTransition, invalidTransition } from '../refusals.ts'

/** A new run. The campaign's object begins it when it is woken. */
async function startRun(
  ctx: Ctx,
  campaign: LoadedCampaign,
  status: 'calculating' | 'sending',
): Promise<CampaignDetailRow> {
  const now = ctx.now()
  const isAnew = status === 'calculating'
  const changes = {
    status,
    run: campaign.run + 1,
    error_message: '',
    completed_at: null,
    heartbeat_at: now,
    modified_at: now,
  }
  const started = await commit(ctx, { ...campaign, ...changes, version: campaign.version + 1 }, [
    ...openEditions(campaign.edition_id),
    ...segmentStays(ctx, campaign),
    ...(isAnew ? messageStays(campaign) : []),
    ...updateVersion(campaigns, campaign, changes),
    ...(isAnew ? [keepSegment(campaign.id)] : []),
  ])
  ctx.afterCommit(() => ctx.senders.of(campaign.id).wake(campaign.id))
  return started
}

export async function sendCampaignNow(ctx: Ctx, campaign: LoadedCampaign): Promise<CampaignDetailRow> {
  checkSegmentRole(ctx, campaign)
  checkTransition(campaign, 'calculating', 'sent')
  checkReady(ctx, campaign)
  return startRun(ctx, campaign, 'calculating')
}

const senderNotVerified =
  'The campaign was started with a sender whose domain is not a verified sender domain any more.'

/** Sends the kept content again to recipients who failed for a temporary reason. */
export async function retryFailed(ctx: Ctx, campaign: LoadedCampaign): Promise<CampaignDetailRow> {
  if (isRunning(campaign.status)) throw invalidTransition(campaign.status, 'retried')
  checkTransition(campaign, 'sending', 'retried')
  const count = campaign.run === 0 ? 0 : await ctx.senders.of(campaign.id).retryable()
  if (count === 0)
    throw new AppError('nothing_to_retry', 'No recipient failed for a temporary reason.', {
      extra: { current_status: campaign.status },
    })
  if (!(await hasSender(ctx, campaign)))
    throw new AppError('campaign_not_ready', 'The campaign cannot be sent yet.', {
      errors: [fieldError(['edition_id'], 'sender_not_verified', senderNotVerified)],
    })
  return startRun(ctx, campaign, 'sending')
}
