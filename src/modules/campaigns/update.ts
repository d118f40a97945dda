import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { isEditable, isRunning } from '../../domain/campaigns/lifecycle.ts'
import { editionArchived } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import { approve, checkSegmentRole, guardMessage, guardSegment, invalidTransition } from './checks.ts'
import type { UpdateCampaignInput } from './contract.ts'
import { checkSendWindow, checkSmsBody } from './create.ts'
import type { CampaignRow } from './delivery/campaign-row.ts'
import { changeRun } from './pause/run-change.ts'
import { type LoadedCampaign, loadReferences } from './queries.ts'

type CampaignChanges = Partial<
  Pick<
    CampaignRow,
    'name' | 'name_key' | 'search' | 'segment_id' | 'channel' | 'email_message_id' | 'sms_body' | 'send_window'
  >
>

/** Builds the changed columns. A change of the channel drops the content of the previous channel. */
function buildChanges(campaign: CampaignRow, input: UpdateCampaignInput): CampaignChanges {
  const { name, segment_id, channel, email_message_id, sms_body, send_window } = input
  const newChannel = channel !== undefined && channel !== campaign.channel ? channel : null
  return {
    ...(name === undefined ? {} : { name, name_key: buildSortKey(name), search: buildSearchText(name) }),
    ...(segment_id === undefined ? {} : { segment_id }),
    ...(newChannel === 'sms' ? { email_message_id: null } : {}),
    ...(newChannel === 'email' ? { sms_body: {} } : {}),
    ...(channel === undefined ? {} : { channel }),
    ...(email_message_id === undefined ? {} : { email_message_id }),
    ...(sms_body === undefined ? {} : { sms_body }),
    ...(send_window === undefined ? {} : { send_window }),
  }
}

/** While a campaign is running, only its send window can be changed. */
async function changeWindow(ctx: Ctx, campaign: LoadedCampaign, input: UpdateCampaignInput): Promise<CampaignRow> {
  const { send_window, ...otherFields } = input
  const hasOtherChanges = !isEmpty(pickChanges<CampaignRow>(campaign, buildChanges(campaign, otherFields)))
  if (send_window === undefined || hasOtherChanges) throw invalidTransition(campaign.status, 'changed')
  checkSendWindow(send_window)
  if (campaign.edition_is_archived) throw editionArchived()
  const change = { window: send_window, timezone: campaign.edition_timezone }
  return changeRun(ctx, campaign, { send_window: change }, 'changed')
}

export async function updateCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  input: UpdateCampaignInput,
): Promise<CampaignRow> {
  if (isRunning(campaign.status)) return changeWindow(ctx, campaign, input)
  if (!isEditable(campaign.status)) throw invalidTransition(campaign.status, 'changed')
  checkSmsBody(input.sms_body ?? {})
  checkSendWindow(input.send_window ?? null)
  const changes = buildChanges(campaign, input)
  if (isEmpty(pickChanges<CampaignRow>(campaign, changes)))
    return commit(ctx, campaign, openEditions(campaign.edition_id))
  const updatedCampaign = { ...campaign, ...changes, modified_at: ctx.now(), version: campaign.version + 1 }
  const hasNewReferences =
    updatedCampaign.segment_id !== campaign.segment_id || updatedCampaign.email_message_id !== campaign.email_message_id
  if (hasNewReferences) Object.assign(updatedCampaign, await loadReferences(ctx, updatedCampaign))
  checkSegmentRole(ctx, updatedCampaign)
  // Accepted translations belong to the texts of one message.
  const earlier = updatedCampaign.email_message_id === campaign.email_message_id ? campaign.accepted_translations : []
  const approval = campaign.status === 'scheduled' ? await approve(ctx, updatedCampaign, input.accept, earlier) : null
  const accepted_translations = approval?.accepted_translations ?? campaign.accepted_translations
  return commit(ctx, { ...updatedCampaign, accepted_translations }, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...(updatedCampaign.segment_id === campaign.segment_id ? [] : guardSegment(ctx, updatedCampaign)),
    ...(campaign.status === 'scheduled' ? guardMessage(updatedCampaign) : []),
    ...updateVersion(campaigns, campaign, {
      ...changes,
      accepted_translations,
      modified_at: updatedCampaign.modified_at,
    }),
  ])
}
