import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireChanges } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { maxMissedEvents } from '../../../domain/webhooks/webhooks.ts'
import { buildNewDeliveries } from '../events/event-rows.ts'
import { selectExpiredSeq } from '../events/feed.ts'
import type { EndpointRow } from '../queries.ts'
import { addAndDeliver } from './add-deliveries.ts'

interface MissedEvents {
  ids: readonly string[]
  hasMore: boolean
}

export const noMissedEvents: MissedEvents = { ids: [], hasMore: false }

/** Finds events of a time that the endpoint subscribes to and has no delivery for, the first commits first. */
export async function findMissedEvents(
  { db }: Ctx,
  endpoint: EndpointRow,
  { since, until }: { since: number; until: number },
): Promise<MissedEvents> {
  const organizationId = sql`${endpoint.organization_id}`
  const rows = await db.all(sql<{ id: string }>`select events.id
    from webhook_events as events indexed by webhook_events_by_commit
    where events.organization_id = ${organizationId} and events.seq > ${selectExpiredSeq(organizationId)}
      and events.created_at >= ${since} and events.created_at <= ${until}
      and ${inList(sql`events.kind`, endpoint.events)}
      and (${endpoint.edition_id} is null or events.edition_id = ${endpoint.edition_id})
      and not exists (select 1 from webhook_deliveries where event_id = events.id and endpoint_id = ${endpoint.id})
    order by events.seq limit ${maxMissedEvents + 1}`)
  return { ids: rows.slice(0, maxMissedEvents).map(({ id }) => id), hasMore: rows.length > maxMissedEvents }
}

/**
 * Statements that add the deliveries of these events. The race is lost if another request has added one of them, or the
 * endpoint no longer subscribes to all of them.
 */
export function addMissedDeliveries(ctx: Ctx, endpoint: EndpointRow, { ids }: MissedEvents): Statement[] {
  if (ids.length === 0) return []
  const deliveries = buildNewDeliveries(ids)
  const isRecipient = sql`webhook_endpoints.id = ${endpoint.id} and ${deliveries.isRecipient}`
  return addAndDeliver(ctx, { ...deliveries, isRecipient }, [requireChanges(ids.length)])
}
