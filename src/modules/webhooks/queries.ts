import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { webhookAttempts, webhookDeliveries, webhookEndpoints } from '../../db/schema/webhooks.ts'
import { inList, type Visibility, visibilityOf, visible, visibleIn } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { WebhookFilters, WebhookOrdering } from './contract.ts'
import { attemptsShown, type DeliveryFilters, type DeliveryQuery } from './delivery-contract.ts'
import { readers } from './endpoint-contract.ts'

export type EndpointRow = typeof webhookEndpoints.$inferSelect
export type LoadedEndpoint = EndpointRow & { tenant: Tenant }
export type DeliveryRow = typeof webhookDeliveries.$inferSelect
type AttemptRow = Omit<typeof webhookAttempts.$inferSelect, 'delivery_id'>

export interface DeliveryDetailRow extends DeliveryRow {
  payload: string
  attempt_log: readonly AttemptRow[]
}

export interface LoadedDelivery extends DeliveryDetailRow {
  tenant: Tenant
  endpoint: { is_active: number; breaker_until: number | null; is_slow: number }
}

const endpointVisibility = visibilityOf(sql`webhook_endpoints.organization_id`, sql`webhook_endpoints.edition_id`)

export const tenantOf = (endpoint: { organization_id: string; edition_id: string | null }): Tenant => ({
  organization_id: endpoint.organization_id,
  editions: endpoint.edition_id === null ? [] : [endpoint.edition_id],
})

export function listEndpoints(
  ctx: Ctx,
  page: PageRequest,
  ordering: WebhookOrdering,
  filters: WebhookFilters,
): Promise<Page<EndpointRow>> {
  const { organization_id, edition_id, is_active } = filters
  return paginate<EndpointRow>(ctx.db, page, {
    from: sql`webhook_endpoints`,
    key: sql`id`,
    where: [
      visibleIn(ctx.caller, endpointVisibility, filters, readers),
      ...(organization_id ? [sql`organization_id = ${organization_id}`] : []),
      ...(edition_id ? [sql`edition_id = ${edition_id}`] : []),
      ...(is_active === undefined ? [] : [sql`is_active = ${Number(is_active)}`]),
    ],
    sort: sortBy(ordering, '-created', { created: sql`created_at`, modified: sql`modified_at`, name: sql`name` }),
    columns: sql`webhook_endpoints.*`,
    joins: sql`join webhook_endpoints on webhook_endpoints.id = page.key`,
  })
}

export async function findEndpoint(ctx: Ctx, id: string): Promise<LoadedEndpoint> {
  const row = await ctx.db.first(
    sql<EndpointRow>`select * from webhook_endpoints where id = ${id} and ${visible(ctx.caller, endpointVisibility)}`,
  )
  if (!row) throw notFound()
  return { ...row, tenant: tenantOf(row) }
}

const eventWhere = (condition: SQL): SQL =>
  sql`exists (select 1 from webhook_events where webhook_events.id = webhook_deliveries.event_id and ${condition})`

const eventVisibility: Visibility = {
  inOrganizations: (ids) => eventWhere(inList(sql`webhook_events.organization_id`, ids)),
  inEditions: (ids) => eventWhere(inList(sql`webhook_events.edition_id`, ids)),
}

/**
 * Which deliveries of an endpoint the caller reaches. One that was moved keeps those of the place it came from: they
 * contain people there, whom the roles of its new edition may not see.
 */
export const reachedDeliveries = (ctx: Ctx, endpoint: EndpointRow): SQL =>
  sql`endpoint_id = ${endpoint.id} and ${visibleIn(ctx.caller, eventVisibility, { organization_id: endpoint.organization_id })}`

const matchesFilters = (endpoint: EndpointRow, { organization_id, is_active }: DeliveryFilters): boolean =>
  (organization_id === undefined || organization_id === endpoint.organization_id) &&
  (is_active === undefined || is_active === (endpoint.is_active === 1))

export const listDeliveries = (
  ctx: Ctx,
  endpoint: EndpointRow,
  page: PageRequest,
  { ordering, ...filters }: DeliveryQuery,
): Promise<Page<DeliveryRow>> =>
  paginate<DeliveryRow>(ctx.db, page, {
    from: sql`webhook_deliveries`,
    key: sql`id`,
    where: [
      matchesFilters(endpoint, filters) ? reachedDeliveries(ctx, endpoint) : sql`0`,
      ...(filters.status ? [sql`status = ${filters.status}`] : []),
      ...(filters.edition_id ? [eventWhere(sql`webhook_events.edition_id = ${filters.edition_id}`)] : []),
    ],
    sort: sortBy(ordering, '-created', { created: sql`created_at`, modified: sql`modified_at`, name: sql`kind` }),
    columns: sql`webhook_deliveries.*`,
    joins: sql`join webhook_deliveries on webhook_deliveries.id = page.key`,
  })

interface FoundDelivery extends DeliveryRow {
  payload: string
  attempt_log: string
  organization_id: string
  edition_id: string | null
  is_active: number
  breaker_until: number | null
  is_slow: number
}

export async function findDelivery(ctx: Ctx, endpointId: string, id: string): Promise<LoadedDelivery> {
  const row = await ctx.db.first(sql<FoundDelivery>`select webhook_deliveries.*, webhook_events.payload,
      webhook_endpoints.organization_id, webhook_endpoints.edition_id, webhook_endpoints.is_active,
      webhook_endpoints.breaker_until, webhook_endpoints.is_slow,
      (select json_group_array(json_object('number', number, 'started_at', started_at, 'duration_ms', duration_ms,
        'status_code', status_code, 'error', error, 'is_manual', is_manual, 'next_retry_at', next_retry_at,
        'next_reason', next_reason, 'response_text', response_text))
        from (select * from webhook_attempts where delivery_id = webhook_deliveries.id
          order by number desc limit ${attemptsShown})) as attempt_log
    from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = webhook_deliveries.endpoint_id
      join webhook_events on webhook_events.id = webhook_deliveries.event_id
    where webhook_deliveries.id = ${id} and webhook_deliveries.endpoint_id = ${endpointId}
      and ${visible(ctx.caller, endpointVisibility)}
      and ${visible(ctx.caller, visibilityOf(sql`webhook_events.organization_id`, sql`webhook_events.edition_id`))}`)
  if (!row) throw notFound()
  const { organization_id, edition_id, is_active, breaker_until, is_slow, attempt_log, ...delivery } = row
  return {
    ...delivery,
    attempt_log: (JSON.parse(attempt_log) as AttemptRow[]).toSorted((a, b) => a.number - b.number),
    tenant: tenantOf({ organization_id, edition_id }),
    endpoint: { is_active, breaker_until, is_slow },
  }
}
