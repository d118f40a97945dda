import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { countPending, computeRates } from '../../domain/campaigns/counters.ts'
import { readPerson } from '../../domain/campaigns/sender.ts'
import { pickSegmentSnapshot } from '../../domain/campaigns/snapshots.ts'
import { describeCampaignWait } from '../../domain/campaigns/waits.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { formatInZone } from '../../domain/time/time-zones.ts'
import { presentWait } from '../../domain/waiting.ts'
import type { SegmentSummary } from '../../http/fields.ts'
import { presentSegmentSummary } from '../segments/index.ts'
import { presentApproval } from './approval/present.ts'
import { listAllowedActions } from './checks.ts'
import type { Campaign, CampaignDetail, CampaignRecipient, CampaignStats } from './contract.ts'
import type { CampaignRow } from './delivery/campaign-row.ts'
import type { ListedRecipient } from './list.ts'
import type { CampaignCounters, CampaignListRow } from './queries.ts'
import { measureCampaign } from './sms-sizes.ts'

/** Presents the segment as it was when the campaign was started, and as it is before that. */
function presentSegment(row: CampaignListRow): z.input<typeof SegmentSummary> {
  const snapshot = pickSegmentSnapshot(row)
  if (!snapshot) return presentSegmentSummary(row)
  const { edition_id: _, ...summary } = snapshot
  return { id: row.segment_id, ...summary }
}

export const presentCampaignItem = (row: CampaignListRow, ctx: Ctx): z.input<typeof Campaign> => ({
  id: row.id,
  name: row.name,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  segment: presentSegment(row),
  channel: row.channel,
  status: row.status,
  scheduled_at: row.scheduled_at === null ? null : formatInZone(row.scheduled_at, row.edition_timezone),
  is_paused: row.paused_at !== null,
  total_recipients: row.total_recipients,
  sent_count: row.sent_count,
  failed_count: row.failed_count,
  approval: presentApproval(row.approval),
  allowed_actions: listAllowedActions(ctx, row),
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export function presentCampaign(row: CampaignRow, ctx: Ctx): z.input<typeof CampaignDetail> {
  const bodies = row.sms_body
  return {
    ...presentCampaignItem(row, ctx),
    email_message_id: row.email_message_id ?? row.deleted_message_id,
    sms_body: bodies[row.edition_default_language] ?? '',
    sms_body_translations: bodies,
    sms_sizes: measureCampaign(ctx, row),
    accepted_translations: [...row.accepted_translations],
    user_count: row.user_count,
    failed_by_reason: {
      rejected: row.rejected_count,
      unreachable: row.unreachable_count,
      rate_limited: row.rate_limited_count,
      unknown: row.unknown_count,
    },
    skipped_count: row.skipped_count,
    error_message: row.error_message,
    ...presentWait(describeCampaignWait(row)),
    send_window: row.send_window && { ...row.send_window, days: [...row.send_window.days] },
    started_at: toIsoOrNull(row.started_at),
    completed_at: toIsoOrNull(row.completed_at),
  }
}

export const presentStats = (counters: CampaignCounters): z.input<typeof CampaignStats> => ({
  total_recipients: counters.total,
  sent: counters.sent,
  failed: counters.failed,
  pending: counters.is_cancelled ? 0 : countPending(counters),
  cancelled: counters.is_cancelled ? countPending(counters) : 0,
  delivered: counters.delivered,
  opened: counters.opened,
  clicked: counters.clicked,
  bounced: counters.bounced,
  unsubscribed: counters.unsubscribed,
  ...computeRates(counters),
  skipped: counters.skipped,
  complained: counters.complained,
  machine_opened: counters.machine_opened,
})

export function presentRecipient(row: ListedRecipient): z.input<typeof CampaignRecipient> {
  const person = readPerson(row)
  return {
    id: row.user_id,
    user: { api_id: row.present_id, full_name: formatFullName(person), email: person.email },
    address: row.address ?? '',
    language: row.language,
    state: row.is_cancelled ? 'cancelled' : row.state,
    reason: row.reason,
    error_code: row.code,
    error_detail: row.detail,
    attempts: row.attempts,
    provider_id: row.provider_id,
    sent_at: toIsoOrNull(row.sent_at),
    delivered_at: toIsoOrNull(row.delivered_at),
    opened_at: toIsoOrNull(row.opened_at),
    clicked_at: toIsoOrNull(row.clicked_at),
    bounced_at: toIsoOrNull(row.bounced_at),
    complained_at: toIsoOrNull(row.complained_at),
    unsubscribed_at: toIsoOrNull(row.unsubscribed_at),
    machine_opened_at: toIsoOrNull(row.machine_opened_at),
  }
}
