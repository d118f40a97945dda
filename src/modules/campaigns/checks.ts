import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { mayAt, pickOrganizationRoles, type Tenant, managers } from '../../domain/accounts/access.ts'
import { isSecondAccount } from '../../domain/campaigns/approval.ts'
import {
  type AcceptableFault,
  type AcceptedTranslation,
  listMissingTranslations,
} from '../../domain/campaigns/content-faults.ts'
import {
  type CampaignAction,
  campaignLifecycle,
  type CampaignState,
  type CampaignStatus,
  isEditable,
  listCampaignActions,
} from '../../domain/campaigns/lifecycle.ts'
import { AppError, type FieldError } from '../../domain/errors.ts'
import { type CampaignRow, findCampaignFaults, loadTexts } from './delivery/campaign-row.ts'
import { findCampaign, type LoadedCampaign } from './queries.ts'

/** `participle` ends the sentence, for example `deleted`. */
export const invalidTransition = (status: CampaignStatus, participle: string): AppError =>
  new AppError('invalid_transition', `Campaign in status '${status}' cannot be ${participle}.`, {
    extra: { current_status: status, allowed_transitions: campaignLifecycle.targetsOf(status) },
  })

export function checkCampaignTransition(row: CampaignRow, to: CampaignStatus, participle: string): void {
  if (!campaignLifecycle.allows(row.status, to)) throw invalidTransition(row.status, participle)
}

export const notReady = (errors: readonly FieldError[]): AppError =>
  new AppError('campaign_not_ready', 'The campaign cannot be sent yet.', { errors })

/** A campaign whose content was checked. */
export type CheckedCampaign = CampaignRow & { warnings: readonly FieldError[] }

export interface ContentCheck {
  accepted_translations: readonly AcceptedTranslation[]
  warnings: readonly FieldError[]
}

/** Checks that a campaign can be sent. Missing translations pass when they are accepted, now or earlier. */
export async function checkContent(
  ctx: Ctx,
  row: CampaignRow,
  accept: readonly AcceptableFault[] = [],
  earlier: readonly AcceptedTranslation[] = [],
): Promise<ContentCheck> {
  const texts = await loadTexts(ctx, row)
  const isAccepted = accept.includes('missing_translations')
  const accepted_translations = isAccepted ? listMissingTranslations(texts) : earlier
  const { faults, warnings } = findCampaignFaults(ctx, row, texts, accepted_translations)
  if (faults.length) throw notReady(faults)
  return { accepted_translations, warnings }
}

interface CampaignSegment {
  organization_id: string
  segment_id: string
  segment_edition_id: string | null
}

const getSegmentTenant = ({ organization_id, segment_edition_id }: CampaignSegment): Tenant => ({
  organization_id,
  editions: segment_edition_id === null ? [] : [segment_edition_id],
})

export const hasSegmentRole = (ctx: Ctx, campaign: CampaignSegment): boolean =>
  mayAt(ctx.caller, managers, getSegmentTenant(campaign))

/**
 * A campaign reaches the people of its segment, so the caller needs a role in the segment's edition or organisation.
 */
export function checkSegmentRole(ctx: Ctx, campaign: CampaignSegment): void {
  if (hasSegmentRole(ctx, campaign)) return
  const isOfOrganization = campaign.segment_edition_id === null
  throw new AppError(
    'permission_denied',
    isOfOrganization
      ? 'The segment of this campaign belongs to the whole organisation, so you need a role in the organisation.'
      : 'The segment of this campaign belongs to another edition, so you need a role there or in the organisation.',
    { extra: { required_roles: isOfOrganization ? pickOrganizationRoles(managers) : managers } },
  )
}

type SegmentUse = CampaignSegment & Pick<CampaignRow, 'status' | 'segment_snapshot'>

/** Lists the segment that a campaign was started with, and its current segment while it can still be changed. */
function listUsedSegments(campaign: SegmentUse): CampaignSegment[] {
  const snapshot = campaign.segment_snapshot
  return [
    ...(snapshot ? [{ ...campaign, segment_edition_id: snapshot.edition_id }] : []),
    ...(!snapshot || isEditable(campaign.status) ? [campaign] : []),
  ]
}

/** Finds a campaign and checks that the caller has a role for its segments. */
export async function findAuthorizedCampaign(ctx: Ctx, id: string): Promise<LoadedCampaign> {
  const campaign = await findCampaign(ctx, id)
  for (const segment of listUsedSegments(campaign)) checkSegmentRole(ctx, segment)
  return campaign
}

/** These actions need a role for the current segment. */
const startActions: readonly CampaignAction[] = ['request_approval', 'reject', 'schedule', 'send_now']

/** Lists the actions that the campaign and the roles of the caller allow. */
export function listAllowedActions(
  ctx: Ctx,
  campaign: SegmentUse & CampaignState & { edition_id: string },
): CampaignAction[] {
  const { organization_id, edition_id } = campaign
  const isManager = mayAt(ctx.caller, managers, { organization_id, editions: [edition_id] })
  if (!isManager || !listUsedSegments(campaign).every((segment) => hasSegmentRole(ctx, segment))) return []
  const mayStart = hasSegmentRole(ctx, campaign)
  return listCampaignActions(campaign).filter((action) => {
    if (action === 'approve') return mayStart && campaign.approval && isSecondAccount(campaign.approval, ctx.caller.id)
    return mayStart || !startActions.includes(action)
  })
}

/** Builds a guard that aborts the commit when the segment moved to another edition since the role was checked. */
export const guardSegment = (ctx: Ctx, campaign: CampaignSegment): Statement[] => {
  const { organization_id, segment_id, segment_edition_id } = campaign
  if (mayAt(ctx.caller, managers, { organization_id, editions: [] })) return []
  return [
    abortUnless(sql`exists (select 1 from segments where id = ${segment_id} and edition_id is ${segment_edition_id})`),
  ]
}

/** Builds a guard that aborts the commit when the message changed since the campaign was found ready. */
export const guardMessage = ({ message_id, message_version }: CampaignRow): Statement[] => {
  if (message_id === null) return []
  return [
    abortUnless(sql`exists (select 1 from email_messages where id = ${message_id} and version = ${message_version})`),
  ]
}
