import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { insert } from '../../db/write.ts'
import { findWindowFaults, type SendWindow } from '../../domain/campaigns/send-window.ts'
import { noWindowWait } from '../../domain/campaigns/waits.ts'
import { invalid } from '../../domain/errors.ts'
import type { TranslatedDict } from '../../domain/languages.ts'
import { findSmsFaults } from '../../domain/messaging/sms.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { noWait } from '../../domain/waiting.ts'
import { openEditions } from '../editions/index.ts'
import { checkSegmentRole, guardSegment } from './checks.ts'
import type { CreateCampaignInput } from './contract.ts'
import type { CampaignRow } from './delivery/campaign-row.ts'
import { loadReferences } from './queries.ts'

/** Refuses templates that cannot be parsed or sent. */
export function checkSmsBody(bodies: TranslatedDict): void {
  const faults = findSmsFaults(bodies)
  if (faults.length) throw invalid(...faults)
}

/** Refuses windows in which nothing could ever be sent. */
export function checkSendWindow(window: SendWindow | null): void {
  const faults = window ? findWindowFaults(window) : []
  if (faults.length) throw invalid(...faults)
}

/** The columns of a campaign that was never started. */
const unstarted = {
  total_recipients: 0,
  sent_count: 0,
  failed_count: 0,
  rejected_count: 0,
  unreachable_count: 0,
  rate_limited_count: 0,
  unknown_count: 0,
  skipped_count: 0,
  delivered_count: 0,
  opened_count: 0,
  clicked_count: 0,
  bounced_count: 0,
  unsubscribed_count: 0,
  user_count: 0,
  error_message: '',
  ...noWait,
  ...noWindowWait,
  started_at: null,
  completed_at: null,
  run: 0,
  revision: 0,
  heartbeat_at: null,
  segment_snapshot: null,
  deleted_message_id: null,
}

export async function createCampaign(ctx: Ctx, input: CreateCampaignInput): Promise<CampaignRow> {
  const { organization_id, edition_id, segment_id, name, channel } = input
  const email_message_id = input.email_message_id ?? null
  const sms_body = input.sms_body ?? {}
  const send_window = input.send_window ?? null
  checkSmsBody(sms_body)
  checkSendWindow(send_window)
  const references = await loadReferences(ctx, { organization_id, edition_id, segment_id, email_message_id })
  checkSegmentRole(ctx, { ...references, organization_id })
  const now = ctx.now()
  const row = {
    id: ctx.newId('campaign'),
    organization_id,
    edition_id,
    segment_id,
    name,
    name_key: buildSortKey(name),
    search: buildSearchText(name),
    channel,
    email_message_id,
    sms_body,
    content_version: 1,
    content_changed_by: ctx.caller.id,
    content_changed_at: now,
    accepted_translations: [],
    status: 'draft' as const,
    scheduled_at: null,
    paused_at: null,
    send_window,
    ...unstarted,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  // The database assigns `seq`, which no answer contains.
  return commit(ctx, { ...references, ...row, seq: 0, approval: null }, [
    ...openEditions(edition_id),
    ...guardSegment(ctx, { ...references, organization_id }),
    insert(campaigns, row),
  ])
}
