import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { segments } from '../../../db/schema/segments.ts'
import { updateVersion } from '../../../db/write.ts'
import { AppError } from '../../../domain/errors.ts'
import { quietAfterMs, segmentLifecycle, type SegmentStatus } from '../../../domain/segments.ts'
import { enqueueCalculations } from '../enqueue.ts'
import type { LoadedSegment, SegmentRow } from '../queries.ts'
import { buildCalculationStart, retireMembers } from './calculation.ts'

export const segmentCalculating = (status: SegmentStatus): AppError =>
  new AppError('segment_calculating', 'This segment is being calculated.', {
    extra: { current_status: status, allowed_transitions: segmentLifecycle.targetsOf(status) },
  })

export async function recalculateSegment(ctx: Ctx, segment: LoadedSegment): Promise<SegmentRow> {
  if (!segmentLifecycle.allows(segment.status, 'calculating')) throw segmentCalculating(segment.status)
  const now = ctx.now()
  const startedSegment: SegmentRow = {
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
  const result = await commit(ctx, startedSegment, buildCalculationStart(segment, now))
  ctx.afterCommit(() => enqueueCalculations(ctx, [startedSegment]))
  return result
}

function segmentNotStuck(waitMs: number): AppError {
  const retry_after = Math.max(1, Math.ceil(waitMs / 1000))
  return new AppError('segment_not_stuck', 'The calculation of this segment is still running.', {
    extra: { retry_after },
    headers: { 'retry-after': String(retry_after) },
  })
}

export function resetSegmentToDraft(ctx: Ctx, segment: LoadedSegment): Promise<SegmentRow> {
  if (segment.status === 'draft') return commit<SegmentRow>(ctx, segment, [])
  const now = ctx.now()
  const quietAt = (segment.heartbeat_at ?? 0) + quietAfterMs
  if (segment.status === 'calculating' && now < quietAt) throw segmentNotStuck(quietAt - now)
  const changes = buildDraftColumns(segment)
  return commit(ctx, { ...segment, ...changes, version: segment.version + 1 }, [
    ...dropMembers(segment, now),
    ...updateVersion(segments, segment, changes),
  ])
}

/** The columns of a segment that was not calculated yet. */
export const emptyCalculation = {
  members_epoch: 0,
  cursor_id: '',
  last_id: '',
  walked_count: 0,
  population_count: 0,
  matched_count: 0,
  user_count: 0,
  excluded: {},
  calculated_at: null,
  calculation_started_at: null,
  heartbeat_at: null,
  error_message: '',
}

/** The columns of a segment without members. The new epoch keeps a consumer at work from committing anything more. */
export const buildDraftColumns = (segment: SegmentRow) => ({
  status: segmentLifecycle.initial,
  epoch: segment.epoch + 1,
  ...emptyCalculation,
})

/** Retires the sets of members of a loaded segment. These statements come before the guarded change. */
export const dropMembers = (segment: SegmentRow, now: number): Statement[] =>
  [
    ...(segment.members_epoch > 0 ? [segment.members_epoch] : []),
    ...(segment.status === 'calculating' ? [segment.epoch] : []),
  ].map((epoch) => retireMembers(sql`${epoch}`, sql`id = ${segment.id}`, now))
