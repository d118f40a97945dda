import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { OutageRow } from '../../db/outages.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../../db/schema/webhooks.ts'
import { fromJson, jsonFlag, select } from '../../db/select.ts'
import { buildVisibility, isVisibleIn, isVisibleTo, listReachedOrganizations } from '../../db/visibility.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import { type Caller, mayAt, roleCodes, type Tenant } from '../../domain/accounts/access.ts'
import { invalid, notFound, parameterError } from '../../domain/errors.ts'
import { heldReason, isHeld, noWait, type Wait } from '../../domain/waiting.ts'
import type { LoggedAttempt } from '../../domain/webhooks/webhooks.ts'
import { isWaiting } from './delivery/claim.ts'
import { maxListedAttempts } from './delivery/delivery-contract.ts'

export type EndpointRow = typeof webhookEndpoints.$inferSelect
export type LoadedEndpoint = EndpointRow & { tenant: Tenant }
export type DeliveryRow = Omit<typeof webhookDeliveries.$inferSelect, 'last_attempt'>

export interface DeliveryDetailRow extends DeliveryRow {
  payload: string
  attempt_log: readonly LoggedAttempt[]
}

export interface LoadedDelivery extends DeliveryDetailRow {
  tenant: Tenant
  endpoint: Pick<EndpointRow, 'is_active'>
}

export const endpointColumns = getTableColumns(webhookEndpoints)
const { last_attempt, ...deliveryColumns } = getTableColumns(webhookDeliveries)
export { deliveryColumns }

export const endpointVisibility = buildVisibility(
  sql`${webhookEndpoints.organization_id}`,
  sql`${webhookEndpoints.edition_id}`,
)
const deliveryVisibility = buildVisibility(
  sql`${webhookEndpoints.organization_id}`,
  sql`${webhookDeliveries.edition_id}`,
)

export const getEndpointTenant = (endpoint: { organization_id: string; edition_id: string | null }): Tenant => ({
  organization_id: endpoint.organization_id,
  editions: endpoint.edition_id === null ? [] : [endpoint.edition_id],
})

/** The reason why deliveries of an endpoint wait. While the breaker is open only manual retries are attempted. */
export function getEndpointWait(endpoint: EndpointRow, { config }: Pick<Ctx, 'config'>): Wait {
  const { is_active, failing_reason, failing_since, next_attempt_at, breaker_until } = endpoint
  if (!is_active) return noWait
  if (isHeld(config)) return { waiting_reason: heldReason, waiting_since: failing_since, next_attempt_at: null }
  if (failing_since === null) return noWait
  const attemptAt = next_attempt_at === null ? breaker_until : Math.max(next_attempt_at, breaker_until ?? 0)
  return { waiting_reason: failing_reason, waiting_since: failing_since, next_attempt_at: attemptAt }
}

/** The organization in the request, or the only one of the caller. */
export function chooseOrganization(caller: Caller, requestedId: string | undefined): string {
  const [onlyId, ...others] = listReachedOrganizations(caller) ?? []
  const organizationId = requestedId ?? (others.length === 0 ? onlyId : undefined)
  if (organizationId === undefined)
    throw invalid(parameterError('organization_id', 'required', 'This parameter is required.'))
  return organizationId
}

export async function findEndpoint(ctx: Ctx, id: string): Promise<LoadedEndpoint> {
  const row = await ctx.db.first(
    select(endpointColumns)
      .from(webhookEndpoints)
      .where(and(eq(endpointColumns.id, id), isVisibleTo(ctx.caller, endpointVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: getEndpointTenant(row) }
}

/**
 * Matches the deliveries of an endpoint that the caller may see. An endpoint that was moved keeps deliveries about
 * customers of its earlier edition, whom roles of the new edition may not see.
 */
export const matchEndpointDeliveries = (ctx: Ctx, endpoint: EndpointRow): SQL =>
  sql`endpoint_id = ${endpoint.id} and ${matchVisibleDeliveries(ctx, endpoint)}`

export const matchVisibleDeliveries = (ctx: Ctx, { organization_id }: Pick<EndpointRow, 'organization_id'>): SQL =>
  isVisibleIn(ctx.caller, buildVisibility(sql`${organization_id}`, sql`${webhookDeliveries.edition_id}`), {
    organization_id,
  })

/** The latest attempts of a delivery. */
const attempts = fromJson<LoggedAttempt[]>(sql`(select json_group_array(json(entry)) from (
    select number, json_object('number', number, 'started_at', started_at, 'duration_ms', duration_ms,
      'status_code', status_code, 'error', error, 'is_manual', ${jsonFlag(sql`is_manual`)},
      'next_retry_at', next_retry_at, 'next_reason', next_reason, 'response_text', response_text) as entry
    from webhook_attempts where delivery_id = ${webhookDeliveries.id}
    union all
    select ${last_attempt} ->> 'number', ${last_attempt} where ${last_attempt} is not null
    order by 1 desc limit ${maxListedAttempts}))`)

export async function findDelivery(ctx: Ctx, endpointId: string, id: string): Promise<LoadedDelivery> {
  const row = await ctx.db.first(
    select({
      ...deliveryColumns,
      payload: webhookEvents.payload,
      organization_id: webhookEndpoints.organization_id,
      endpoint_edition_id: webhookEndpoints.edition_id,
      is_active: webhookEndpoints.is_active,
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
  const { organization_id, endpoint_edition_id, is_active, attempt_log, ...delivery } = row
  return {
    ...delivery,
    attempt_log: attempt_log.toSorted((a, b) => a.number - b.number),
    tenant: getEndpointTenant({ organization_id, edition_id: endpoint_edition_id }),
    endpoint: { is_active },
  }
}

/** Throws unless the operation's roles cover the edition of the delivery, which the endpoint may have left. */
export function requireDeliveryRole({ caller }: Ctx, delivery: LoadedDelivery): LoadedDelivery {
  const { edition_id, tenant } = delivery
  const place = getEndpointTenant({ organization_id: tenant.organization_id, edition_id })
  if (!mayAt(caller, caller.acting_roles ?? roleCodes, place)) throw notFound()
  return delivery
}

const outagesAtOnce = 200

/** Selects the endpoints whose breaker has opened, so that their deliveries wait. */
export const selectEndpointWaits: SQL<OutageRow> = sql`select 'webhook' as service, id as resource_id,
    coalesce(failing_reason, '') as reason, failing_since as since, breaker_until as next_attempt_at
  from webhook_endpoints indexed by webhook_endpoints_failing
  where failing_since is not null and breaker_until is not null and is_active = 1
  order by failing_since limit ${outagesAtOnce}`

export const selectDeliveryWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'webhook_deliveries',
    from: sql`webhook_deliveries indexed by webhook_deliveries_due`,
    where: isWaiting,
    dueAt: sql`next_retry_at`,
  })
