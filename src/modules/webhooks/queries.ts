import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { SortKey } from '../../db/lists/list-source.ts'
import { isFarPage } from '../../db/lists/page-by-number.ts'
import { paginate } from '../../db/lists/paginate.ts'
import type { SpannedRows } from '../../db/lists/spans/count-spans.ts'
import { bySpans } from '../../db/lists/spans/start-of-spans.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../../db/schema/messaging/webhooks.ts'
import { fromJson, jsonFlag, select } from '../../db/select.ts'
import {
  inList,
  inWords,
  seesOrganization,
  type Visibility,
  visibilityOf,
  visible,
  visibleIn,
} from '../../db/visibility.ts'
import { reachOf, type Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import {
  type DeliveryStatus,
  eventKindNames,
  type LoggedAttempt,
  lostStatuses,
  openStatuses,
} from '../../domain/webhooks/webhooks.ts'
import type { WebhookFilters, WebhookOrdering } from './contract.ts'
import { deliverySpans, rangesOfKinds } from './delivery-spans.ts'
import { openOf } from './delivery/open-deliveries.ts'
import { attemptsShown, type DeliveryFilters, type DeliveryQuery } from './delivery/delivery-contract.ts'
import { readers } from './endpoint-contract.ts'
import { nearLastChanges } from './last-changed.ts'

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

const tenantIn = (table: typeof webhookEndpoints | typeof webhookEvents): Visibility =>
  visibilityOf(sql`${table.organization_id}`, sql`${table.edition_id}`)

const endpointVisibility = tenantIn(webhookEndpoints)

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
    key: sql`${id}`,
    where: [
      visibleIn(ctx.caller, endpointVisibility, filters, readers),
      ...(organization_id ? [eq(endpointColumns.organization_id, organization_id)] : []),
      ...(edition_id ? [eq(endpointColumns.edition_id, edition_id)] : []),
      ...(is_active === undefined ? [] : [eq(endpointColumns.is_active, is_active)]),
    ],
    sort: sortBy(ordering, '-created', {
      created: sql`${created_at}`,
      modified: sql`${modified_at}`,
      name: sql`${name}`,
    }),
    columns: endpointColumns,
    joins: sql`join ${webhookEndpoints} on ${id} = page.key`,
  })
}

