import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { buildConditions, equals, type FilterTable, isBefore, isFrom } from '../../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, paginate } from '../../../db/paginate.ts'
import { webhookEvents } from '../../../db/schema/webhooks.ts'
import { type RowOf, selectValues } from '../../../db/select.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import { admins, mayAt } from '../../../domain/accounts/access.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { chooseOrganization } from '../queries.ts'
import type { EventQuery } from './feed-contract.ts'
import {
  eventsExpired,
  eventsInOrder,
  eventVisibility,
  isAbout,
  isReadable,
  parseCursor,
  selectExpiredSeq,
} from './feed.ts'

/** The columns that a client sees. */
const eventColumns = {
  id: webhookEvents.id,
  kind: webhookEvents.kind,
  organization_id: webhookEvents.organization_id,
  edition_id: webhookEvents.edition_id,
  created_at: webhookEvents.created_at,
  seq: sql<number>`${webhookEvents.seq}`,
  payload: webhookEvents.payload,
}

export type EventRow = RowOf<typeof eventColumns>

/** Filters that the list and the stream have in common. */
export const eventFilters: FilterTable<Omit<EventQuery, 'organization_id' | 'after' | 'created_before'>> = {
  edition_id: equals(webhookEvents.edition_id),
  kind: (kinds) => inList(sql`${webhookEvents.kind}`, kinds),
  resource_id: isAbout,
  created_after: isFrom(webhookEvents.created_at),
}

const filters: FilterTable<Omit<EventQuery, 'organization_id' | 'after'>> = {
  ...eventFilters,
  created_before: isBefore(webhookEvents.created_at),
}

/**
 * One page of the events of an organization, the first commit first. Throws `events_expired` if events behind the page's
 * beginning were deleted before a client read them.
 */
export async function listWebhookEvents(ctx: Ctx, page: PageRequest, query: EventQuery): Promise<Page<EventRow>> {
  const organizationId = chooseOrganization(ctx.caller, query.organization_id)
  const after = query.after === undefined ? null : parseCursor(organizationId, query.after, 'after')
  const orderBy = buildOrderBy(query.ordering, 'cursor', { cursor: sql`${webhookEvents.seq}` })
  const events = await paginate(ctx.db, page, {
    from: eventsInOrder,
    where: [
      isReadable(organizationId, after ?? 0),
      isVisibleIn(ctx.caller, eventVisibility, { ...query, organization_id: organizationId }),
      ...buildConditions(filters, query),
    ],
    orderBy,
    id: sql`${webhookEvents.id}`,
    columns: eventColumns,
    joins: sql`join webhook_events on webhook_events.id = page.id`,
    maxOffset: maxIndexedOffset,
  })
  const position = orderBy[0]?.desc ? after : (page.after?.[0] ?? after)
  if (position !== null && (await isExpired(ctx, organizationId, Number(position)))) throw eventsExpired()
  return events
}

/** Call it after reading events, because a sweep may delete some in between. Others' events never expire for a caller. */
async function isExpired(ctx: Ctx, organizationId: string, position: number): Promise<boolean> {
  if (!mayAt(ctx.caller, admins, { organization_id: organizationId, editions: 'any' })) return false
  const expiry = await ctx.db.first(selectValues({ seq: selectExpiredSeq(sql`${organizationId}`) }))
  return Math.max(0, position) < (expiry?.seq ?? 0)
}
