import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { webhookEvents } from '../../db/schema/webhooks.ts'
import { insert } from '../../db/write.ts'
import { toIso } from '../../domain/instants.ts'
import type { EventKind } from '../../domain/webhooks.ts'
import { checkedData, type EventData } from './payload-contract.ts'
import { ringDue } from './ring.ts'

interface Announcement<Kind extends EventKind> {
  kind: Kind
  organization_id: string
  edition_id: string | null
  data: EventData<Kind>
}

/** The body that every endpoint receives, and the event's row. */
function eventOf<Kind extends EventKind>(ctx: Ctx, event: Announcement<Kind>) {
  const now = ctx.now()
  const id = ctx.newId('webhook_event')
  const { kind, organization_id, edition_id } = event
  const payload = JSON.stringify({
    id,
    type: kind,
    created: toIso(now),
    api_version: 'v1',
    organization_id,
    edition_id,
    data: checkedData(kind, event.data),
  })
  return { id, organization_id, edition_id, kind, payload, created_at: now }
}

const deliveriesTo = (ctx: Ctx, event: { id: string; kind: string }, endpoints: SQL): SQL => {
  const now = ctx.now()
  // The rows are known to SQL alone, so it makes their ids: a ULID's time and 64 random bits in hexadecimal.
  const id = sql`'whd_' || substr(${event.id}, 5, 10) || hex(randomblob(8))`
  return sql`insert into webhook_deliveries (id, endpoint_id, event_id, kind, status, next_retry_at, created_at, modified_at)
    select ${id}, id, ${event.id}, ${event.kind}, 'pending', max(${now}, coalesce(breaker_until, 0)), ${now}, ${now}
    from webhook_endpoints where ${endpoints} on conflict do nothing`
}

/**
 * Statements that tell every subscribed, active endpoint of an event, for the transaction of the change that caused
 * it: the event happened exactly if the change did.
 */
export function announce<Kind extends EventKind>(ctx: Ctx, announcement: Announcement<Kind>): Statement[] {
  const event = eventOf(ctx, announcement)
  ctx.afterCommit(() => ringDue(ctx, [event.id]))
  const { organization_id, edition_id, kind } = event
  return [
    insert(webhookEvents, event),
    deliveriesTo(
      ctx,
      event,
      sql`organization_id = ${organization_id} and is_active = 1
        and (edition_id is null or edition_id = ${edition_id})
        and exists (select 1 from json_each(webhook_endpoints.events) where value = ${kind})`,
    ),
  ]
}

/** As `announce`, for one endpoint alone, whatever it subscribes to. */
export function announceTo<Kind extends EventKind>(
  ctx: Ctx,
  endpointId: string,
  announcement: Announcement<Kind>,
): { statements: Statement[]; eventId: string } {
  const event = eventOf(ctx, announcement)
  ctx.afterCommit(() => ringDue(ctx, [event.id]))
  return {
    eventId: event.id,
    statements: [insert(webhookEvents, event), deliveriesTo(ctx, event, sql`id = ${endpointId}`)],
  }
}
