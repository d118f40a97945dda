import { sql } from 'drizzle-orm'
import { byMoment, type SpannedList } from '../../db/lists/spans/spanned-list.ts'
import { refundReasons, refundSources, refundStatuses } from '../../domain/refunds/refunds.ts'

/** Triggers count the requests of editions. */
export const refundSpans: SpannedList = {
  name: 'refund_requests',
  table: sql`refund_requests`,
  joins: sql``,
  scope: sql`refund_requests.edition_id`,
  key: sql`refund_requests.created_at`,
  ...byMoment,
  facets: [
    { column: sql`refund_requests.status`, values: refundStatuses },
    { column: sql`refund_requests.reason`, values: refundReasons },
    { column: sql`refund_requests.source`, values: refundSources },
  ],
  hasSums: false,
  hasLongSums: true,
  // The requests of editions are merged, where each that is passed is read several times.
  mostUndivided: 32,
  isSettled: false,
}

/** Those of organisations, whose requests indexes have together. */
export const organizationRefundSpans: SpannedList = {
  ...refundSpans,
  name: 'organization_refund_requests',
  scope: sql`refund_requests.organization_id`,
  mostUndivided: 64,
}
