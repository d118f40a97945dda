import { sql } from 'drizzle-orm'
import { momentOfSpan, type SpannedList } from '../../db/lists/spans/spanned-list.ts'

/** Triggers count requests. */
export const refundSpans: SpannedList = {
  name: 'refund_requests',
  table: sql`refund_requests`,
  joins: sql``,
  scope: sql`refund_requests.edition_id`,
  at: sql`refund_requests.created_at`,
  key: sql`refund_requests.created_at`,
  keyAt: (moment) => moment,
  keyOfSpan: momentOfSpan,
  facets: [sql`refund_requests.status`, sql`refund_requests.reason`, sql`refund_requests.source`],
  isSettled: false,
}
