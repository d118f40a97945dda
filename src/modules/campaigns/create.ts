import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { insert } from '../../db/write.ts'
import { invalid } from '../../domain/errors.ts'
import { buildSearchText } from '../../domain/text/fold.ts'
import type { TranslatedDict } from '../../domain/languages.ts'
import { measureAll, type SmsSizes } from '../../domain/messaging/sms.ts'
import { openEditions } from '../editions/index.ts'
import type { CreateCampaignInput } from './campaign-contract.ts'
import { checkSegmentRole, segmentStays } from './judge.ts'
import { type CampaignDetailRow, resolveReferences } from './queries.ts'

/** The columns of the texts and their sizes. Texts are templates; ones that cannot be parsed or sent are refused. */
export function smsColumns(bodies: TranslatedDict): { sms_body: TranslatedDict; sms_sizes: SmsSizes } {
  const { sizes, faults } = measureAll(bodies)
  if (faults.length) throw invalid(...faults)
  return { sms_body: bodies, sms_sizes: sizes }
}

export async function createCampaign(ctx: Ctx, input: CreateCampaignInput): Promise<CampaignDetailRow> {
  const { organization_id, edition_id, segment_id, name, channel } = input
  const email_message_id = input.email_message_id ?? null
  const texts = smsColumns(input.sms_body ?? {})
  const referenced = await resolveReferences(ctx, { organization_id, edition_id, segment_id, email_message_id })
  checkSegmentRole(ctx, { ...referenced, organization_id })
  const now = ctx.now()
  const row = {
    id: ctx.newId('campaign'),
    organization_id,
    edition_id,
    segment_id,
    name,
    search: buildSearchText(name),
    channel,
    email_message_id,
    ...texts,
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
  // The database numbers the row; the number is internal.
  return commit(ctx, { ...referenced, ...row, seq: 0 }, [
    ...openEditions(edition_id),
    ...segmentStays(ctx, { ...referenced, organization_id }),
    insert(campaigns, row),
  ])
}
