import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { decodeAs, type Query } from '../../../db/select.ts'
import { isHeld } from '../../../domain/waiting.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import { claimedPayload, claimFields, countFreeSlots, sortClaims } from './claim.ts'
import { deliverClaims } from './deliver.ts'
import { enqueueEndpoints } from './enqueue.ts'
import { addToQueue, insertDeliveries, type NewDeliveries, selectRecipients } from './new-deliveries.ts'

/** A request leaves more events than this to the consumers of the queue. */
const maxEvents = 20

/** A request claims at most this many deliveries, however many endpoints its organisation has. */
const maxClaims = 50

/** The platform ends what a request does 30 s after its response, so longer timeouts are left to the queue. */
const maxTimeoutSeconds = 17

const isQuick = sql`(is_slow = 0 and timeout_seconds <= ${sql.raw(String(maxTimeoutSeconds))})`

interface UnclaimedDelivery {
  claimed_until: null
  endpoint_id: string
  next_retry_at: number
  is_quick: number
}

type AddedDelivery = DeliveryClaim | UnclaimedDelivery

const isClaim = (delivery: AddedDelivery): delivery is DeliveryClaim => delivery.claimed_until !== null

/** Claims deliveries to quick endpoints, as far as these may have more requests in flight. */
function addAndClaim(now: number, deliveries: NewDeliveries): Query<AddedDelivery> {
  const place = sql`row_number() over (partition by webhook_endpoints.id order by events.id)`
  const isClaimable = sql`(${isQuick} and coalesce(breaker_until, 0) <= ${now} and ${place} <= ${countFreeSlots(now)})`
  const rows = sql`select *, is_claimable
      and row_number() over (partition by is_claimable order by place, endpoint_id) <= ${maxClaims} as is_claimed
    from (${selectRecipients(now, deliveries, sql`${place} as place, ${isClaimable} as is_claimable`)})`
  const ifClaimed = (value: SQL) => sql`iif(claimed_until is null, null, ${value})`
  return decodeAs(
    claimFields,
    sql<AddedDelivery>`${insertDeliveries(now, deliveries.id, rows)}
      returning id, endpoint_id, event_id, attempts, status, step, manual, claimed_until, next_retry_at,
        iif(claimed_until is null, (select ${isQuick} from webhook_endpoints where webhook_endpoints.id = endpoint_id),
          null) as is_quick,
        ${ifClaimed(claimedPayload)} as payload, ${ifClaimed(sql`${claimFields.endpoint}`)} as endpoint`,
  )
}

/** The endpoints that a request leaves to the consumers of the queue. */
function selectLeftEndpoints(addedDeliveries: readonly AddedDelivery[], now: number): string[] {
  const isFull = addedDeliveries.filter(isClaim).length === maxClaims
  // A quick endpoint without a free slot has requests in flight, and whoever ends these claims what is due next.
  const isLeft = (delivery: AddedDelivery) =>
    !isClaim(delivery) && delivery.next_retry_at <= now && (isFull || delivery.is_quick === 0)
  return [...new Set(addedDeliveries.filter(isLeft).map(({ endpoint_id }) => endpoint_id))]
}

/**
 * The statement that adds deliveries, followed by `guards`. A request claims deliveries as it adds them and posts them
 * after its response. Everything else goes through the queue, and so does what waits for the release. The sweep finds deliveries that a crash left behind.
 */
export function addAndDeliver(job: JobCtx, deliveries: NewDeliveries, guards: readonly Statement[] = []): Statement[] {
  const { openJobAfterResponse } = job
  const { eventIds } = deliveries
  const now = job.now()
  if (!openJobAfterResponse || eventIds.length > maxEvents || isHeld(job.config))
    return [addToQueue(job, deliveries), ...guards]
  const addedDeliveries = addAfterCommit(addAndClaim(now, deliveries), async (rows) => {
    const background = openJobAfterResponse()
    const works = [
      deliverClaims(background, sortClaims(rows.filter(isClaim))),
      enqueueEndpoints(background, selectLeftEndpoints(rows, now)),
    ]
    for (const work of await Promise.allSettled(works)) if (work.status === 'rejected') throw work.reason
  })
  return [addedDeliveries, ...guards]
}
