import type { Ctx } from '../../../context.ts'
import {
  type Approval,
  approvalLifecycle,
  type ApprovalState,
  type ApprovalStatus,
  approvalRequired,
  canBecome,
  computeApprovalStatus,
  isApprovalMissing,
  isApprovalRejected,
} from '../../../domain/campaigns/approval.ts'
import { isStartable } from '../../../domain/campaigns/lifecycle.ts'
import { AppError } from '../../../domain/errors.ts'
import { checkSegmentRole, invalidTransition } from '../checks.ts'
import type { LoadedCampaign } from '../queries.ts'

/** Throws `approval_required` if the campaign must not be scheduled or sent. */
export function checkApproval(campaign: ApprovalState): void {
  if (isApprovalMissing(campaign)) throw approvalRequired(campaign.approval)
}

/** Throws `approval_required` if the rest of a campaign that stopped must not be sent. */
export function checkNotRejected(campaign: ApprovalState): void {
  if (isApprovalRejected(campaign)) throw approvalRequired(campaign.approval)
}

const participles = { requested: 'requested', approved: 'given', rejected: 'rejected' } as const

export function refuseDecision(approval: Approval | null, target: keyof typeof participles): AppError {
  const status = computeApprovalStatus(approval)
  const detail =
    status === null
      ? 'Nobody has requested the approval of this campaign.'
      : `Approval in status '${status}' cannot be ${participles[target]}.`
  return new AppError('invalid_transition', detail, {
    extra: {
      current_status: status,
      allowed_transitions: (status === null ? [approvalLifecycle.initial] : approvalLifecycle.targetsOf(status)).filter(
        (next: ApprovalStatus) => next !== 'outdated',
      ),
    },
  })
}

/** Everyone who may start the campaign may take part in its approval, until it starts. */
export function checkStartable(ctx: Ctx, campaign: LoadedCampaign, participle: string): void {
  checkSegmentRole(ctx, campaign)
  if (!isStartable(campaign.status)) throw invalidTransition(campaign.status, participle)
}

/** Returns what is to be decided about. */
export function checkDecision(ctx: Ctx, campaign: LoadedCampaign, target: 'approved' | 'rejected'): Approval {
  checkStartable(ctx, campaign, target)
  const { approval } = campaign
  if (approval === null || !canBecome(approval, target)) throw refuseDecision(approval, target)
  return approval
}
