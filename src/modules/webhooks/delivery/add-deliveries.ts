import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { decodeAs, type Query } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import type { DeliveryClaim, Lane } from '../../../domain/webhooks/webhook-sender.ts'
import { deliveryLifecycle } from '../../../domain/webhooks/webhooks.ts'
import { claimedPayload, claimFields, freeSlots, leaseMs } from './claim.ts'

/** Deliveries of events to some endpoints of their organisations. */
export interface NewDeliveries {
  eventIds: readonly string[]
  areRecipients: SQL
  /** The id of a delivery. */
  id: SQL
}

/** One that was claimed, or one that was not: `lane` is that of consumers who are to post it now. */
export type AddedDelivery = DeliveryClaim | { lease_until: null; endpoint_id: string; lane: Lane | null }

export const isClaimed = (delivery: AddedDelivery): delivery is DeliveryClaim => delivery.lease_until !== null

/** One statement for any number of events. Deliveries for which the condition holds are claimed. */
function addStatement(now: number, { eventIds, areRecipients, id }: NewDeliveries, areClaimed: SQL): SQL {
  return sql`insert into webhook_deliveries (id, endpoint_id, event_id, edition_id, kind, status, next_retry_at,
      created_at, modified_at, attempts, last_attempt_at, lease_until)
    select ${id}, endpoint_id, event_id, edition_id, kind, ${deliveryLifecycle.initial}, next_retry_at, ${now}, ${now},
      is_claimed, iif(is_claimed, ${now}, null), iif(is_claimed, ${now + leaseMs}, null)
    from (select webhook_endpoints.id as endpoint_id, events.id as event_id, events.edition_id, events.kind as kind,
        max(${now}, coalesce(breaker_until, 0)) as next_retry_at, ${areClaimed} as is_claimed
      from webhook_events as events cross join webhook_endpoints
        on webhook_endpoints.organization_id = events.organization_id
      where ${inList(sql`events.id`, eventIds)} and is_active = 1 and ${areRecipients})
    where true on conflict do nothing`
}

export const addDeliveries = (job: JobCtx, deliveries: NewDeliveries): SQL =>
  addStatement(job.now(), deliveries, sql`0`)

/**
 * Adds deliveries, and claims those to the endpoints for which the condition holds, as far as they may have more
 * requests in flight. What has waited there for longer is claimed when these end.
 */
export function addClaimed(job: JobCtx, deliveries: NewDeliveries, areChosen: SQL): Query<AddedDelivery> {
  const now = job.now()
  const isNext = sql`(${areChosen} and coalesce(breaker_until, 0) <= ${now}
    and row_number() over (partition by webhook_endpoints.id order by events.id) <= ${freeSlots(now)})`
  const consumers = sql`(select iif(${areChosen}, null, iif(is_slow, ${'slow' satisfies Lane}, ${'fast' satisfies Lane}))
    from webhook_endpoints where webhook_endpoints.id = endpoint_id)`
  const ofClaim = (value: SQL) => sql`iif(lease_until is null, null, ${value})`
  const added = sql<AddedDelivery>`${addStatement(now, deliveries, isNext)}
    returning id, endpoint_id, event_id, attempts, status, step, manual, lease_until,
      iif(lease_until is null and next_retry_at <= ${now}, ${consumers}, null) as lane,
      ${ofClaim(claimedPayload)} as payload, ${ofClaim(sql`${claimFields.endpoint}`)} as endpoint`
  return decodeAs(claimFields, added)
}
