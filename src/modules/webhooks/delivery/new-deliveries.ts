import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { deliveryLifecycle } from '../../../domain/webhooks/webhooks.ts'
import { claimMs } from './claim.ts'
import { enqueueEvents } from './enqueue.ts'

/** Deliveries of events to some endpoints of their organisations. */
export interface NewDeliveries {
  eventIds: readonly string[]
  isRecipient: SQL
  /** The id of a delivery. */
  id: SQL
}

/** Inserts what `rows` selects: an endpoint, an event, when it is due, and whether it is claimed. */
export const insertDeliveries = (now: number, id: SQL, rows: SQL): SQL => sql`
  insert into webhook_deliveries (id, endpoint_id, event_id, edition_id, kind, status, next_retry_at, created_at,
    modified_at, attempts, last_attempt_at, claimed_until)
  select ${id}, endpoint_id, event_id, edition_id, kind, ${deliveryLifecycle.initial}, next_retry_at, ${now}, ${now},
    is_claimed, iif(is_claimed, ${now}, null), iif(is_claimed, ${now + claimMs}, null)
  from (${rows}) where true on conflict do nothing`

/** The rows of new deliveries, with further columns. */
export const selectRecipients = (now: number, { eventIds, isRecipient }: NewDeliveries, columns: SQL): SQL => sql`
  select webhook_endpoints.id as endpoint_id, events.id as event_id, events.edition_id, events.kind as kind,
    max(${now}, coalesce(breaker_until, 0)) as next_retry_at, ${columns}
  from webhook_events as events cross join webhook_endpoints
    on webhook_endpoints.organization_id = events.organization_id
  where ${inList(sql`events.id`, eventIds)} and is_active = 1 and ${isRecipient}`

/** The statement that adds deliveries and leaves them to the consumers of the queue. */
export function addToQueue(job: JobCtx, deliveries: NewDeliveries): Statement {
  const now = job.now()
  const rows = selectRecipients(now, deliveries, sql`0 as is_claimed`)
  return addAfterCommit(insertDeliveries(now, deliveries.id, rows), () => enqueueEvents(job, deliveries.eventIds))
}
