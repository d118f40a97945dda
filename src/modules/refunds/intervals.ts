import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import type { IntervalList, IntervalOrdering } from '../../db/lists/intervals/interval-list.ts'
import { editionsOfScope } from '../../db/lists/intervals/scopes-of-intervals.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { refundStatuses } from '../../domain/refunds/refunds.ts'
import { rangesOfStatuses } from './orderings.ts'

/** The indexes end with the id, which is the key of the table. */
const ordering = (name: string, index: SQL, value: SQL): IntervalOrdering => ({
  name,
  index,
  ranges: rangesOfStatuses,
  value,
  least: -1,
  where: sql`1`,
})
const byModified = sql`refund_requests_by_modified`
const modifiedAt = sql`${refundRequests.modified_at}`

/** Requests of editions and organisations, by status. They are settled by their last change. */
export const refundIntervals = {
  name: 'refund_requests',
  table: sql`${refundRequests}`,
  intervals: sql`refund_intervals`,
  orderings: {
    amount: ordering('amount', sql`refund_requests_by_amount`, sql`${refundRequests.requested_minor}`),
    modified: ordering('modified', byModified, modifiedAt),
  },
  keys: [{ name: 'id', column: sql`${refundRequests.id}`, least: '' }],
  partsOf: (scope) => editionsOfScope(scope, sql`editions.id`),
  part: sql`${refundRequests.edition_id}`,
  settled: { index: byModified, ranges: rangesOfStatuses, at: modifiedAt },
  facets: [sql`${refundRequests.status}`],
  counts: refundStatuses.map((status) => ({ name: status, facets: [status] })),
} satisfies IntervalList

/** Those of some organisations that have many requests, or had many when they were settled first. */
export const withManyRequests = async (
  db: Database,
  organizations: readonly string[],
  fewest: number,
): Promise<string[]> =>
  (
    await db.all(sql<{ id: string }>`select asked.value as id from json_each(${JSON.stringify(organizations)}) as asked
      where exists (select 1 from refund_intervals where scope = asked.value)
        or (select coalesce(sum(list_spans.total), 0) from editions cross join list_spans
          on list_spans.list = ${refundIntervals.name} and list_spans.scope = editions.id
          where editions.organization_id = asked.value) >= ${fewest}
      order by asked.value`)
  ).map(({ id }) => id)
