import type { Ctx } from '../../context.ts'
import { campaignsSending, countApprovedCampaigns } from '../../db/campaign-approvals.ts'
import { commit } from '../../db/commit.ts'
import { segments } from '../../db/schema/segments.ts'
import { updateVersion } from '../../db/write.ts'
import { managers } from '../../domain/accounts/access.ts'
import { warnAboutLostApprovals } from '../../domain/campaigns/approval.ts'
import type { FieldError } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { checkMove, openEditions } from '../editions/index.ts'
import { buildDraftColumns, dropMembers, segmentCalculating } from './calculation/start-and-reset.ts'
import type { UpdateSegmentInput } from './contract.ts'
import { buildExpressionColumns } from './expressions/validate.ts'
import { type LoadedSegment, loadSummaries, type SegmentRow } from './queries.ts'

const memberFields = ['expression', 'communication_type', 'communication_channel', 'edition_id'] as const

/** Campaigns were approved with the earlier version. */
const replaceContent = (ctx: Ctx, segment: SegmentRow) => ({
  content_version: segment.content_version + 1,
  content_changed_by: ctx.caller.id,
  content_changed_at: ctx.now(),
})

/** A change of a field that decides about the members makes the segment a draft. */
export async function updateSegment(
  ctx: Ctx,
  segment: LoadedSegment,
  input: UpdateSegmentInput,
): Promise<SegmentRow & { warnings: readonly FieldError[] }> {
  const hasChanged = (name: (typeof memberFields)[number]) => input[name] !== undefined && input[name] !== segment[name]
  const isMoved = hasChanged('edition_id')
  const isDraftAgain = memberFields.some(hasChanged)
  const expression =
    input.expression !== undefined && hasChanged('expression') ? buildExpressionColumns(input.expression) : {}
  if (isMoved) await checkMove(ctx, managers, segment.organization_id, input.edition_id ?? null)
  if (isDraftAgain && segment.status === 'calculating') throw segmentCalculating(segment.status)
  const { name = segment.name, description = segment.description } = input
  if (!isDraftAgain && name === segment.name && description === segment.description)
    return commit(ctx, { ...segment, warnings: [] }, openEditions(segment.edition_id))
  const changes = {
    name,
    name_key: buildSortKey(name),
    description,
    search: buildSearchText(name, description),
    communication_type: input.communication_type ?? segment.communication_type,
    communication_channel: input.communication_channel ?? segment.communication_channel,
    edition_id: input.edition_id === undefined ? segment.edition_id : input.edition_id,
    ...expression,
    ...(isDraftAgain && segment.status !== 'draft' ? buildDraftColumns(segment) : {}),
    ...(isDraftAgain ? replaceContent(ctx, segment) : {}),
    modified_at: ctx.now(),
  }
  const warnings = isDraftAgain
    ? warnAboutLostApprovals(await countApprovedCampaigns(ctx.db, campaignsSending.segment(segment.id)))
    : []
  const updatedSegment = { ...segment, ...changes, warnings, version: segment.version + 1 }
  return commit(ctx, isMoved ? { ...updatedSegment, ...(await loadSummaries(ctx, updatedSegment)) } : updatedSegment, [
    ...openEditions(segment.edition_id, updatedSegment.edition_id),
    ...(isDraftAgain ? dropMembers(segment, ctx.now()) : []),
    ...updateVersion(segments, segment, changes),
  ])
}
