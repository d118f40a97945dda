import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange, commitPart } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { webhookEvents } from '../../../db/schema/webhooks.ts'
import { insert, splitIntoParameters } from '../../../db/write.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { listResourceIds } from '../../../domain/webhooks/event-resources.ts'
import { deliveryLifecycle, type EventKind } from '../../../domain/webhooks/webhooks.ts'
import { addAndDeliver } from '../delivery/add-deliveries.ts'
import { selectLastSeq } from './feed.ts'
import { checkData, type EventData } from './payload-contract.ts'

interface AnnouncementOf<Kind extends EventKind> {
  kind: Kind
  organization_id: string
  edition_id: string | null
  data: EventData<Kind>
}

export type Announcement = { [Kind in EventKind]: AnnouncementOf<Kind> }[EventKind]

/** The body that every endpoint receives, and the event's row. */
function buildEvent(job: JobCtx, announcement: Announcement): NewEvent {
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
    data: checkData(kind, data),
  })
  return { id, organization_id, edition_id, kind, payload, resource_ids: listResourceIds(data), created_at: now }
}

type NewEvent = Omit<typeof webhookEvents.$inferSelect, 'seq'>

/**
 * Inserts events with the next numbers of their organizations. A database runs one transaction at a time, so the numbers
 * are in the order of the commits.
 */
export function insertEvents(events: readonly NewEvent[]): SQL[] {
  const rows = events.map((event, index) => JSON.stringify([...eventColumns.map((name) => event[name]), index + 1]))
  const values = sql.raw(eventColumns.map((_, index) => `value ->> ${index}`).join(', '))
  const seq = sql`${selectLastSeq(sql`value ->> ${sql.raw(String(eventColumns.indexOf('organization_id')))}`)}
    + (value ->> ${sql.raw(String(eventColumns.length))})`
  return splitIntoParameters(rows).map(
    (part) => sql`insert into webhook_events (${sql.raw(eventColumns.join(', '))}, seq) select ${values}, ${seq}
      from (select value from json_each(${`[${part.join(',')}]`}) limit -1 offset 0) where true`,
  )
}

const eventColumns = ['id', 'organization_id', 'edition_id', 'kind', 'payload', 'resource_ids', 'created_at'] as const

/** Ids of one statement, far below D1's limit for one bound value. */
const eventsPerStatement = 10_000

const isSubscribed = sql`(webhook_endpoints.edition_id is null or webhook_endpoints.edition_id = events.edition_id)
  and exists (select 1 from json_each(webhook_endpoints.events) where value = events.kind)`

/** SQL makes the ids, because only SQL knows the endpoints: time and cell of the event's id, then 64 random bits. */
const deliveryId = sql`'whd_' || substr(event_id, 5, length(event_id) - 20) || hex(randomblob(8))`

/**
 * Statements that store these events and a delivery for every active endpoint that subscribes to them. Commit them with
 * the change, so that an event is stored exactly if its change is. Their number does not grow with the events.
 */
export function announceAll(job: JobCtx, announcements: readonly Announcement[]): Statement[] {
  if (announcements.length === 0) return []
  const events = announcements.map((announcement) => buildEvent(job, announcement))
  const ids = events.map(({ id }) => id)
  const deliveries: Statement[] = []
  for (let start = 0; start < ids.length; start += eventsPerStatement) {
    const eventIds = ids.slice(start, start + eventsPerStatement)
    deliveries.push(...addAndDeliver(job, { eventIds, isRecipient: isSubscribed, id: deliveryId }))
  }
  return [...insertEvents(events), ...deliveries]
}

export const announce = (job: JobCtx, announcement: Announcement): Statement[] => announceAll(job, [announcement])

/** An event for one endpoint alone, whether it subscribes to it or not. The race is lost if the endpoint was switched off. */
export function announceTo(
  job: JobCtx,
  endpoint: { id: string; breaker_until: number | null },
  announcement: Announcement,
) {
  const event = buildEvent(job, announcement)
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
  const newDeliveries = {
    eventIds: [event.id],
    isRecipient: sql`webhook_endpoints.id = ${endpoint.id}`,
    id: sql`${delivery.id}`,
  }
  const statements = [insert(webhookEvents, event), ...addAndDeliver(job, newDeliveries, [requireOneChange()])]
  return { event, delivery, statements }
}

/** Commits background work with its events. Throws as `commitPart` does. */
export async function commitAnnounced(
  job: JobCtx,
  statements: readonly Statement[],
  announcements: readonly Announcement[],
  uniqueErrors: Readonly<Record<string, () => Error>> = {},
): Promise<void> {
  await commitPart(job, [...statements, ...announceAll(job, announcements)], uniqueErrors)
}
