import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsDigits, containsFolded, containsFoldedOrDigits } from '../../db/contains.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import { isFarPage } from '../../db/lists/page-by-number.ts'
import type { Owners } from '../../db/lists/list-source.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { listByRuns } from '../../db/lists/runs/list-by-runs.ts'
import { paginateNewest } from '../../db/lists/paginate-search.ts'
import { ofKinds } from '../../db/order-kinds.ts'
import { transactionWith } from '../../db/refunds.ts'
import { editions } from '../../db/schema/editions.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import type { RowOf } from '../../db/select.ts'
import {
  buildAddressText,
  buildContactText,
  type CustomerView,
  customerFields,
  customersSeenBy,
  madeOfView,
} from '../../db/customer-visibility.ts'
import { shortIdOfEdition, shortIdsOf } from '../../db/short-ids.ts'
import { editionsSeenBy, visibilityOf, visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { editionSummaryFields, editionSummaryIn, shownEdition, shownIn, shownOfEdition } from '../editions/index.ts'
import { countingOf, fewMatch } from './count.ts'
import { behindOrderOfDense } from './dense.ts'
import type { OrderFilters } from './contract.ts'
import type { OrderOrdering } from './filters.ts'
import { indexedKeys, indexOf, sortedKeys, sortKeys, sortOf } from './orderings.ts'
import { rowsInRuns } from './runs.ts'
import { startsOf } from './starts.ts'

/** What each answer about an order shows of it and of its customer. */
export const orderFields = (view: CustomerView) => ({
  id: orders.id,
  order_number: orders.order_number,
  external_id: orders.external_id,
  external_source: orders.external_source,
  type: orders.type,
  status: orders.status,
  amount_minor: orders.amount_minor,
  currency: orders.currency,
  created_at: orders.created_at,
  modified_at: orders.modified_at,
  ...customerFields(view, ['first_name', 'last_name', 'email']),
  ...editionSummaryFields,
})

const listFields = madeOfView((view) => ({
  ...orderFields(view),
  items_count: orders.items_count,
  has_payment: orders.has_payment,
}))

/** Where the page has the edition of its rows. */
const pageFields = madeOfView((view) => ({ ...listFields(view), ...editionSummaryIn }))

export type ShownOrderRow = RowOf<ReturnType<typeof orderFields>>
export type OrderListRow = RowOf<ReturnType<typeof listFields>>

export const orderVisibility = visibilityOf(sql`${orders.organization_id}`, sql`${orders.edition_id}`)

/** Holds for orders whose customer, as the caller sees them, meets a condition. */
const isOfCustomer = (view: CustomerView, condition: SQL): SQL =>
  sql`exists (select 1 from users ${view.join} where ${users.id} = ${orders.user_id} and ${condition})`

/** An order's text with its customer's, as the caller sees both. */
export const containsText = (view: CustomerView, text: string): SQL =>
  sql`(${containsFoldedOrDigits(sql`${orders}.own_search_text`, text)}
    or ${isOfCustomer(view, containsFoldedOrDigits(buildContactText(view.column('search_text')), text))})`

type OrderCondition = (value: string, view: CustomerView) => SQL

/** Two bounds of one kind would leave it to chance which of them an index begins at. */
const createdAt = (isBound: boolean): SQL => (isBound ? sql`+${orders.created_at}` : sql`${orders.created_at}`)

const textFilters = {
  transaction_id: (id) => sql`${orders.id} = (select order_id from ${transactionWith(id)})`,
  order_number: (text) => containsFolded(sql`${orders.number_folded}`, text),
  customer_email: (text, view) =>
    isOfCustomer(view, containsFolded(buildAddressText(view.column('search_text')), text)),
  customer_phone: (text, view) => isOfCustomer(view, containsDigits(view.column('phone_digits'), text)),
  search: (text, view) => containsText(view, text),
} satisfies Record<string, OrderCondition>

/** A list of an organisation alone is read as those of its editions. */
const isOfEditions = ({ organization_id, edition_id, customer_id, external_id }: OrderFilters): boolean =>
  !!organization_id && !edition_id && !customer_id && !external_id

/** What the indexes of an edition begin with. */
const editionOf = sql`${orders}.edition_short_id`

/** The editions of a list, with what is shown of each. */
const shownEditions = (ctx: Ctx, filters: OrderFilters): SQL =>
  shortIdsOf(editionsSeenBy(ctx.caller, filters, shownEdition), sql`, shown`)

/** What a list of an organisation is read by. */
function ownersOf(ctx: Ctx, filters: OrderFilters, isOrdered: boolean): Owners | undefined {
  if (!isOfEditions(filters)) return undefined
  return { column: editionOf, ids: shownEditions(ctx, filters), isOrdered, areShown: true }
}

/**
 * The scopes of a list. An index has the external ids of each edition: looked up first, they are all that is read, so
 * the scopes stand where no index of an order is chosen for them.
 */
function scopes(filters: OrderFilters): SQL[] {
  const { external_id, edition_id, organization_id, customer_id } = filters
  const ofEditions = [
    ...(edition_id ? [eq(editions.id, edition_id)] : []),
    ...(organization_id ? [eq(editions.organization_id, organization_id)] : []),
  ]
  const byCustomer = customer_id ? [eq(orders.user_id, customer_id)] : []
  if (external_id && ofEditions.length)
    return [
      sql`${orders.seq} in (select seq from orders where external_id = ${external_id}
        and edition_short_id in (select short_id from editions where ${sql.join(ofEditions, sql` and `)}))`,
      ...byCustomer,
    ]
  // A plus excludes the indexes of the edition: that of the customer leads to fewer orders.
  const edition = customer_id ? sql`+${editionOf}` : editionOf
  return [
    ...(edition_id ? [sql`${edition} = ${shortIdOfEdition(edition_id)}`] : []),
    ...(organization_id && !isOfEditions(filters) ? [eq(orders.organization_id, organization_id)] : []),
    ...byCustomer,
    ...(external_id ? [eq(orders.external_id, external_id)] : []),
  ]
}

interface Asked {
  view: CustomerView
  filters: OrderFilters
  /** They are found first and sorted then. */
  areFew: boolean
  /** The end of the list from which spans lead to a page: its bound there is not that of an index. */
  beginsAt: 'first' | 'last' | null
}

/** The index that begins with the status and the type leads to few orders of one of them by both. */
function ofKind(filters: OrderFilters, areFew: boolean): SQL[] {
  const { status, type } = filters
  if (areFew) return status || type ? [ofKinds(filters)] : []
  return [...(status ? [eq(orders.status, status)] : []), ...(type ? [eq(orders.type, type)] : [])]
}

function conditions(ctx: Ctx, { view, filters, areFew, beginsAt }: Asked): SQL[] {
  const { edition_id, organization_id, customer_id, external_id, status, type, ...others } = filters
  const { transaction_id, order_number, customer_email, customer_phone, search, ...times } = others
  const { created_after, created_before, ...unnamed } = times
  unnamed satisfies NoFilters
  if (!edition_id && !organization_id && !customer_id)
    throw invalid(
      parameterError(null, 'required_filter', 'Give at least one of edition_id, organization_id, customer_id.'),
    )
  const texts = { transaction_id, order_number, customer_email, customer_phone, search }
  return [
    ...scopes({ edition_id, organization_id, customer_id, external_id }),
    ...(Object.keys(textFilters) as (keyof typeof textFilters)[]).flatMap((name) => {
      const value = texts[name]
      return value === undefined ? [] : [textFilters[name](value, view)]
    }),
    ...ofKind({ status, type }, areFew),
    ...(created_after === undefined ? [] : [sql`${createdAt(beginsAt === 'first')} >= ${created_after}`]),
    ...(created_before === undefined ? [] : [sql`${createdAt(beginsAt === 'last')} <= ${created_before}`]),
    visibleIn(ctx.caller, orderVisibility, filters),
  ]
}

/** What a list shows of its orders. Merged ones have their edition already, and so has a list of one edition. */
function shownOf(view: CustomerView, { edition_id }: OrderFilters, areMerged: boolean, shown?: SQL) {
  const isShown = edition_id !== undefined || areMerged || shown !== undefined
  const joins = sql`join ${users} on ${users.id} = ${orders.user_id} ${view.join}
    ${isShown ? sql`` : sql`join ${editions} on ${editions.id} = ${orders.edition_id}`}`
  return {
    key: sql`${orders.seq}`,
    columns: isShown ? pageFields(view) : listFields(view),
    shown: edition_id === undefined ? shown : shownOfEdition(edition_id),
    joins: sql`join ${orders} on ${orders.seq} = page.key ${joins}`,
    read: { table: sql`${orders}`, joins: sql`cross ${joins}` },
  }
}

export async function listOrders(
  ctx: Ctx,
  request: PageRequest,
  ordering: OrderOrdering,
  filters: OrderFilters,
): Promise<Page<OrderListRow>> {
  const view = customersSeenBy(ctx.caller)
  const counting = countingOf(ctx, filters)
  const inRuns = counting && rowsInRuns(ctx, filters, ordering)
  const sortedSource = () => ({
    ...shownOf(view, filters, false, shownIn(shownEditions(ctx, filters), sql`edition_short_id`)),
    where: conditions(ctx, { view, filters, areFew: true, beginsAt: null }),
    owners: ownersOf(ctx, filters, false),
    sort: sortOf(ordering, sortedKeys),
    from: sql`${orders}`,
    count: counting,
  })
  const ofRuns = inRuns && { rows: inRuns, count: counting.statement, source: sortedSource }
  const byRuns = ofRuns && (await listByRuns(ctx.db, request, ofRuns))
  if (byRuns?.page) return byRuns.page
  const serving = indexOf(filters, ordering)
  const areFew = await fewMatch(ctx, filters, serving)
  const page = await behindOrderOfDense(ctx, byRuns?.request ?? request, { ordering, filters })
  const served = areFew ? null : serving
  const starts = areFew ? {} : startsOf(ctx, filters, ordering)
  const end = (ordering[0]?.desc ?? true) ? 'last' : 'first'
  const owners = ownersOf(ctx, filters, served?.isWhole ?? false)
  const keys = areFew ? sortedKeys : indexedKeys(filters, served?.ranges)
  const source = {
    ...shownOf(view, filters, owners?.isOrdered === true),
    table: sql`${orders}`,
    where: conditions(ctx, { view, filters, areFew, beginsAt: starts.startOf && isFarPage(page) ? end : null }),
    owners,
    ranges: served?.ranges,
    sort: sortOf(ordering, keys),
  }
  if (filters.search && Array.from(filters.search).length < 3) {
    const newest = [...scopes(filters), visibleIn(ctx.caller, orderVisibility, filters)]
    const sort = sortOf([], sortKeys)
    return paginateNewest(ctx.db, page, source, {
      ...source,
      from: source.table,
      where: newest,
      ranges: undefined,
      sort,
    })
  }
  return paginate(ctx.db, page, { ...source, from: source.table, index: served?.index, count: counting, ...starts })
}
