import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import type { NoFilters } from '../../../db/lists/filters.ts'
import type { ListSource, OldSortKey } from '../../../db/lists/list-source.ts'
import { isFarPage, type PageStart } from '../../../db/lists/page-by-number.ts'
import { paginate } from '../../../db/lists/paginate.ts'
import { areThere, type SpannedRows } from '../../../db/lists/spans/count-spans.ts'
import { bySpans } from '../../../db/lists/spans/start-of-spans.ts'
import { webhookDeliveries, webhookEvents } from '../../../db/schema/messaging/webhooks.ts'
import { actingReach, inWords, seesOrganization } from '../../../db/visibility.ts'
import { type Page, type PageRequest, sortBy } from '../../../domain/page.ts'
import { type DeliveryStatus, eventKindNames, lostStatuses, openStatuses } from '../../../domain/webhooks/webhooks.ts'
import type { DeliveryQuery } from '../delivery/delivery-contract.ts'
import { openOf } from '../delivery/open-deliveries.ts'
import { deliveryColumns, type DeliveryRow, type EndpointRow, eventWhere, seenDeliveries } from '../queries.ts'
import { nearPage, nearStart } from './last-changed.ts'
import { areFew, type DeliveriesOfEditions, isLost, lostOfEditions, packedPage } from './of-editions.ts'
import { deliverySpans, rangesOfKinds } from './spans.ts'
import { type CountedDeliveries, startOfChanges, startOfKinds } from './starts.ts'

const matchesFilters = (
  endpoint: EndpointRow,
  { organization_id, is_active }: Pick<DeliveryQuery, 'organization_id' | 'is_active'>,
): boolean =>
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

/** The editions whose deliveries are listed, each once; undefined for all. */
function editionsOf(
  ctx: Ctx,
  { organization_id }: EndpointRow,
  asked: string | undefined,
): readonly string[] | undefined {
  if (seesOrganization(ctx.caller, organization_id)) return asked === undefined ? undefined : [asked]
  const reach = actingReach(ctx.caller)
  const seen = new Set(reach.all ? [] : reach.editions.flatMap((grant) => grant.edition_id ?? []))
  return [...seen].filter((id) => asked === undefined || id === asked)
}

const countedOf = ({ endpoint, status, editions }: CountedDeliveries, where: readonly SQL[]): SpannedRows => ({
  scopes: endpoint,
  facets: (editions ?? [undefined]).map((edition) => [status, edition]),
  where: [...where, ...(status ? [eq(deliveryColumns.status, status)] : [])],
})

const sortKeys = {
  created: deliverySpans.key,
  modified: sql`${deliveryColumns.modified_at}`,
  name: { listed: sql`${deliveryColumns.kind}`, values: eventKindNames.toSorted() },
}

/** Deliveries of one kind follow the time of creation, as the indexes do. */
function sortOf(ordering: DeliveryQuery['ordering']): OldSortKey[] {
  const sort: OldSortKey[] = sortBy<keyof typeof sortKeys, OldSortKey['by']>(ordering, '-created', sortKeys)
  const last = sort.at(-1)
  return last?.by === sortKeys.name ? [...sort, { by: sortKeys.created, desc: last.desc }] : sort
}

/** A list in one order alone, and not of open deliveries, which are named by their ids. */
const isBy = (name: keyof typeof sortKeys, { ordering, status }: Pick<DeliveryQuery, 'ordering' | 'status'>): boolean =>
  (ordering[0]?.name ?? 'created') === name && ordering.length <= 1 && !(status && openStatuses.includes(status))

const kinds = sortKeys.name.values

interface CountedList {
  rows: CountedDeliveries
  /** All conditions of the list. */
  where: readonly SQL[]
  /** Whether there are rows, where it is not sure. */
  some: SQL | undefined
}

/** Of some editions a row that is passed is read with its event, and those of others beside it: intervals lead to nearer pages, too. */
const ledBy = (
  { editions }: CountedDeliveries,
  find: (skipped: number) => Promise<PageStart | null>,
): Pick<ListSource, 'startOf' | 'findStart'> => (editions ? { startOf: find } : { findStart: find })

