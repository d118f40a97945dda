import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { segments } from '../../../db/schema/messaging/segments.ts'
import { updateVersion } from '../../../db/write.ts'
import { AppError } from '../../../domain/errors.ts'
import { quietAfterMs } from '../../../domain/segments.ts'
import { dropMembers, emptied } from './drop-members.ts'
import type { LoadedSegment, SegmentRow } from '../queries.ts'

function notStuck(waitMs: number): AppError {
  const retry_after = Math.max(1, Math.ceil(waitMs / 1000))
  return new AppError('segment_not_stuck', 'The calculation of this segment is still running.', {
    extra: { retry_after },
    headers: { 'retry-after': String(retry_after) },
  })
}

export function resetToDraft(ctx: Ctx, segment: LoadedSegment): Promise<SegmentRow> {
  if (segment.status === 'draft') return commit<SegmentRow>(ctx, segment, [])
  const now = ctx.now()
  const quietAt = (segment.heartbeat_at ?? 0) + quietAfterMs
  if (segment.status === 'calculating' && now < quietAt) throw notStuck(quietAt - now)
  const changes = emptied(segment)
  return commit(ctx, { ...segment, ...changes, version: segment.version + 1 }, [
    ...dropMembers(segment, now),
    ...updateVersion(segments, segment, changes),
  ])
}
