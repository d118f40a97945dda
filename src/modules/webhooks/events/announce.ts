import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { webhookEvents } from '../../../db/schema/messaging/webhooks.ts'
import { insert, insertAll } from '../../../db/write.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { deliveryLifecycle, type EventKind } from '../../../domain/webhooks/webhooks.ts'
import { checkedData, type EventData } from './payload-contract.ts'
import { addAndDeliver } from '../delivery/deliver-due.ts'

interface AnnouncementOf<Kind extends EventKind> {
  kind: Kind
  organization_id: string
  edition_id: string | null
  data: EventData<Kind>
}

export type Announcement = { [Kind in EventKind]: AnnouncementOf<Kind> }[EventKind]

/** The body that every endpoint receives, and the event's row. */
function eventOf(job: JobCtx, announcement: Announcement) {
  const now = job.now()
  const id = job.newId('webhook_event')
  const { kind, organization_id, edition_id, data } = announcement
  const payload = JSON.stringify({
    id,
    type: kind,
    created: toIso(now),
    api_version: 'v1',
    organization_id,
    edition_id,
    data: checkedData(kind, data),
  })
  return { id, organization_id, edition_id, kind, payload, created_at: now }
}

/** Ids that one statement looks up: far below D1's limit for one bound value. */
const eventsAStatement = 10_000

const areSubscribed = sql`(webhook_endpoints.edition_id is null or webhook_endpoints.edition_id = events.edition_id)
  and exists (select 1 from json_each(webhook_endpoints.events) where value = events.kind)`

/**
 * SQL makes the ids, because only SQL knows the endpoints: the time and the cell's mark of the event's id, then 64 random
 * bits in hexadecimal.
 */
const deliveryId = sql`'whd_' || substr(event_id, 5, length(event_id) - 20) || hex(randomblob(8))`

/**
 * Statements that write these events and their deliveries to every subscribed, active endpoint. They are part of the
 * transaction of the change, so that an event is stored exactly if its change is. Their number does not depend on the
 * number of events.
 */
export function announceAll(job: JobCtx, announcements: readonly Announcement[]): Statement[] {
  if (announcements.length === 0) return []
  const events = announcements.map((announcement) => eventOf(job, announcement))
  const ids = events.map(({ id }) => id)
  const deliveries: Statement[] = []
  for (let start = 0; start < ids.length; start += eventsAStatement) {
    const eventIds = ids.slice(start, start + eventsAStatement)
    deliveries.push(...addAndDeliver(job, { eventIds, areRecipients: areSubscribed, id: deliveryId }))
  }
  return [...insertAll(webhookEvents, events), ...deliveries]
}

/** As `announceAll`, for one event. */
export const announce = (job: JobCtx, announcement: Announcement): Statement[] => announceAll(job, [announcement])

/**
 * An event for one active endpoint alone, whether it subscribes to it or not. A lost race when the endpoint was switched
 * off meanwhile.
 */
export function announceTo(
  job: JobCtx,
  endpoint: { id: string; breaker_until: number | null },
  announcement: Announcement,
) {
  const event = eventOf(job, announcement)
  const now = job.now()
  const delivery = {
    id: job.newId('webhook_delivery'),
    endpoint_id: endpoint.id,
    event_id: event.id,
    edition_id: event.edition_id,
    kind: event.kind,
    status: deliveryLifecycle.initial,
    next_retry_at: Math.max(now, endpoint.breaker_until ?? 0),
    created_at: now,
    modified_at: now,
  }
  const added = {
    eventIds: [event.id],
    areRecipients: sql`webhook_endpoints.id = ${endpoint.id}`,
    id: sql`${delivery.id}`,
  }
  const statements = [insert(webhookEvents, event), ...addAndDeliver(job, added, [requireOneChange()])]
  return { event, delivery, statements }
}
