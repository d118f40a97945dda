import type { z } from '@hono/zod-openapi'
import { segments } from '../../db/schema/messaging/segments.ts'
import type { RowOf } from '../../db/select.ts'
import type { SegmentSummary } from '../../http/fields.ts'

/** The columns of a joined `segments` for its summary, also of a deleted one, for its campaigns. */
export const segmentSummaryFields = {
  segment_id: segments.id,
  segment_name: segments.name,
  segment_communication_type: segments.communication_type,
  segment_communication_channel: segments.communication_channel,
  segment_status: segments.status,
  segment_user_count: segments.user_count,
}

type SegmentSummaryRow = RowOf<typeof segmentSummaryFields>

export const presentSegmentSummary = (row: SegmentSummaryRow): z.input<typeof SegmentSummary> => ({
  id: row.segment_id,
  name: row.segment_name,
  communication_type: row.segment_communication_type,
  communication_channel: row.segment_communication_channel,
  status: row.segment_status,
  user_count: row.segment_user_count,
})
