import type { z } from '@hono/zod-openapi'
import { type Approval, computeApprovalStatus } from '../../../domain/campaigns/approval.ts'
import { toIso, toIsoOrNull } from '../../../domain/time/instants.ts'
import type { CampaignApproval } from '../approval-contract.ts'

export function presentApproval(approval: Approval | null): z.input<typeof CampaignApproval> | null {
  const status = computeApprovalStatus(approval)
  if (!approval || status === null) return null
  return {
    status,
    requested_by: approval.requested_by,
    requested_at: toIso(approval.requested_at),
    request_note: approval.request_note,
    decided_by: approval.decided_by,
    decided_at: toIsoOrNull(approval.decided_at),
    note: approval.note,
  }
}
