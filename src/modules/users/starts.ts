import type { Database } from '../../db/database.ts'
import type { IntervalOrdering } from '../../db/lists/intervals/interval-list.ts'
import { findStartInIntervals } from '../../db/lists/intervals/start-in-intervals.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import type { ListSource } from '../../db/lists/list-source.ts'
import { areFewYoung, startOfSpans } from '../../db/lists/spans/start-of-spans.ts'
import type { OrderBy } from '../../domain/page.ts'
import type { UserFilters } from './contract.ts'
import { customerIntervals, intervalOrderings } from './intervals.ts'
import { customerSpans } from './spans.ts'

export type CustomerOrder = 'email' | 'phone_number' | 'date_joined' | 'last_seen'

/** The orderings of intervals that an order of lists reads. */
const { email, no_email, phone, no_phone, seen, unseen } = intervalOrderings
const orderingsOf: Partial<Record<CustomerOrder, readonly IntervalOrdering[]>> = {
  email: [email, no_email],
  phone_number: [phone, no_phone],
  last_seen: [seen, unseen],
}

/**
 * Where a page by number begins, of all customers of an organisation. In the order in which they joined spans of time lead
 * to it, and in others intervals.
 */
export function startsOf(
  db: Database,
  { organization_id, edition_id, search, ...unnamed }: UserFilters,
  ordering: readonly OrderBy<CustomerOrder>[],
): Pick<ListSource, 'startOf' | 'findStart'> {
  unnamed satisfies NoFilters
  const [{ name, desc } = { name: 'date_joined' as const, desc: true }] = ordering
  if (!organization_id || edition_id || search || ordering.length > 1) return {}
  const orderings = orderingsOf[name]
  if (orderings) {
    const rows = { scope: organization_id, facets: [], orderings, isDesc: desc }
    return { findStart: (skipped, nearest) => findStartInIntervals(db, customerIntervals, rows, { skipped, nearest }) }
  }
  const rows = { scopes: organization_id, facets: [[undefined]], where: [] }
  return {
    startOf: async (skipped) =>
      (await areFewYoung(db, customerSpans, organization_id)) ? startOfSpans(customerSpans, rows, desc, skipped) : null,
  }
}
