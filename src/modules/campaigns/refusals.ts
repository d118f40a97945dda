import type { Ctx } from '../../context.ts'
import { campaignLifecycle, type CampaignStatus } from '../../domain/campaigns/lifecycle.ts'
import { missingFor } from '../../domain/campaigns/readiness.ts'
import { AppError } from '../../domain/errors.ts'
import { readinessOf } from './delivery/campaign-row.ts'
import type { CampaignDetailRow } from './queries.ts'

export const invalidTransition = (status: CampaignStatus, what: string): AppError =>
  new AppError('invalid_transition', `Campaign in status '${status}' cannot be ${what}.`, {
    extra: { current_status: status, allowed_transitions: campaignLifecycle.targetsOf(status) },
  })

export function checkTransition(row: CampaignDetailRow, to: CampaignStatus, what: string): void {
  if (!campaignLifecycle.allows(row.status, to)) throw invalidTransition(row.status, what)
}

/** The refusal lists everything that is missing. */
export function checkReady(ctx: Ctx, row: CampaignDetailRow): void {
  const errors = missingFor(readinessOf(ctx, row))
  if (errors.length) throw new AppError('campaign_not_ready', 'The campaign cannot be sent yet.', { errors })
}
