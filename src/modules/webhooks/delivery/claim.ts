import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { decodeAs, fromJson, type Query } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import type { DeliveryClaim, ClaimedEndpoint } from '../../../domain/webhooks/webhook-sender.ts'
import { maxInFlight } from '../../../domain/webhooks/webhooks.ts'
import { isLeased, isWaiting } from './open-deliveries.ts'

/** Longer than any request may take together with what comes after it. */
export const leaseMs = 60_000

const endpoint = fromJson<ClaimedEndpoint>(sql`(select json_object('url', url, 'secret', secret,
    'previous_secret', previous_secret, 'previous_secret_until', previous_secret_until,
    'timeout_seconds', timeout_seconds)
  from webhook_endpoints where webhook_endpoints.id = endpoint_id)`)

/** Beside its columns, what a claim answers of the delivery's event and endpoint. */
export const claimFields = { endpoint }
export const claimedPayload = sql`(select payload from webhook_events where webhook_events.id = event_id)`

/** How many more requests to an endpoint may be in flight: at most four, and one while it is being probed. */
export const freeSlots = (now: number): SQL => sql`iif(breaker_until is null, ${maxInFlight}, 1) - (select count(*)
  from webhook_deliveries where endpoint_id = webhook_endpoints.id and webhook_deliveries.lease_until > ${now})`

/** The condition that an endpoint is one of these. */
export const isOneOf = (endpointIds: readonly string[]): SQL => inList(sql`id`, endpointIds)

/**
 * Claims due deliveries of the endpoints for which the condition holds, retries by hand first, then the oldest. While the
 * breaker of an endpoint is open, only retries by hand are claimed. No other consumer gets them before the lease ends.
 */
export const claimStatement = (job: JobCtx, areChosen: SQL): Query<DeliveryClaim> => {
  const now = job.now()
  const due = sql`endpoint_id = lanes.id and next_retry_at <= ${now}`
  // With a bound limit, SQLite parses the statement again for each call.
  const inOrder = sql.raw(`order by event_id limit ${maxInFlight}`)
  const claimed = sql<DeliveryClaim>`update webhook_deliveries set attempts = attempts + 1, last_attempt_at = ${now},
      lease_until = ${now + leaseMs}, modified_at = ${now}
    where id in (
      with lanes as materialized (
        select id, ${freeSlots(now)} as free, coalesce(breaker_until, 0) > ${now} as is_resting
        from webhook_endpoints where ${areChosen} and is_active = 1
      )
      select id from (
        select deliveries.id, free, row_number() over (partition by deliveries.endpoint_id
          order by deliveries.manual is null, deliveries.event_id) as place
        from lanes join webhook_deliveries as deliveries on deliveries.id in (
          select id from (select id from webhook_deliveries indexed by webhook_deliveries_asked
            where manual is not null and ${isWaiting} and ${due} ${inOrder})
          union all
          select id from (select id from webhook_deliveries indexed by webhook_deliveries_open
            where not lanes.is_resting and ${isWaiting} and ${due} ${inOrder})
          union all
          select id from (select id from webhook_deliveries indexed by webhook_deliveries_leased
            where (manual is not null or not lanes.is_resting) and ${isLeased} and lease_until <= ${now} and ${due} ${inOrder}))
        where free > 0
      ) where place <= free)
    returning id, endpoint_id, event_id, attempts, status, step, manual, lease_until,
      ${claimedPayload} as payload,
      ${endpoint} as endpoint`
  return decodeAs(claimFields, claimed)
}

/** In the order of the events, which RETURNING does not keep. */
export const claimsOf = (rows: readonly DeliveryClaim[]): DeliveryClaim[] =>
  rows.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))
