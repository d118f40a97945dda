import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { isClaimable, isClaimed } from '../../../db/claims.ts'
import { inWords } from '../../../db/conditions.ts'
import { prepare } from '../../../db/prepare.ts'
import { decodeAs, fromJson, type Query } from '../../../db/select.ts'
import type { ClaimedEndpoint, DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { maxInFlight, openDeliveryStatuses } from '../../../domain/webhooks/webhooks.ts'

/** Longer than any request may take together with the time to store its result. */
export const claimMs = 60_000

/** The statuses are literals, so that the partial indexes fit. Queries name the index: SQLite prefers one of all rows. */
export const isOpen = inWords(sql`webhook_deliveries.status`, openDeliveryStatuses)

/** Deliveries that wait for an attempt. */
export const isWaiting = sql`${isOpen} and webhook_deliveries.claimed_until is null`

/** Deliveries with an attempt under way, or with one whose result was never stored. */
export const isInProgress = sql`${isOpen} and webhook_deliveries.claimed_until is not null`

/** The ids of all open deliveries for which the condition on `endpoint_id` holds. */
export const selectOpenDeliveries = (isOfEndpoints: SQL): SQL => sql`
  select id from webhook_deliveries indexed by webhook_deliveries_open where ${isWaiting} and ${isOfEndpoints}
  union all
  select id from webhook_deliveries indexed by webhook_deliveries_claimed where ${isInProgress} and ${isOfEndpoints}`

const endpoint = fromJson<ClaimedEndpoint>(sql`(select json_object('url', url, 'secret', secret,
    'previous_secret', previous_secret, 'previous_secret_until', previous_secret_until,
    'timeout_seconds', timeout_seconds)
  from webhook_endpoints where webhook_endpoints.id = endpoint_id)`)

export const claimFields = { endpoint }
export const claimedPayload = sql`(select payload from webhook_events where webhook_events.id = event_id)`

/** The number of further requests that an endpoint may have in flight: four in all, and one while its breaker probes it. */
export const countFreeSlots = (
  now: number | Placeholder,
): SQL => sql`iif(breaker_until is null, ${maxInFlight}, 1) - (select count(*)
  from webhook_deliveries where endpoint_id = webhook_endpoints.id and ${isClaimed(now)})`

const now = sql.placeholder('now')
const isDue = sql`endpoint_id = endpoints.id and next_retry_at <= ${now}`
// With a bound limit, SQLite parses the statement again for each call.
const inOrder = sql.raw(`order by event_id limit ${maxInFlight}`)

export const claimDue = prepare(
  decodeAs(
    claimFields,
    sql<DeliveryClaim>`update webhook_deliveries
    set claimed_until = ${sql.placeholder('until')}, attempts = attempts + 1, last_attempt_at = ${now}, modified_at = ${now}
    where id in (
      with endpoints as materialized (
        select id, ${countFreeSlots(now)} as free, coalesce(breaker_until, 0) > ${now} as is_resting
        from webhook_endpoints where id in (select value from json_each(${sql.placeholder('endpoints')})) and is_active = 1
      )
      select id from (
        select deliveries.id, free, row_number() over (partition by deliveries.endpoint_id
          order by deliveries.manual is null, deliveries.event_id) as place
        from endpoints join webhook_deliveries as deliveries on deliveries.id in (
          select id from (select id from webhook_deliveries indexed by webhook_deliveries_manual
            where manual is not null and ${isWaiting} and ${isDue} ${inOrder})
          union all
          select id from (select id from webhook_deliveries indexed by webhook_deliveries_open
            where not endpoints.is_resting and ${isWaiting} and ${isDue} ${inOrder})
          union all
          select id from (select id from webhook_deliveries indexed by webhook_deliveries_claimed
            where (manual is not null or not endpoints.is_resting) and ${isInProgress} and ${isClaimable(now)}
              and ${isDue} ${inOrder}))
        where free > 0
      ) where place <= free)
    returning id, endpoint_id, event_id, attempts, status, step, manual, claimed_until,
      ${claimedPayload} as payload, ${endpoint} as endpoint`,
  ),
)

/**
 * Claims due deliveries of these endpoints, manual retries first, then the oldest. While the breaker of an endpoint is
 * open, only manual retries are claimed.
 */
export function claimStatement(job: JobCtx, endpointIds: readonly string[]): Query<DeliveryClaim> {
  const startedAt = job.now()
  return claimDue({ now: startedAt, until: startedAt + claimMs, endpoints: JSON.stringify(endpointIds) })
}

/** RETURNING keeps no order. Ids of events sort by time. */
export const sortClaims = (claims: readonly DeliveryClaim[]): DeliveryClaim[] =>
  claims.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))

export const claimDueDeliveries = async (job: JobCtx, endpointIds: readonly string[]): Promise<DeliveryClaim[]> =>
  sortClaims(await job.db.all(claimStatement(job, endpointIds)))
