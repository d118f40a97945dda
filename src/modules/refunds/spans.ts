import { sql } from 'drizzle-orm'
import { shortIdOf, shortIds } from '../../db/short-ids.ts'
import { byMoment, type SpannedList } from '../../db/lists/spans/spanned-list.ts'
import { inWords } from '../../db/visibility.ts'
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

/** Those of organisations, whose requests indexes have together. They have those of each edition, too. */
export const organizationRefundSpans: SpannedList = {
  ...refundSpans,
  name: 'organization_refund_requests',
  scope: sql`refund_requests.organization_id`,
  owner: shortIdOf(sql`refund_requests.edition_id`),
  mostUndivided: 64,
}

/** Those of some editions of an organisation. */
export const spansOfEditions = (editions: readonly string[]): SpannedList => ({
  ...organizationRefundSpans,
  owners: shortIds(editions),
  ofScope: () => inWords(sql`refund_requests.edition_id`, editions),
})
