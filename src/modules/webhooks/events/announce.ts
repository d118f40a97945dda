import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange, commitPart } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { webhookEvents } from '../../../db/schema/webhooks.ts'
import { insert } from '../../../db/write.ts'
import { deliveryLifecycle } from '../../../domain/webhooks/webhooks.ts'
import { addAndDeliver } from '../delivery/add-deliveries.ts'
import { type Announcement, buildEvent, buildNewDeliveries, insertEvents } from './event-rows.ts'

/** Ids of one statement, far below D1's limit for one bound value. */
const eventsPerStatement = 10_000

/**
 * Statements that store these events and a delivery for every active endpoint that subscribes to them. Commit them with
 * the change, so that an event is stored exactly if its change is. Their number does not grow with the events.
 */
export function announceAll(job: JobCtx, announcements: readonly Announcement[]): Statement[] {
  if (announcements.length === 0) return []
  const events = announcements.map((announcement) => buildEvent(job, announcement))
  const ids = events.map(({ id }) => id)
  const deliveries: Statement[] = []
  for (let start = 0; start < ids.length; start += eventsPerStatement)
    deliveries.push(...addAndDeliver(job, buildNewDeliveries(ids.slice(start, start + eventsPerStatement))))
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
