import { type SQL, sql } from 'drizzle-orm'
import type { ListedKey } from '../../db/lists/list-source.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { type RefundStatus, refundReasons, refundSources, refundStatuses } from '../../domain/refunds/refunds.ts'
import { type OrderBy, sortBy } from '../../domain/page.ts'
import { refundSpans } from './spans.ts'

/** Filters of the requests of editions that indexes and spans know. */
export interface FacetFilters {
  status?: RefundStatus | undefined
  reason?: string | undefined
  source?: string | undefined
}

export const sortKeys = {
  created: refundSpans.key,
  modified: sql`${refundRequests.modified_at}`,
  requested_amount: sql`${refundRequests.requested_minor}`,
  status: sql`${refundRequests.status}`,
}
const { status } = sortKeys

export type RefundOrdering = readonly OrderBy<keyof typeof sortKeys>[]

/** The values of the key `status` in their order; of one that is asked for there is no other. */
export const statusesOf = (asked: FacetFilters['status']): readonly RefundStatus[] =>
  asked ? [asked] : refundStatuses.toSorted()

/** Requests of one status follow the time of creation, as the index does. `isIndexed` says that indexes lead to each status. */
export function sortOf(ordering: RefundOrdering, filters: FacetFilters, isIndexed: boolean) {
  const listed: ListedKey = { listed: status, values: statusesOf(filters.status) }
  const sort = sortBy<keyof typeof sortKeys, SQL | ListedKey>(ordering, '-created', {
    ...sortKeys,
    ...(isIndexed ? { status: listed } : {}),
  })
  const last = sort.at(-1)
  return ordering.at(-1)?.name === 'status' ? [...sort, { by: sortKeys.created, desc: last?.desc ?? true }] : sort
}

export const rangesOfStatuses: Ranges = {
  columns: [status],
  values: refundStatuses.map((one) => [one]),
  areWords: true,
}

/** The ranges of a reason, a source, or both in an index that begins with them. */
function rangesOfReasons({ reason, source }: FacetFilters): Ranges {
  const sources = source === undefined ? refundSources : [source]
  return {
    columns: [sql`${refundRequests.reason}`, sql`${refundRequests.source}`],
    values: (reason === undefined ? refundReasons : [reason]).flatMap((one) => sources.map((other) => [one, other])),
    areWords: true,
  }
}

/** An index that has requests of editions in the order of a list. */
export interface RefundIndex {
  index: SQL
  /** The same of organisations, if there is one. */
  ofOrganization?: SQL
  /** Whether it has the reason and the source, and the moment of creation. */
  hasReason?: boolean
  hasCreation?: boolean
  ranges?: Ranges | undefined
}

const indexes = {
  created: {
    index: sql`refund_requests_by_status`,
    hasCreation: true,
    ofOrganization: sql`refund_requests_of_organization_by_status`,
  },
  modified: { index: sql`refund_requests_by_modified` },
  requested_amount: { index: sql`refund_requests_by_amount` },
} satisfies Record<string, RefundIndex>

const byCreation: RefundIndex = {
  index: sql`refund_requests_of_edition`,
  hasCreation: true,
  ofOrganization: sql`refund_requests_of_organization`,
}

/** The index that leads to requests of a reason or a source. */
export const byReason = (filters: FacetFilters): RefundIndex => ({
  index: sql`refund_requests_by_reason`,
  hasReason: true,
  hasCreation: true,
  ofOrganization: sql`refund_requests_of_organization_by_reason`,
  ranges: rangesOfReasons(filters),
})

export const isOfReason = ({ reason, source }: FacetFilters): boolean => reason !== undefined || source !== undefined

/** The index that serves a list, if one does. All but two of the indexes begin with the status. */
export function indexOf(filters: FacetFilters, [first, second, ...others]: RefundOrdering): RefundIndex | null {
  const isByStatus = first?.name === 'status'
  const by = isByStatus ? (second ?? { name: 'created' }) : (first ?? { name: 'created' })
  if (others.length > 0 || by.name === 'status' || (second && !isByStatus)) return null
  if (isByStatus || filters.status !== undefined) return indexes[by.name]
  if (by.name !== 'created') return { ...indexes[by.name], ranges: rangesOfStatuses }
  return isOfReason(filters) ? byReason(filters) : byCreation
}
