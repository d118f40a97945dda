import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate, type SortKey } from '../../../db/paginate.ts'
import { webhookDeliveries } from '../../../db/schema/webhooks.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import {
  deliveryColumns,
  type DeliveryRow,
  type EndpointRow,
  type LoadedEndpoint,
  matchVisibleDeliveries,
} from '../queries.ts'
import type { DeliveryQuery } from './delivery-contract.ts'

/** `organization_id` and `is_active` are filters on the endpoint, so all of its deliveries match or none. */
const buildFilters = (endpoint: EndpointRow): FilterTable<DeliveryQuery> => ({
  status: equals(webhookDeliveries.status),
  edition_id: equals(webhookDeliveries.edition_id),
  organization_id: (id) => (id === endpoint.organization_id ? sql`1` : sql`0`),
  is_active: (isActive) => (isActive === endpoint.is_active ? sql`1` : sql`0`),
})

const sortColumns = {
  created: sql`webhook_deliveries.created_at`,
  modified: sql`webhook_deliveries.modified_at`,
  name: sql`webhook_deliveries.kind`,
}

export const listWebhookDeliveries = (
  ctx: Ctx,
  page: PageRequest,
  query: DeliveryQuery,
  endpoint: LoadedEndpoint,
): Promise<Page<DeliveryRow>> =>
  paginate(ctx.db, page, {
    from: sql`webhook_deliveries indexed by webhook_deliveries_of_endpoint`,
    where: [
      sql`webhook_deliveries.endpoint_id = ${endpoint.id}`,
      matchVisibleDeliveries(ctx, endpoint),
      ...buildConditions(buildFilters(endpoint), query),
    ],
    orderBy: breakTiesByCreation(buildOrderBy(query.ordering, '-created', sortColumns)),
    id: sql`webhook_deliveries.id`,
    columns: deliveryColumns,
    joins: sql`join webhook_deliveries on webhook_deliveries.id = page.id`,
    maxOffset: query.ordering.every(({ name }) => name === 'created') ? maxIndexedOffset : maxSortedOffset,
  })

/** Sorts deliveries of the same kind by creation. */
function breakTiesByCreation(keys: SortKey[]): SortKey[] {
  const last = keys.at(-1)
  return last?.column === sortColumns.name ? [...keys, { column: sortColumns.created, desc: last.desc }] : keys
}
