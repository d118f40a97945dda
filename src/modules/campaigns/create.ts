import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { insert } from '../../db/write.ts'
import { invalid } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import type { TranslatedDict } from '../../domain/languages.ts'
import { measureTexts, type SmsSizes } from '../../domain/messaging/sms.ts'
import { noWait } from '../../domain/waiting.ts'
import { openEditions } from '../editions/index.ts'
import type { CreateCampaignInput } from './contract.ts'
import { checkSegmentRole, guardSegment } from './checks.ts'
import type { CampaignRow } from './delivery/campaign-row.ts'
import { loadReferences } from './queries.ts'

/** Builds the columns of SMS texts and their sizes. Refuses templates that cannot be parsed or sent. */
export function buildSmsColumns(bodies: TranslatedDict): { sms_body: TranslatedDict; sms_sizes: SmsSizes } {
  const { sizes, faults } = measureTexts(bodies)
  if (faults.length) throw invalid(...faults)
  return { sms_body: bodies, sms_sizes: sizes }
}

export async function createCampaign(ctx: Ctx, input: CreateCampaignInput): Promise<CampaignRow> {
  const { organization_id, edition_id, segment_id, name, channel } = input
  const email_message_id = input.email_message_id ?? null
  const smsColumns = buildSmsColumns(input.sms_body ?? {})
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
    ...smsColumns,
    accepted_translations: [],
    status: 'draft' as const,
    scheduled_at: null,
    total_recipients: 0,
    sent_count: 0,
    failed_count: 0,
    skipped_count: 0,
    delivered_count: 0,
    opened_count: 0,
    clicked_count: 0,
    bounced_count: 0,
    unsubscribed_count: 0,
    user_count: 0,
    error_message: '',
    ...noWait,
    started_at: null,
    completed_at: null,
    run: 0,
    revision: 0,
    heartbeat_at: null,
    segment_snapshot: null,
    deleted_message_id: null,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  // The database assigns `seq`, which no answer contains.
  return commit(ctx, { ...references, ...row, seq: 0 }, [
    ...openEditions(edition_id),
    ...guardSegment(ctx, { ...references, organization_id }),
    insert(campaigns, row),
  ])
}
