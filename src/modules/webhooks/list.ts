import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { webhookEndpoints } from '../../db/schema/webhooks.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
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

export const listWebhooks = (ctx: Ctx, page: PageRequest, query: WebhookQuery): Promise<Page<EndpointRow>> =>
  paginate(ctx.db, page, {
    from: sql`${webhookEndpoints}`,
    where: [isVisibleIn(ctx.caller, endpointVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${webhookEndpoints.id}`,
    columns: endpointColumns,
    joins: sql`join ${webhookEndpoints} on ${webhookEndpoints.id} = page.id`,
  })
