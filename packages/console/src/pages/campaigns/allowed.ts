import { loadWords } from '../../words'
import { type CampaignAction, type CampaignDetail, retryableReasons } from './types'

const t = await loadWords('campaigns')

/** Tells why the campaign does not allow the action now. Null if it does. */
export function findReason({ allowed_actions, approval }: CampaignDetail, action: CampaignAction): string | null {
  if (allowed_actions.includes(action)) return null
  if (action === 'approve' && approval?.status === 'requested') return t.reasonsWhyNot.fourEyes
  const isStart = action === 'send_now' || action === 'schedule'
  const isUnapproved = approval ? approval.status !== 'approved' : allowed_actions.includes('request_approval')
  if (isStart && isUnapproved) return t.reasonsWhyNot.approval
  return t.reasonsWhyNot.other
}

/** Counts the people to whom a retry sends: those who failed for a passing reason, and those to whom nothing went yet. */
export function countRetryable(campaign: CampaignDetail): number {
  const { total_recipients, sent_count, failed_count, failed_by_reason } = campaign
  const pending = total_recipients - sent_count - failed_count
  return pending + retryableReasons.reduce((sum, reason) => sum + (failed_by_reason[reason] ?? 0), 0)
}