/** Deliveries in the order of their last changes, which one index has alone for those that are lost. */
async function listByChange(
  ctx: Ctx,
  page: PageRequest,
  { rows, where, some }: CountedList,
): Promise<Pick<ListSource, 'from' | 'where' | 'index' | 'startOf' | 'findStart'>> {
  const from = sql`${webhookDeliveries}`
  const findStart = (skipped: number) => startOfChanges(ctx.db, rows, skipped)
  if (rows.status && lostStatuses.includes(rows.status))
    return { from, where, index: sql`webhook_deliveries_lost_by_change`, ...ledBy(rows, findStart) }
  if (!isFarPage(page)) return { from: nearPage(page, { desc: rows.desc, where, some }), where: [] }
  const start = await findStart((page.page - 1) * page.size)
  if (!start) return { from, where }
  return { from: nearStart(page, start, { desc: rows.desc, where, some }), where: [], startOf: () => start }
}

/** What depends on the order of a list. */
async function inOrder(
  ctx: Ctx,
  page: PageRequest,
  { query, ...counted }: CountedList & { query: DeliveryQuery },
): Promise<Pick<ListSource, 'from' | 'where' | 'read' | 'index' | 'ranges' | 'startOf' | 'findStart'>> {
  const { rows, where } = counted
  const from = sql`${webhookDeliveries}`
  const all = { from, where, read: { table: from, joins: sql`` } }
  if (isBy('modified', query)) return listByChange(ctx, page, counted)
  // In the order of creation the kinds are merged.
  if (isBy('created', query)) return { ...all, ranges: rangesOfKinds }
  if (!isBy('name', query)) return all
  const inTurn = rows.desc ? kinds.toReversed() : kinds
  return { ...all, ...ledBy(rows, (skipped) => startOfKinds(ctx.db, { ...rows, kinds: inTurn }, skipped)) }
}

/** Deliveries of few editions, of which those that are open are few among all. */
function ofFewEditions({ ordering, status }: DeliveryQuery, rows: CountedDeliveries): DeliveriesOfEditions | null {
  const { editions } = rows
  const order = (['created', 'modified', 'name'] as const).find((name) => isBy(name, { ordering, status }))
  return order && editions && areFew(editions) ? { ...rows, editions, order } : null
}

export async function listDeliveries(
  ctx: Ctx,
  endpoint: EndpointRow,
  page: PageRequest,
  query: DeliveryQuery,
): Promise<Page<DeliveryRow>> {
  const { ordering, status, edition_id, organization_id, is_active, ...unnamed } = query
  unnamed satisfies NoFilters
  const where = [
    seenDeliveries(ctx, endpoint),
    ...(edition_id ? [eventWhere(eq(webhookEvents.edition_id, edition_id))] : []),
  ]
  const sort = sortOf(ordering)
  const editions = editionsOf(ctx, endpoint, edition_id)
  const rows = { endpoint: endpoint.id, status, editions, desc: sort[0]?.desc === true }
  const counted = countedOf(rows, where)
  const shown = {
    key: sql`${deliveryColumns.id}`,
    columns: deliveryColumns,
    joins: sql`join ${webhookDeliveries} on ${deliveryColumns.id} = page.key`,
  }
  if (editions?.length === 0 || !matchesFilters(endpoint, { organization_id, is_active }))
    return paginate(ctx.db, page, { ...shown, from: sql`${webhookDeliveries}`, where: [sql`0`], sort, count: 0 })
  const spanned = bySpans(deliverySpans, counted, sort)
  const few = ofFewEditions(query, rows)
  const packed =
    few && !isLost(status)
      ? await packedPage(ctx.db, {
          request: page,
          rows: few,
          counted,
          source: { ...shown, count: spanned.count ?? null },
        })
      : null
  if (packed) return packed
  const some = editions && areThere(deliverySpans, counted)
  const all = { query, rows, where: [...where, areOf(endpoint, status)], some }
  return paginate(ctx.db, page, {
    ...shown,
    sort,
    ...spanned,
    ...(await inOrder(ctx, page, all)),
    ...(few && isLost(status) && lostOfEditions(few, status)),
    some,
  })
}
