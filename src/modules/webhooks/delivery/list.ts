import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate, type SortKey } from '../../../db/paginate.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { deliveryColumns, type DeliveryRow, type EndpointRow, matchVisibleDeliveries } from '../queries.ts'
import type { DeliveryQuery } from './delivery-contract.ts'

const columns = {
  created: sql`webhook_deliveries.created_at`,
  modified: sql`webhook_deliveries.modified_at`,
  name: sql`webhook_deliveries.kind`,
}

export async function listDeliveries(
  ctx: Ctx,
  endpoint: EndpointRow,
  page: PageRequest,
  query: DeliveryQuery,
): Promise<Page<DeliveryRow>> {
  const { ordering, status, edition_id, organization_id, is_active } = query
  const matchesEndpoint =
    (organization_id === undefined || organization_id === endpoint.organization_id) &&
    (is_active === undefined || is_active === endpoint.is_active)
  return paginate(ctx.db, page, {
    from: sql`webhook_deliveries indexed by webhook_deliveries_of_endpoint`,
    where: [
      sql`webhook_deliveries.endpoint_id = ${endpoint.id}`,
      matchVisibleDeliveries(ctx, endpoint),
      matchesEndpoint ? sql`1` : sql`0`,
      status === undefined ? sql`1` : sql`webhook_deliveries.status = ${status}`,
      edition_id === undefined ? sql`1` : sql`webhook_deliveries.edition_id = ${edition_id}`,
    ],
    orderBy: breakTiesByCreation(buildOrderBy(ordering, '-created', columns)),
    id: sql`webhook_deliveries.id`,
    columns: deliveryColumns,
    joins: sql`join webhook_deliveries on webhook_deliveries.id = page.id`,
    maxOffset: ordering.every(({ name }) => name === 'created') ? maxIndexedOffset : maxSortedOffset,
  })
}

/** Sorts deliveries of the same kind by creation. */
function breakTiesByCreation(keys: SortKey[]): SortKey[] {
  const last = keys.at(-1)
  return last?.column === columns.name ? [...keys, { column: columns.created, desc: last.desc }] : keys
}
