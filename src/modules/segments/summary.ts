import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { SegmentSummary } from '../../http/fields.ts'

export interface SegmentSummaryRow {
  segment_id: string
  segment_name: string
  segment_communication_type: string
  segment_communication_channel: string
  segment_status: string
  segment_user_count: number
}

/** Columns of a joined `segments` of its summary; also of a deleted one, for the campaigns that used it. */
export const segmentSummaryColumns: SQL = sql`segments.id as segment_id, segments.name as segment_name,
  segments.communication_type as segment_communication_type,
  segments.communication_channel as segment_communication_channel, segments.status as segment_status,
  segments.user_count as segment_user_count`

export const presentSegmentSummary = (row: SegmentSummaryRow): z.input<typeof SegmentSummary> => ({
  id: row.segment_id,
  name: row.segment_name,
  communication_type: row.segment_communication_type,
  communication_channel: row.segment_communication_channel,
  status: row.segment_status,
  user_count: row.segment_user_count,
})
