import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { webhookEndpoints } from '../../db/schema/webhooks.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { dayMs } from '../../domain/time/instants.ts'
import { deliveryLifecycle, type DeliveryStatus, ratedDeliveries } from '../../domain/webhooks/webhooks.ts'
import type { WebhookQuery } from './contract.ts'
import { endpointColumns, type EndpointRow, endpointVisibility } from './queries.ts'

const filters: FilterTable<WebhookQuery> = {
  organization_id: equals(webhookEndpoints.organization_id),
  edition_id: equals(webhookEndpoints.edition_id),
  is_active: equals(webhookEndpoints.is_active),
}

const sortColumns = {
  created: sql`${webhookEndpoints.created_at}`,
  modified: sql`${webhookEndpoints.modified_at}`,
  name: sql`${webhookEndpoints.name_key}`,
}

export type RatedEndpointRow = EndpointRow & { success_rate: number | null }

/**
 * The share of successes of an endpoint since then. Deliveries of an edition that the endpoint has left do not count,
 * because its roles do not see them.
 */
const computeSuccessRate = (since: number) =>
  sql<number | null>`(select round(avg(status = ${'success' satisfies DeliveryStatus}), 4)
    from (select status, edition_id from webhook_deliveries indexed by webhook_deliveries_of_endpoint
      where endpoint_id = ${webhookEndpoints.id} and created_at >= ${since}
      order by created_at desc, id desc limit ${ratedDeliveries}) as latest
    where status <> ${deliveryLifecycle.initial}
      and (${webhookEndpoints.edition_id} is null or latest.edition_id = ${webhookEndpoints.edition_id}))`

export const listWebhooks = (ctx: Ctx, page: PageRequest, query: WebhookQuery): Promise<Page<RatedEndpointRow>> =>
  paginate(ctx.db, page, {
    from: sql`${webhookEndpoints}`,
    where: [isVisibleIn(ctx.caller, endpointVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${webhookEndpoints.id}`,
    columns: { ...endpointColumns, success_rate: computeSuccessRate(ctx.now() - dayMs) },
    joins: sql`join ${webhookEndpoints} on ${webhookEndpoints.id} = page.id`,
  })
