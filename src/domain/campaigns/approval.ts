import { AppError, fieldError, type FieldError } from '../errors.ts'
import { lifecycle } from '../lifecycle.ts'

/** `outdated` is not stored: it follows from a change of the content since the request. */
export const approvalLifecycle = lifecycle('requested', {
  requested: ['approved', 'rejected', 'outdated'],
  approved: ['rejected', 'outdated'],
  rejected: ['requested'],
  outdated: ['requested'],
})

export type ApprovalStatus = (typeof approvalLifecycle.states)[number]

export const storedApprovalStatuses = ['requested', 'approved', 'rejected'] as const satisfies readonly ApprovalStatus[]

export const maxApprovalNoteLength = 1000

/** The account that made a change, and when. Both are null if there was none since the content was created. */
type ContentChange = readonly [account: string | null, at: number | null]

/** The last request for approval of a campaign, and what was decided. */
export interface Approval {
  status: (typeof storedApprovalStatuses)[number]
  requested_by: string
  requested_at: number
  request_note: string | null
  decided_by: string | null
  decided_at: number | null
  note: string | null
  /** The run of the campaign that was started with it, or 0. */
  run: number
  /** False if the campaign, its message or its sender has changed since the request. */
  is_content_current: boolean
  /** False if the segment has changed since the request. */
  is_segment_current: boolean
  /** The last changes of the campaign, of its message, of its segment and of its sender. */
  changes: readonly ContentChange[]
}

/** A campaign with its approval, as far as it has one. */
export interface ApprovalState {
  requires_approval: boolean
  approval: Approval | null
}

/** Null: no approval was requested. A rejection stays, whatever changes, until the next request. */
export function computeApprovalStatus(approval: Approval | null): ApprovalStatus | null {
  if (!approval) return null
  const isCurrent = approval.is_content_current && approval.is_segment_current
  return isCurrent || approval.status === 'rejected' ? approval.status : 'outdated'
}

/** True if the campaign must not be started now because nobody has approved its content. */
export const isApprovalMissing = ({ requires_approval, approval }: ApprovalState): boolean =>
  requires_approval && computeApprovalStatus(approval) !== 'approved'

/**
 * True if the rest of a campaign that stopped must not be sent, because its approval was taken back. A retry sends what was
 * approved at the start, so later changes do not matter.
 */
export const isApprovalRejected = ({ requires_approval, approval }: ApprovalState): boolean =>
  requires_approval && computeApprovalStatus(approval) === 'rejected'

export const canBecome = (approval: Approval | null, target: ApprovalStatus): boolean => {
  const status = computeApprovalStatus(approval)
  return status === null ? target === approvalLifecycle.initial : approvalLifecycle.allows(status, target)
}

/** True if the account made the latest change of the content. Changes at the same time all count. */
function isLastToChange({ changes }: Approval, account: string): boolean {
  const latest = Math.max(...changes.map(([, at]) => at ?? 0))
  return changes.some(([changer, at]) => changer === account && at === latest)
}

/** True if the account may approve: another one has requested it, and another one has changed the content last. */
export const isSecondAccount = (approval: Approval, account: string): boolean =>
  approval.requested_by !== account && !isLastToChange(approval, account)

/** Throws `four_eyes_required` unless the account is another one than the two that may not approve. */
export function checkSecondAccount(approval: Approval, account: string): void {
  if (isSecondAccount(approval, account)) return
  throw new AppError(
    'four_eyes_required',
    approval.requested_by === account
      ? 'Your account requested this approval, so another account must give it.'
      : 'Your account was the last to change what this campaign sends, so another account must approve it.',
  )
}

const missingApprovals: Record<Exclude<ApprovalStatus, 'approved'> | 'none', string> = {
  none: 'The organisation sends campaigns only with an approval. Request it with `request-approval`.',
  requested: 'The campaign waits for its approval. Another member than the one who requested it has to approve it.',
  rejected: 'The approval of the campaign was rejected. Read `approval.note`, and request it again.',
  outdated:
    'The campaign, its message, its segment or its sender has changed since the approval was requested. Request it again.',
}

/** Says why the campaign cannot be started, and what to do. */
export function describeMissingApproval(approval: Approval | null): string {
  const status = computeApprovalStatus(approval)
  return missingApprovals[status === 'approved' || status === null ? 'none' : status]
}

export const approvalRequired = (approval: Approval | null): AppError =>
  new AppError('approval_required', describeMissingApproval(approval), {
    extra: { approval_status: computeApprovalStatus(approval) },
  })

/** Says of a plan what `approvalRequired` says of a start. */
export const findApprovalFaults = (campaign: ApprovalState): FieldError[] =>
  isApprovalMissing(campaign) ? [fieldError([], 'approval_required', describeMissingApproval(campaign.approval))] : []

/** The error message of a campaign that was to start without an approval. */
export const formatApprovalFault = (detail: string): string => `approval_required: ${detail}`

const countCampaigns = (count: number): string =>
  count === 1 ? '1 scheduled campaign' : `${count} scheduled campaigns`

const warnIf = (count: number, code: 'approval_lost' | 'approval_required', detail: string): FieldError[] =>
  count === 0 ? [] : [fieldError([], code, detail)]

/** Warns about scheduled campaigns that lose their approval by a change of what they send. */
export const warnAboutLostApprovals = (count: number): FieldError[] =>
  warnIf(
    count,
    'approval_lost',
    `This change takes the approval from ${countCampaigns(count)}. Without a new one they fail at their start.`,
  )

/** Warns about scheduled campaigns without an approval, from now on required. */
export const warnAboutMissingApprovals = (count: number): FieldError[] =>
  warnIf(
    count,
    'approval_required',
    `${countCampaigns(count)} ${count === 1 ? 'has' : 'have'} no approval. Unless approved before, they fail at their start.`,
  )
