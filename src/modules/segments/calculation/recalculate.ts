import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { segmentLifecycle } from '../../../domain/segments.ts'
import { beginning } from './calculation.ts'
import { enqueueCalculations } from '../jobs.ts'
import type { LoadedSegment, SegmentRow } from '../queries.ts'
import { segmentCalculating } from '../update.ts'

export async function recalculateSegment(ctx: Ctx, segment: LoadedSegment): Promise<SegmentRow> {
  if (!segmentLifecycle.allows(segment.status, 'calculating')) throw segmentCalculating(segment.status)
  const now = ctx.now()
  const begun: SegmentRow = {
    ...segment,
    status: 'calculating',
    epoch: segment.epoch + 1,
    version: segment.version + 1,
    walked_count: 0,
    matched_count: 0,
    calculation_started_at: now,
    heartbeat_at: now,
    error_message: '',
  }
  const calculating = await commit(ctx, begun, beginning(segment, now))
  ctx.afterCommit(() => enqueueCalculations(ctx, [begun]))
  return calculating
}
