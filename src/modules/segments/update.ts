import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { segments } from '../../db/schema/messaging/segments.ts'
import { updateVersion } from '../../db/write.ts'
import { AppError } from '../../domain/errors.ts'
import { buildSearchText } from '../../domain/text/fold.ts'
import { segmentLifecycle, type SegmentStatus } from '../../domain/segments.ts'
import { checkMove, openEditions } from '../editions/index.ts'
import { keepers, type UpdateSegmentInput } from './contract.ts'
import { dropMembers, emptied } from './calculation/drop-members.ts'
import { expressionColumns } from './expressions/expression.ts'
import { type LoadedSegment, type SegmentRow, summariesOf } from './queries.ts'

export const segmentCalculating = (status: SegmentStatus): AppError =>
  new AppError('segment_calculating', 'This segment is being calculated.', {
    extra: { current_status: status, allowed_transitions: segmentLifecycle.targetsOf(status) },
  })

const meaning = ['expression', 'communication_type', 'communication_channel', 'edition_id'] as const

/** Name and description can change at any time. A change that may change the members makes the segment a draft again. */
export async function updateSegment(ctx: Ctx, segment: LoadedSegment, input: UpdateSegmentInput): Promise<SegmentRow> {
  const isOther = (name: (typeof meaning)[number]) => input[name] !== undefined && input[name] !== segment[name]
  const isMoved = isOther('edition_id')
  const means = meaning.some(isOther)
  const expression =
    input.expression !== undefined && isOther('expression')
      ? await expressionColumns(ctx, segment.organization_id, input.expression)
      : {}
  if (isMoved) await checkMove(ctx, keepers, segment.organization_id, input.edition_id ?? null)
  if (means && segment.status === 'calculating') throw segmentCalculating(segment.status)
  const { name = segment.name, description = segment.description } = input
  if (!means && name === segment.name && description === segment.description)
    return commit(ctx, segment, openEditions(segment.edition_id))
  const changes = {
    name,
    description,
    search: buildSearchText(name, description),
    communication_type: input.communication_type ?? segment.communication_type,
    communication_channel: input.communication_channel ?? segment.communication_channel,
    edition_id: input.edition_id === undefined ? segment.edition_id : input.edition_id,
    ...expression,
    ...(means && segment.status !== 'draft' ? emptied(segment) : {}),
    modified_at: ctx.now(),
  }
  const updated = { ...segment, ...changes, version: segment.version + 1 }
  return commit(ctx, isMoved ? { ...updated, ...(await summariesOf(ctx, updated)) } : updated, [
    ...openEditions(segment.edition_id, updated.edition_id),
    ...(means ? dropMembers(segment, ctx.now()) : []),
    ...updateVersion(segments, segment, changes),
  ])
}
