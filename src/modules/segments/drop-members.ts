import { sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { segmentLifecycle } from '../../domain/segments.ts'
import { leaving } from './calculation.ts'
import type { SegmentRow } from './queries.ts'

/** A segment without members and without a calculation; whoever runs one is fenced out. */
export const emptied = (segment: SegmentRow) => ({
  status: segmentLifecycle.initial,
  epoch: segment.epoch + 1,
  members_epoch: 0,
  cursor_id: '',
  last_id: '',
  walked_count: 0,
  population_count: 0,
  user_count: 0,
  excluded: '{}',
  calculated_at: null,
  calculation_started_at: null,
  heartbeat_at: null,
  error_message: '',
})

/** Before the change of the segment that was loaded: its sets go to the sweep, the one under way too. */
export const dropMembers = (segment: SegmentRow, now: number): Statement[] => {
  const loaded = sql`id = ${segment.id} and version = ${segment.version}`
  return [
    leaving(sql`members_epoch`, sql`${loaded} and members_epoch > 0`, now),
    leaving(sql`epoch`, sql`${loaded} and status = 'calculating'`, now),
  ]
}