export async function findEndpoint(ctx: Ctx, id: string): Promise<LoadedEndpoint> {
  const row = await ctx.db.first(
    select(endpointColumns)
      .from(webhookEndpoints)
      .where(and(eq(endpointColumns.id, id), visible(ctx.caller, endpointVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: tenantOf(row) }
}

const eventWhere = (condition: SQL): SQL =>
  sql`exists (select 1 from webhook_events where webhook_events.id = webhook_deliveries.event_id and ${condition})`

const eventVisibility: Visibility = {
  inOrganizations: (ids) => eventWhere(inList(sql`${webhookEvents.organization_id}`, ids)),
  inEditions: (ids) => eventWhere(inList(sql`${webhookEvents.edition_id}`, ids)),
}

/**
 * The deliveries of an endpoint that the caller may see. An endpoint that was moved to another edition keeps its
 * earlier deliveries. These contain customers of the earlier edition, whom roles of the new edition may not see.
 */
export const reachedDeliveries = (ctx: Ctx, endpoint: EndpointRow): SQL =>
  sql`endpoint_id = ${endpoint.id} and ${seenDeliveries(ctx, endpoint)}`

const seenDeliveries = (ctx: Ctx, { organization_id }: EndpointRow): SQL =>
  visibleIn(ctx.caller, eventVisibility, { organization_id })

const matchesFilters = (endpoint: EndpointRow, { organization_id, is_active }: DeliveryFilters): boolean =>
  (organization_id === undefined || organization_id === endpoint.organization_id) &&
  (is_active === undefined || is_active === endpoint.is_active)

/**
 * Deliveries of the endpoint. Where few can be of the status, the condition names those, so that no other is read: an
 * endpoint beside their ids would lead to the index of all its deliveries.
 */
function areOf({ id }: EndpointRow, status: DeliveryStatus | undefined): SQL {
  const areAll = sql`${deliveryColumns.endpoint_id} = ${id}`
  if (status === undefined) return areAll
  const isThis = sql`${deliveryColumns.status} = ${status}`
  if (lostStatuses.includes(status))
    return sql`${areAll} and ${isThis} and ${inWords(sql`${deliveryColumns.status}`, lostStatuses)}`
  if (openStatuses.includes(status))
    return sql`${isThis} and ${deliveryColumns.id} in (${openOf(sql`endpoint_id = ${id}`)})`
  return sql`${areAll} and ${isThis}`
}

/** The editions whose deliveries are listed; undefined for all. */
function editionsOf(ctx: Ctx, { organization_id }: EndpointRow, asked: string | undefined): (string | undefined)[] {
  if (seesOrganization(ctx.caller, organization_id)) return [asked]
  const reach = reachOf(ctx.caller)
  const seen = reach.all ? [] : reach.editions.flatMap((grant) => grant.edition_id ?? [])
  return asked === undefined ? seen : seen.filter((id) => id === asked)
}

function countedOf(ctx: Ctx, endpoint: EndpointRow, filters: DeliveryFilters, where: readonly SQL[]): SpannedRows {
  const { status, edition_id } = filters
  return {
    scopes: sql`select ${endpoint.id}`,
    facets: matchesFilters(endpoint, filters)
      ? editionsOf(ctx, endpoint, edition_id).map((edition) => [status, edition])
      : [],
    where: [...where, ...(status ? [eq(deliveryColumns.status, status)] : [])],
  }
}

const sortKeys = {
  created: deliverySpans.key,
  modified: sql`${deliveryColumns.modified_at}`,
  name: { listed: sql`${deliveryColumns.kind}`, values: eventKindNames.toSorted() },
}

/** Deliveries of one kind follow the time of creation, as the indexes do. */
function sortOf(ordering: DeliveryQuery['ordering']): SortKey[] {
  const sort: SortKey[] = sortBy<keyof typeof sortKeys, SortKey['by']>(ordering, '-created', sortKeys)
  const last = sort.at(-1)
  return last?.by === sortKeys.name ? [...sort, { by: sortKeys.created, desc: last.desc }] : sort
}

/** A list in one order alone, and not of open deliveries, which are named by their ids. */
const isBy = (name: keyof typeof sortKeys, { ordering, status }: Pick<DeliveryQuery, 'ordering' | 'status'>): boolean =>
  (ordering[0]?.name ?? 'created') === name && ordering.length <= 1 && !(status && openStatuses.includes(status))

export function listDeliveries(
  ctx: Ctx,
  endpoint: EndpointRow,
  page: PageRequest,
  query: DeliveryQuery,
): Promise<Page<DeliveryRow>> {
  const { ordering, ...filters } = query
  const { status, edition_id } = filters
  const where = [
    matchesFilters(endpoint, filters) ? seenDeliveries(ctx, endpoint) : sql`0`,
    ...(edition_id ? [eventWhere(eq(webhookEvents.edition_id, edition_id))] : []),
  ]
  const sort = sortOf(ordering)
  const listed = [...where, areOf(endpoint, status)]
  const isByChange = isBy('modified', query) && !isFarPage(page)
  return paginate(ctx.db, page, {
    from: isByChange ? nearLastChanges(page, ordering[0]?.desc === true, listed) : sql`${webhookDeliveries}`,
    key: sql`${deliveryColumns.id}`,
    where: isByChange ? [] : listed,
    // In the order of creation the kinds are merged.
    ranges: isBy('created', query) ? rangesOfKinds : undefined,
    sort,
    columns: deliveryColumns,
    joins: sql`join ${webhookDeliveries} on ${deliveryColumns.id} = page.key`,
    read: isByChange ? undefined : { table: sql`${webhookDeliveries}`, joins: sql`` },
    ...bySpans(deliverySpans, countedOf(ctx, endpoint, filters, where), sort),
  })
}

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
      edition_id: webhookEndpoints.edition_id,
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
          visible(ctx.caller, endpointVisibility),
          visible(ctx.caller, tenantIn(webhookEvents)),
        ),
      ),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id, is_active, breaker_until, is_slow, attempt_log, ...delivery } = row
  return {
    ...delivery,
    attempt_log: attempt_log.toSorted((a, b) => a.number - b.number),
    tenant: tenantOf({ organization_id, edition_id }),
    endpoint: { is_active, breaker_until, is_slow },
  }
}
