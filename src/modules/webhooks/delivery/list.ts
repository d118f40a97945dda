import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, equals, type FilterTable, isBefore, isFrom } from '../../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate, type SortKey } from '../../../db/paginate.ts'
import { webhookDeliveries, webhookEndpoints } from '../../../db/schema/webhooks.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { eventsInOrder, isAbout } from '../events/feed.ts'
import {
  chooseOrganization,
  deliveryColumns,
  type DeliveryRow,
  endpointVisibility,
  type LoadedEndpoint,
  matchVisibleDeliveries,
} from '../queries.ts'
import type { DeliveryQuery, OrganizationDeliveryQuery } from './delivery-contract.ts'

/** Filters that both lists have. */
const buildFilters = (organizationId: string): FilterTable<Omit<DeliveryQuery, 'organization_id' | 'is_active'>> => ({
  status: equals(webhookDeliveries.status),
  event: equals(webhookDeliveries.kind),
  response_status_code: equals(webhookDeliveries.response_status_code),
  edition_id: equals(webhookDeliveries.edition_id),
  resource_id: (id) => sql`${webhookDeliveries.event_id} in (select id from ${eventsInOrder}
    where organization_id = ${organizationId} and seq is not null and ${isAbout(id)})`,
  created_after: isFrom(webhookDeliveries.created_at),
  created_before: isBefore(webhookDeliveries.created_at),
})

const sortColumns = {
  created: sql`webhook_deliveries.created_at`,
  modified: sql`webhook_deliveries.modified_at`,
  name: sql`webhook_deliveries.kind`,
}

/** The index of the lists does not have the events, and few events are about one resource. */
const chooseIndex = ({ resource_id }: Pick<DeliveryQuery, 'resource_id'>): SQL =>
  resource_id === undefined
    ? sql`webhook_deliveries indexed by webhook_deliveries_of_endpoint`
    : sql`webhook_deliveries`

const isSortedByCreation = ({ ordering }: Pick<DeliveryQuery, 'ordering'>): boolean =>
  ordering.every(({ name }) => name === 'created')

export const listWebhookDeliveries = (
  ctx: Ctx,
  page: PageRequest,
  query: DeliveryQuery,
  endpoint: LoadedEndpoint,
): Promise<Page<DeliveryRow>> =>
  paginate(ctx.db, page, {
    from: chooseIndex(query),
    where: [
      sql`webhook_deliveries.endpoint_id = ${endpoint.id}`,
      matchVisibleDeliveries(ctx, endpoint),
      ...buildConditions<DeliveryQuery>(
        {
          ...buildFilters(endpoint.organization_id),
          // Filters on the endpoint: all of its deliveries match, or none.
          organization_id: (id) => (id === endpoint.organization_id ? sql`1` : sql`0`),
          is_active: (isActive) => (isActive === endpoint.is_active ? sql`1` : sql`0`),
        },
        query,
      ),
    ],
    orderBy: breakTiesByCreation(buildOrderBy(query.ordering, '-created', sortColumns)),
    id: sql`webhook_deliveries.id`,
    columns: deliveryColumns,
    joins: sql`join webhook_deliveries on webhook_deliveries.id = page.id`,
    maxOffset: isSortedByCreation(query) ? maxIndexedOffset : maxSortedOffset,
  })

/** The endpoints of an organization are few, so their deliveries are read endpoint by endpoint and sorted. */
export function listOrganizationWebhookDeliveries(
  ctx: Ctx,
  page: PageRequest,
  query: OrganizationDeliveryQuery,
): Promise<Page<DeliveryRow>> {
  const organization_id = chooseOrganization(ctx.caller, query.organization_id)
  const isVisible = isVisibleIn(ctx.caller, endpointVisibility, { organization_id })
  const endpoints = sql`select id from ${webhookEndpoints}
    where ${webhookEndpoints.organization_id} = ${organization_id} and ${isVisible}`
  const isOfEndpoint =
    query.endpoint_id === undefined
      ? sql`webhook_deliveries.endpoint_id in (${endpoints})`
      : sql`webhook_deliveries.endpoint_id = ${query.endpoint_id} and ${query.endpoint_id} in (${endpoints})`
  return paginate(ctx.db, page, {
    from: chooseIndex(query),
    where: [
      isOfEndpoint,
      matchVisibleDeliveries(ctx, { organization_id }),
      ...buildConditions(buildFilters(organization_id), query),
    ],
    orderBy: breakTiesByCreation(buildOrderBy(query.ordering, '-created', sortColumns)),
    id: sql`webhook_deliveries.id`,
    columns: deliveryColumns,
    joins: sql`join webhook_deliveries on webhook_deliveries.id = page.id`,
  })
}

/** Sorts deliveries of the same kind by creation. */
function breakTiesByCreation(keys: SortKey[]): SortKey[] {
  const last = keys.at(-1)
  return last?.column === sortColumns.name ? [...keys, { column: sortColumns.created, desc: last.desc }] : keys
}
