import type { Ctx } from '../../context.ts'
import { isStartApproved } from '../../db/campaign-approvals.ts'
import { abortUnless, commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { updateVersion } from '../../db/write.ts'
import type { AcceptableFault, AcceptedTranslation } from '../../domain/campaigns/content-faults.ts'
import { isRunning } from '../../domain/campaigns/lifecycle.ts'
import { describeProviderFault } from '../../domain/campaigns/readiness.ts'
import { parseSchedule, type ScheduleFault } from '../../domain/campaigns/schedule.ts'
import { noWindowWait } from '../../domain/campaigns/waits.ts'
import { AppError, fieldError, invalid, LostRace } from '../../domain/errors.ts'
import { noProvider } from '../../domain/messaging/messaging.ts'
import { noWait } from '../../domain/waiting.ts'
import { openEditions } from '../editions/index.ts'
import { checkApproval, checkNotRejected } from './approval/checks.ts'
import {
  type CheckedCampaign,
  checkCampaignTransition,
  checkContent,
  checkSegmentRole,
  type ContentCheck,
  guardMessage,
  guardSegment,
  invalidTransition,
  notReady,
} from './checks.ts'
import type { ScheduleCampaignInput } from './contract.ts'
import type { CampaignRow } from './delivery/campaign-row.ts'
import { buildContentSnapshot, guardContent, isSenderVerified } from './delivery/content-snapshot.ts'
import { applySnapshot, buildProjection, snapshotSegment } from './delivery/projection.ts'
import type { LoadedCampaign } from './queries.ts'

const faultDetails: Record<ScheduleFault, string> = {
  invalid_date: '`scheduled_at` must be a date and time such as 2026-06-01T10:00:00, with or without an offset.',
  nonexistent_local_time: "Daylight saving skips this time in the edition's time zone.",
  scheduled_at_in_past: '`scheduled_at` must be in the future.',
  scheduled_at_too_far: '`scheduled_at` must be within a year from now.',
}

export async function scheduleCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  input: ScheduleCampaignInput,
): Promise<CheckedCampaign> {
  checkSegmentRole(ctx, campaign)
  const now = ctx.now()
  const scheduled_at = parseSchedule(input.scheduled_at, campaign.edition_timezone, now)
  if (typeof scheduled_at === 'string')
    throw invalid(fieldError(['scheduled_at'], scheduled_at, faultDetails[scheduled_at]))
  checkCampaignTransition(campaign, 'scheduled', 'scheduled')
  const { warnings, accepted_translations } = await checkContent(ctx, campaign, input.accept)
  checkApproval(campaign)
  const changes = {
    status: 'scheduled' as const,
    scheduled_at,
    accepted_translations,
    error_message: '',
    modified_at: now,
  }
  const scheduledCampaign = await commit(ctx, { ...campaign, ...changes, warnings, version: campaign.version + 1 }, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...guardMessage(campaign),
    abortUnless(isStartApproved(campaign.id)),
    ...updateVersion(campaigns, campaign, changes),
  ])
  ctx.afterCommit(() => ctx.senders.get(campaign.id).wake(campaign.id, scheduled_at))
  return scheduledCampaign
}

interface RunStart {
  status: 'calculating' | 'sending'
  accepted_translations?: readonly AcceptedTranslation[]
}

/**
 * Starts a new run with further statements. The campaign's Durable Object begins it when it is woken.
 */
async function startRun<Row extends CampaignRow>(
  ctx: Ctx,
  campaign: Row,
  start: RunStart,
  statements: readonly Statement[],
): Promise<Row> {
  const now = ctx.now()
  const changes = {
    ...start,
    run: campaign.run + 1,
    error_message: '',
    ...noWait,
    paused_at: null,
    ...noWindowWait,
    completed_at: null,
    heartbeat_at: now,
    modified_at: now,
  }
  const startedCampaign = await commit(ctx, { ...campaign, ...changes, version: campaign.version + 1 }, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...updateVersion(campaigns, campaign, changes),
    ...statements,
  ])
  ctx.afterCommit(() => ctx.senders.get(campaign.id).wake(campaign.id))
  return startedCampaign
}

/** Stores the content with the start, so that what is sent is what the message says when the operation answers. */
export async function startCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  { warnings, accepted_translations }: ContentCheck,
): Promise<CheckedCampaign> {
  checkApproval(campaign)
  const run = campaign.run + 1
  const content = await buildContentSnapshot(ctx, campaign, run)
  if (!content) throw new LostRace('the message was deleted meanwhile')
  const start = { status: 'calculating' as const, accepted_translations }
  const statements = [...guardContent(campaign, run), ...content, snapshotSegment(campaign.id)]
  return startRun(ctx, { ...campaign, warnings }, start, statements)
}

export async function sendCampaignNow(
  ctx: Ctx,
  campaign: LoadedCampaign,
  accept: readonly AcceptableFault[] = [],
): Promise<CheckedCampaign> {
  checkSegmentRole(ctx, campaign)
  checkCampaignTransition(campaign, 'calculating', 'sent')
  return startCampaign(ctx, campaign, await checkContent(ctx, campaign, accept))
}

const senderNotVerified = 'The campaign was started with a sender whose domain is no longer a verified sender domain.'

/** Sends the stored content again to recipients who failed for a temporary reason. */
export async function retryFailedCampaignRecipients(ctx: Ctx, campaign: LoadedCampaign): Promise<CampaignRow> {
  if (isRunning(campaign.status)) throw invalidTransition(campaign.status, 'retried')
  checkCampaignTransition(campaign, 'sending', 'retried')
  const count = campaign.run === 0 ? 0 : await ctx.senders.get(campaign.id).countRetryable()
  if (count === 0)
    throw new AppError('nothing_to_retry', 'No recipient of this campaign failed for a temporary reason.', {
      extra: { current_status: campaign.status },
    })
  checkNotRejected(campaign)
  if (ctx.config[campaign.channel].name === noProvider) throw notReady([describeProviderFault(campaign.channel)])
  if (!(await isSenderVerified(ctx, campaign)))
    throw notReady([fieldError(['edition_id'], 'sender_not_verified', senderNotVerified)])
  return startRun(ctx, campaign, { status: 'sending' }, [])
}

/** The Durable Object stops a running campaign, because the campaign's row may be behind. */
export async function cancelCampaign(ctx: Ctx, campaign: LoadedCampaign): Promise<CampaignRow> {
  checkCampaignTransition(campaign, 'cancelled', 'cancelled')
  const now = ctx.now()
  if (!isRunning(campaign.status)) {
    const changes = { status: 'cancelled' as const, paused_at: null, completed_at: now, modified_at: now }
    return commit(ctx, { ...campaign, ...changes, version: campaign.version + 1 }, [
      ...guardSegment(ctx, campaign),
      ...updateVersion(campaigns, campaign, changes),
      snapshotSegment(campaign.id),
    ])
  }
  const { isCancelled, snapshot } = await ctx.senders.get(campaign.id).cancel(campaign.id, campaign.run)
  if (!isCancelled) throw invalidTransition(snapshot.status, 'cancelled')
  return commit(ctx, applySnapshot(campaign, snapshot, now), [buildProjection(snapshot, now)])
}
