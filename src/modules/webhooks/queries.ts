import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../../db/schema/messaging/webhooks.ts'
import { fromJson, jsonFlag, select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo, isVisibleIn } from '../../db/visibility.ts'
import { mayAt, roleCodes, type Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { type LoggedAttempt } from '../../domain/webhooks/webhooks.ts'
import type { WebhookFilters, WebhookOrdering } from './contract.ts'
import { attemptsShown } from './delivery/delivery-contract.ts'

export type EndpointRow = typeof webhookEndpoints.$inferSelect
export type LoadedEndpoint = EndpointRow & { tenant: Tenant }
export type DeliveryRow = Omit<typeof webhookDeliveries.$inferSelect, 'last_attempt'>

export interface DeliveryDetailRow extends DeliveryRow {
  payload: string
  attempt_log: readonly LoggedAttempt[]
}

export interface LoadedDelivery extends DeliveryDetailRow {
  tenant: Tenant
  endpoint: Pick<EndpointRow, 'is_active' | 'breaker_until' | 'is_slow'>
}

const endpointColumns = getTableColumns(webhookEndpoints)
const { last_attempt, ...deliveryColumns } = getTableColumns(webhookDeliveries)
export { deliveryColumns }

const endpointVisibility = buildVisibility(
  sql`${webhookEndpoints.organization_id}`,
  sql`${webhookEndpoints.edition_id}`,
)
const deliveryVisibility = buildVisibility(
  sql`${webhookEndpoints.organization_id}`,
  sql`${webhookDeliveries.edition_id}`,
)

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
  const { id, name, created_at, modified_at } = endpointColumns
  return paginate(ctx.db, page, {
    from: sql`${webhookEndpoints}`,
    id: sql`${id}`,
    where: [
      isVisibleIn(ctx.caller, endpointVisibility, filters),
      ...(organization_id ? [eq(endpointColumns.organization_id, organization_id)] : []),
      ...(edition_id ? [eq(endpointColumns.edition_id, edition_id)] : []),
      ...(is_active === undefined ? [] : [eq(endpointColumns.is_active, is_active)]),
    ],
    orderBy: buildOrderBy(ordering, '-created', {
      created: sql`${created_at}`,
      modified: sql`${modified_at}`,
      name: sql`${name}`,
    }),
    columns: endpointColumns,
    joins: sql`join ${webhookEndpoints} on ${id} = page.id`,
  })
}

export async function findEndpoint(ctx: Ctx, id: string): Promise<LoadedEndpoint> {
  const row = await ctx.db.first(
    select(endpointColumns)
      .from(webhookEndpoints)
      .where(and(eq(endpointColumns.id, id), isVisibleTo(ctx.caller, endpointVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: tenantOf(row) }
}

/**
 * The deliveries of an endpoint that the caller may see. An endpoint that was moved to another edition keeps its
 * earlier deliveries. These contain customers of the earlier edition, whom roles of the new edition may not see.
 */
export const reachedDeliveries = (ctx: Ctx, endpoint: EndpointRow): SQL =>
  sql`endpoint_id = ${endpoint.id} and ${seenDeliveries(ctx, endpoint)}`

export const seenDeliveries = (ctx: Ctx, { organization_id }: EndpointRow): SQL =>
  isVisibleIn(ctx.caller, buildVisibility(sql`${organization_id}`, sql`${webhookDeliveries.edition_id}`), {
    organization_id,
  })

/** The last attempts of a delivery, newest first. */
const attempts = fromJson<LoggedAttempt[]>(sql`(select json_group_array(json(entry)) from (
    select number, json_object('number', number, 'started_at', started_at, 'duration_ms', duration_ms,
      'status_code', status_code, 'error', error, 'is_manual', ${jsonFlag(sql`is_manual`)},
      'next_retry_at', next_retry_at, 'next_reason', next_reason, 'response_text', response_text) as entry
    from webhook_attempts where delivery_id = ${webhookDeliveries.id}
    union all
    select ${last_attempt} ->> 'number', ${last_attempt} where ${last_attempt} is not null
    order by 1 desc limit ${attemptsShown}))`)

export async function findDelivery(ctx: Ctx, endpointId: string, id: string): Promise<LoadedDelivery> {
  const row = await ctx.db.first(
    select({
      ...deliveryColumns,
      payload: webhookEvents.payload,
      organization_id: webhookEndpoints.organization_id,
      endpoint_edition_id: webhookEndpoints.edition_id,
      is_active: webhookEndpoints.is_active,
      breaker_until: webhookEndpoints.breaker_until,
      is_slow: webhookEndpoints.is_slow,
      attempt_log: attempts,
    })
      .from(webhookDeliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpoint_id))
      .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.event_id))
      .where(
        and(
          eq(webhookDeliveries.id, id),
          eq(webhookDeliveries.endpoint_id, endpointId),
          isVisibleTo(ctx.caller, endpointVisibility),
          isVisibleTo(ctx.caller, deliveryVisibility),
        ),
      ),
  )
  if (!row) throw notFound()
  const { organization_id, endpoint_edition_id, is_active, breaker_until, is_slow, attempt_log, ...delivery } = row
  return {
    ...delivery,
    attempt_log: attempt_log.toSorted((a, b) => a.number - b.number),
    tenant: tenantOf({ organization_id, edition_id: endpoint_edition_id }),
    endpoint: { is_active, breaker_until, is_slow },
  }
}

/**
 * The delivery, unless the caller reaches its edition through other roles than those of the operation: the endpoint may
 * have been moved since.
 */
export function requireReached({ caller }: Ctx, delivery: LoadedDelivery): LoadedDelivery {
  const { edition_id, tenant } = delivery
  const place = tenantOf({ organization_id: tenant.organization_id, edition_id })
  if (!mayAt(caller, caller.acting_roles ?? roleCodes, place)) throw notFound()
  return delivery
}
