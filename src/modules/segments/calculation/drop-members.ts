import { sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { segmentLifecycle } from '../../../domain/segments.ts'
import { leaving } from './calculation.ts'
import type { SegmentRow } from '../queries.ts'

/** The columns of a segment without members and calculation. A consumer at work can commit nothing more. */
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

/** Leaves the sets of a loaded segment to the sweep, also the one that is calculated. It comes before the guarded change. */
export const dropMembers = (segment: SegmentRow, now: number): Statement[] =>
  [
    ...(segment.members_epoch > 0 ? [segment.members_epoch] : []),
    ...(segment.status === 'calculating' ? [segment.epoch] : []),
  ].map((epoch) => leaving(sql`${epoch}`, sql`id = ${segment.id}`, now))
