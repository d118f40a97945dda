import { sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { segmentLifecycle } from '../../../domain/segments.ts'
import { leaving } from './calculation.ts'
import type { SegmentRow } from '../queries.ts'

/** A segment without members and without a calculation; a consumer of one can commit nothing more. */
export const emptied = (segment: SegmentRow) => ({
  status: segmentLifecycle.initial,
  epoch: segment.epoch + 1,
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
})

/** Before the guarded change of the segment that was loaded: its sets go to the sweep, the one under way too. */
export const dropMembers = (segment: SegmentRow, now: number): Statement[] =>
  [
    ...(segment.members_epoch > 0 ? [segment.members_epoch] : []),
    ...(segment.status === 'calculating' ? [segment.epoch] : []),
  ].map((epoch) => leaving(sql`${epoch}`, sql`id = ${segment.id}`, now))
