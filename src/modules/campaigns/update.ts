import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { isApprovalMissing, warnAboutLostApprovals } from '../../domain/campaigns/approval.ts'
import { isEditable, isRunning } from '../../domain/campaigns/lifecycle.ts'
import { editionArchived } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import {
  checkContent,
  type CheckedCampaign,
  checkSegmentRole,
  guardMessage,
  guardSegment,
  invalidTransition,
} from './checks.ts'
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

/** The approval was for the earlier content, even if a later change restores that. The send window is no part of it. */
function replaceContent(ctx: Ctx, campaign: CampaignRow, { send_window: _, ...content }: CampaignChanges) {
  const { approval } = campaign
  if (isEmpty(pickChanges<CampaignRow>(campaign, content))) return { columns: {}, approval, isApprovalLost: false }
  return {
    columns: {
      content_version: campaign.content_version + 1,
      content_changed_by: ctx.caller.id,
      content_changed_at: ctx.now(),
    },
    approval: approval && { ...approval, is_content_current: false },
    isApprovalLost: campaign.status === 'scheduled' && campaign.requires_approval && !isApprovalMissing(campaign),
  }
}

export async function updateCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  input: UpdateCampaignInput,
): Promise<CheckedCampaign> {
  if (isRunning(campaign.status)) return { ...(await changeWindow(ctx, campaign, input)), warnings: [] }
  if (!isEditable(campaign.status)) throw invalidTransition(campaign.status, 'changed')
  checkSmsBody(input.sms_body ?? {})
  checkSendWindow(input.send_window ?? null)
  const requestedChanges = buildChanges(campaign, input)
  if (isEmpty(pickChanges<CampaignRow>(campaign, requestedChanges)))
    return commit(ctx, { ...campaign, warnings: [] }, openEditions(campaign.edition_id))
  const { columns, approval, isApprovalLost } = replaceContent(ctx, campaign, requestedChanges)
  const changes = { ...requestedChanges, ...columns, modified_at: ctx.now() }
  const updatedCampaign = { ...campaign, ...changes, approval, version: campaign.version + 1 }
  const hasNewReferences =
    updatedCampaign.segment_id !== campaign.segment_id || updatedCampaign.email_message_id !== campaign.email_message_id
  if (hasNewReferences) Object.assign(updatedCampaign, await loadReferences(ctx, updatedCampaign))
  checkSegmentRole(ctx, updatedCampaign)
  // Accepted translations belong to the texts of one message.
  const earlier = updatedCampaign.email_message_id === campaign.email_message_id ? campaign.accepted_translations : []
  const check = campaign.status === 'scheduled' ? await checkContent(ctx, updatedCampaign, input.accept, earlier) : null
  const accepted_translations = check?.accepted_translations ?? campaign.accepted_translations
  const warnings = [...(check?.warnings ?? []), ...warnAboutLostApprovals(isApprovalLost ? 1 : 0)]
  return commit(ctx, { ...updatedCampaign, accepted_translations, warnings }, [
    ...openEditions(campaign.edition_id),
    ...guardSegment(ctx, campaign),
    ...(updatedCampaign.segment_id === campaign.segment_id ? [] : guardSegment(ctx, updatedCampaign)),
    ...(campaign.status === 'scheduled' ? guardMessage(updatedCampaign) : []),
    ...updateVersion(campaigns, campaign, { ...changes, accepted_translations }),
  ])
}
