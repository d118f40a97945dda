import { type SQL, sql } from 'drizzle-orm'
import { inWords } from '../../../db/visibility.ts'
import { openStatuses } from '../../../domain/webhooks/webhooks.ts'

/** Written out for the partial indexes. They are named where they are read: the planner prefers one of all deliveries. */
const isOpen = inWords(sql`webhook_deliveries.status`, openStatuses)

/** Deliveries that wait for an attempt. */
export const isWaiting = sql`${isOpen} and webhook_deliveries.lease_until is null`

/** Deliveries with an attempt under way, or one whose result was never recorded. */
export const isLeased = sql`${isOpen} and webhook_deliveries.lease_until is not null`

/** The ids of all open deliveries of the endpoints for which the condition on `endpoint_id` holds. */
export const openOf = (areOfEndpoints: SQL): SQL => sql`
  select id from webhook_deliveries indexed by webhook_deliveries_open where ${isWaiting} and ${areOfEndpoints}
  union all
  select id from webhook_deliveries indexed by webhook_deliveries_leased where ${isLeased} and ${areOfEndpoints}`
