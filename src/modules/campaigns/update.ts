import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { isEditable } from '../../domain/campaigns/lifecycle.ts'
import { buildSearchText } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import type { UpdateCampaignInput } from './campaign-contract.ts'
import { smsColumns } from './create.ts'
import { checkSegmentRole, messageStays, segmentStays } from './judge.ts'
import { type CampaignDetailRow, type LoadedCampaign, resolveReferences } from './queries.ts'
import { checkReady, invalidTransition } from './refusals.ts'

type CampaignChanges = Partial<
  Pick<CampaignDetailRow, 'name' | 'search' | 'segment_id' | 'channel' | 'email_message_id' | 'sms_body' | 'sms_sizes'>
>

/** A change of the channel drops the content of the previous channel. */
function changesOf(campaign: CampaignDetailRow, input: UpdateCampaignInput): CampaignChanges {
  const { name, segment_id, channel, email_message_id, sms_body } = input
  const changed = channel !== undefined && channel !== campaign.channel ? channel : null
  return {
    ...(name === undefined ? {} : { name, search: buildSearchText(name) }),
    ...(segment_id === undefined ? {} : { segment_id }),
    ...(changed === 'sms' ? { email_message_id: null } : {}),
    ...(changed === 'email' ? smsColumns({}) : {}),
    ...(channel === undefined ? {} : { channel }),
    ...(email_message_id === undefined ? {} : { email_message_id }),
    ...(sms_body === undefined ? {} : smsColumns(sms_body)),
  }
}

export async function updateCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  input: UpdateCampaignInput,
): Promise<CampaignDetailRow> {
  if (!isEditable(campaign.status)) throw invalidTransition(campaign.status, 'changed')
  const changes = changesOf(campaign, input)
  // Sizes follow from the texts, so alone they are no change, unless there are none yet.
  const { sms_sizes, ...texts } = changes
  const asked = campaign.sms_sizes === null && !isEmpty(sms_sizes ?? {}) ? changes : texts
  if (isEmpty(pickChanges<CampaignDetailRow>(campaign, asked)))
    return commit(ctx, campaign, openEditions(campaign.edition_id))
  const after = { ...campaign, ...changes, modified_at: ctx.now(), version: campaign.version + 1 }
  const isMoved = after.segment_id !== campaign.segment_id || after.email_message_id !== campaign.email_message_id
  if (isMoved) Object.assign(after, await resolveReferences(ctx, after))
  checkSegmentRole(ctx, after)
  if (campaign.status === 'scheduled') checkReady(ctx, after)
  return commit(ctx, after, [
    ...openEditions(campaign.edition_id),
    ...segmentStays(ctx, campaign),
    ...(after.segment_id === campaign.segment_id ? [] : segmentStays(ctx, after)),
    ...(campaign.status === 'scheduled' ? messageStays(after) : []),
    ...updateVersion(campaigns, campaign, { ...changes, modified_at: after.modified_at }),
  ])
}
