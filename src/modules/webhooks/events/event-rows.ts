import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import type { webhookEvents } from '../../../db/schema/webhooks.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { listResourceIds } from '../../../domain/webhooks/event-resources.ts'
import type { EventKind } from '../../../domain/webhooks/webhooks.ts'
import { addToQueue, type NewDeliveries } from '../delivery/new-deliveries.ts'
import { selectLastSeq } from './feed.ts'
import { checkData, type EventData } from './payload-contract.ts'

interface AnnouncementOf<Kind extends EventKind> {
  kind: Kind
  organization_id: string
  edition_id: string | null
  data: EventData<Kind>
  /**
   * Names what happened, for a source that reports it more than once. Of events with the same key only the first is
   * stored.
   */
  dedup_key?: string
}

export type Announcement = { [Kind in EventKind]: AnnouncementOf<Kind> }[EventKind]

type NewEvent = Omit<typeof webhookEvents.$inferSelect, 'seq' | 'dedup_key'> & { dedup_key?: string | null }

/** The body that every endpoint receives, and the event's row. */
export function buildEvent(job: JobCtx, announcement: Announcement): NewEvent {
  const now = job.now()
  const id = job.newId('webhook_event')
  const { kind, organization_id, edition_id, data, dedup_key = null } = announcement
  const payload = JSON.stringify({
    id,
    type: kind,
    created: toIso(now),
    api_version: 'v1',
    organization_id,
    edition_id,
    data: checkData(kind, data),
  })
  const resource_ids = listResourceIds(data)
  return { id, organization_id, edition_id, kind, payload, resource_ids, dedup_key, created_at: now }
}

const isSubscribed = sql`(webhook_endpoints.edition_id is null or webhook_endpoints.edition_id = events.edition_id)
  and exists (select 1 from json_each(webhook_endpoints.events) where value = events.kind)`

/** SQL makes the ids, because only SQL knows the endpoints: time and cell of the event's id, then 64 random bits. */
const deliveryId = sql`'whd_' || substr(event_id, 5, length(event_id) - 20) || hex(randomblob(8))`

/** Deliveries to every active endpoint that subscribes to the events. */
export const buildNewDeliveries = (eventIds: readonly string[]): NewDeliveries => ({
  eventIds,
  isRecipient: isSubscribed,
  id: deliveryId,
})

const eventColumns = [
  'id',
  'organization_id',
  'edition_id',
  'kind',
  'payload',
  'resource_ids',
  'dedup_key',
  'created_at',
] as const

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
      from (select value from json_each(${`[${part.join(',')}]`}) limit -1 offset 0) where true on conflict do nothing`,
  )
}

/**
 * Like `announce`, but never posts from a request. The code that posts announces with it, because `announce` needs that
 * code.
 */
export function announceByQueue(job: JobCtx, announcement: Announcement): Statement[] {
  const event = buildEvent(job, announcement)
  return [...insertEvents([event]), addToQueue(job, buildNewDeliveries([event.id]))]
}
