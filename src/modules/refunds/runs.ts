import { type SQL, sql } from 'drizzle-orm'
import type { PartIndex } from '../../db/lists/intervals/interval-list.ts'
import { partOf, rangeOfTime, type RunRows } from '../../db/lists/runs/run-rows.ts'
import { type RunList, type RunOrdering, rangesOf, youngByModified } from '../../db/lists/runs/run-list.ts'
import type { SpannedRows } from '../../db/lists/spans/count-spans.ts'
import type { Facets } from '../../db/lists/spans/spanned-list.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { lateRefundRequests, refundRuns, refundRunStates } from '../../db/schema/sales/runs.ts'
import { byReason, isOfReason, type RefundOrdering } from './orderings.ts'
import { refundSpans } from './spans.ts'

const ordering = (name: string, index: SQL, value: SQL) => ({ name, indexed: { index, leading: 1 }, value })
const amount = ordering('amount', sql`refund_requests_by_amount`, sql`${refundRequests.requested_minor}`)
const modified = ordering('modified', sql`refund_requests_by_modified`, sql`${refundRequests.modified_at}`)
const byStatus: RunOrdering = {
  name: 'status',
  indexed: { index: sql`refund_requests_by_status`, leading: 0 },
  value: sql`${refundRequests.status}`,
  isText: true,
  isByCreation: true,
}

const facets = refundSpans.facets.map(({ column, values = [] }) => ({ column, values }))

/** The index that leads to requests of a range of time with some facets. It may pass others. */
function byCreation([status, reason, source]: Facets): PartIndex {
  if (isOfReason({ reason, source })) return byReason({ reason, source })
  if (status === undefined) return { index: sql`refund_requests_of_edition` }
  return { index: sql`refund_requests_by_status`, ranges: rangesOf(facets.slice(0, 1), [status]) }
}

export const refundRunList: RunList = {
  table: sql`${refundRequests}`,
  runs: refundRuns,
  states: refundRunStates,
  late: sql`${lateRefundRequests}`,
  scope: 'edition_id',
  scopesOf: (editions) => editions,
  key: 'id',
  facets,
  createdAt: sql`${refundRequests.created_at}`,
  young: youngByModified(modified.indexed),
  byCreation,
  orderings: [amount, modified, byStatus],
}

const orderingsOf: Partial<Record<RefundOrdering[number]['name'], RunOrdering>> = {
  modified,
  requested_amount: amount,
  status: byStatus,
}

/** Which runs have a list in its order. Those of one status follow their creation in the order of `status`. */
function runsOf(
  [by, ...others]: RefundOrdering,
  status: string | undefined,
): { ordering: RunOrdering; only?: string } | null {
  if (others.length > 0) return null
  const found = by && orderingsOf[by.name]
  if (found) return { ordering: found }
  return status === undefined ? null : { ordering: byStatus, only: status }
}

interface RefundRuns {
  /** A query of the ids of the editions. */
  editions: SQL
  by: RefundOrdering
  /** Whether no intervals lead to the page: it is asked for by a number, of several editions. */
  isFar: boolean
}

/**
 * The requests of a list that runs serve, in an order that has runs: one of a range of time, a reason or a source, and any where
 * nothing else leads to the page.
 */
export function rowsInRuns(counted: SpannedRows | null, { editions, by, isFar }: RefundRuns): RunRows | null {
  if (!counted) return null
  const {
    facets: [asked = []],
    from,
    until,
  } = counted
  const [status, reason, source] = asked
  const found = runsOf(by, status)
  const isOfFew = isOfReason({ reason, source })
  const isInTime = from !== undefined || until !== undefined
  // An index has requests of one status, and those of a reason or a source, in the order of creation.
  const isServed = isOfFew || (isInTime && found?.only === undefined)
  if (!found || !(isServed || (isFar && found.ordering !== byStatus))) return null
  return {
    list: refundRunList,
    editions,
    ...rangeOfTime(from, until === undefined ? undefined : until - 1),
    parts: partOf(found.ordering, asked, found.only),
    isDesc: by[0]?.desc ?? true,
  }
}
