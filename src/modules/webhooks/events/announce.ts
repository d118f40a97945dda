import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { changedOne } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { webhookEvents } from '../../../db/schema/messaging/webhooks.ts'
import { inList } from '../../../db/visibility.ts'
import { insert, insertAll } from '../../../db/write.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { deliveryLifecycle, type EventKind } from '../../../domain/webhooks/webhooks.ts'
import { checkedData, type EventData } from './payload-contract.ts'
import { onTheirWay } from '../delivery/deliver-due.ts'

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

const columns = sql.raw('(id, endpoint_id, event_id, kind, status, next_retry_at, created_at, modified_at)')

/** Ids that one statement looks up: far below D1's limit for one bound value. */
const eventsAStatement = 10_000

/** One statement for any number of events, by the endpoints of each event's organisation. */
function deliveriesOf(job: JobCtx, eventIds: readonly string[]): SQL {
  const now = job.now()
  // SQL makes the ids, because only SQL knows the endpoints: the time and the cell's mark of the event's id, then 64
  // random bits in hexadecimal.
  return sql`insert into webhook_deliveries ${columns}
    select 'whd_' || substr(events.id, 5, length(events.id) - 20) || hex(randomblob(8)), endpoints.id, events.id, events.kind,
      ${deliveryLifecycle.initial},
      max(${now}, coalesce(endpoints.breaker_until, 0)), ${now}, ${now}
    from webhook_events as events cross join webhook_endpoints as endpoints
      on endpoints.organization_id = events.organization_id
    where ${inList(sql`events.id`, eventIds)} and endpoints.is_active = 1
      and (endpoints.edition_id is null or endpoints.edition_id = events.edition_id)
      and exists (select 1 from json_each(endpoints.events) where value = events.kind)
    on conflict do nothing`
}

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
    const some = ids.slice(start, start + eventsAStatement)
    deliveries.push(...onTheirWay(job, deliveriesOf(job, some), some))
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
    kind: event.kind,
    status: deliveryLifecycle.initial,
    next_retry_at: Math.max(now, endpoint.breaker_until ?? 0),
    created_at: now,
    modified_at: now,
  }
  const add = sql`insert into webhook_deliveries ${columns}
    select ${delivery.id}, id, ${event.id}, ${event.kind}, ${delivery.status}, ${delivery.next_retry_at}, ${now}, ${now}
    from webhook_endpoints where id = ${endpoint.id} and is_active = 1`
  const statements = [insert(webhookEvents, event), ...onTheirWay(job, add, [event.id], [changedOne()])]
  return { event, delivery, statements }
}
