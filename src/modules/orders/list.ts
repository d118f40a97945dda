import { eq, gte, lte, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsDigits, containsFolded, containsFoldedOrDigits } from '../../db/contains.ts'
import { nullable, type Owners, paginate, type SortKey } from '../../db/paginate.ts'
import { paginateNewest, paginateSearch } from '../../db/search/paginate-search.ts'
import { editions } from '../../db/schema/editions.ts'
import { orders, transactions } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import { type RowOf, select } from '../../db/select.ts'
import { type CustomerView, customerFields, customersSeenBy, givenSearch } from '../../db/customer-visibility.ts'
import { visibilityOf, visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import type { OrderStatus, orderTypes } from '../../domain/orders/orders.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { editionSummaryFields } from '../editions/index.ts'
import { searchOf } from './search.ts'

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

const listFields = (view: CustomerView) => ({
  ...orderFields(view),
  items_count: orders.items_count,
  has_payment: orders.has_payment,
})

export type ShownOrderRow = RowOf<ReturnType<typeof orderFields>>
export type OrderListRow = RowOf<ReturnType<typeof listFields>>

export interface OrderFilters {
  edition_id?: string | undefined
  organization_id?: string | undefined
  customer_id?: string | undefined
  transaction_id?: string | undefined
  order_number?: string | undefined
  external_id?: string | undefined
  customer_email?: string | undefined
  customer_phone?: string | undefined
  search?: string | undefined
  status?: OrderStatus | undefined
  type?: (typeof orderTypes)[number] | undefined
  created_after?: number | undefined
  created_before?: number | undefined
}

export const orderVisibility = visibilityOf(sql`${orders.organization_id}`, sql`${orders.edition_id}`)

const ofCustomer = (view: CustomerView, own: SQL, ofGiven: SQL): SQL =>
  sql`exists (select 1 from users ${view.join} where ${users.id} = ${orders.user_id} and ${view.matches(own, ofGiven)})`

/** An order's text with its customer's, of which hidden parts find nothing. */
export function containsText(view: CustomerView, text: string): SQL {
  const whole = containsFoldedOrDigits(sql`${orders.search}`, text)
  if (view.isWhole) return whole
  const given = containsFoldedOrDigits(givenSearch('email_folded', 'phone_digits'), text)
  return sql`(${containsFoldedOrDigits(sql`${orders.search_own}`, text)} or ${ofCustomer(view, whole, given)})`
}

type OrderCondition = (value: string, view: CustomerView) => SQL

const textFilters = {
  transaction_id: (id) =>
    eq(orders.id, select({ order_id: transactions.order_id }).from(transactions).where(eq(transactions.id, id))),
  order_number: (text) => containsFolded(sql`${orders.number_folded}`, text),
  customer_email: (text, view) =>
    ofCustomer(
      view,
      containsFolded(sql`${users.email_folded}`, text),
      containsFolded(givenSearch('email_folded'), text),
    ),
  customer_phone: (text, view) =>
    ofCustomer(
      view,
      containsDigits(sql`${users.phone_digits}`, text),
      containsDigits(givenSearch('phone_digits'), text),
    ),
  search: (text, view) => containsText(view, text),
} satisfies Record<string, OrderCondition>

/** A list of an organisation alone is read as those of its editions. */
const isOfEditions = ({ organization_id, edition_id, customer_id, external_id }: OrderFilters): boolean =>
  !!organization_id && !edition_id && !customer_id && !external_id

const editionVisibility = visibilityOf(sql`${editions.organization_id}`, sql`${editions.id}`)

function ownersOf(ctx: Ctx, filters: OrderFilters, ordering: readonly unknown[]): Owners | undefined {
  if (!isOfEditions(filters)) return undefined
  const ids = sql`select ${editions.id} as id from ${editions}
    where ${editions.organization_id} = ${filters.organization_id} and ${visibleIn(ctx.caller, editionVisibility, filters)}`
  // Each index has one column and the time of creation.
  return { column: sql`${orders.edition_id}`, ids, isOrdered: ordering.length <= 1 }
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
        and edition_id in (select id from editions where ${sql.join(ofEditions, sql` and `)}))`,
      ...byCustomer,
    ]
  return [
    ...(edition_id ? [eq(orders.edition_id, edition_id)] : []),
    ...(organization_id && !isOfEditions(filters) ? [eq(orders.organization_id, organization_id)] : []),
    ...byCustomer,
    ...(external_id ? [eq(orders.external_id, external_id)] : []),
  ]
}

function conditions(ctx: Ctx, view: CustomerView, filters: OrderFilters): SQL[] {
  if (!filters.edition_id && !filters.organization_id && !filters.customer_id)
    throw invalid(
      parameterError(null, 'required_filter', 'Give at least one of edition_id, organization_id, customer_id.'),
    )
  const texts = (Object.keys(textFilters) as (keyof typeof textFilters)[]).flatMap((name) => {
    const value = filters[name]
    return value === undefined ? [] : [textFilters[name](value, view)]
  })
  const { status, type, created_after, created_before } = filters
  return [
    ...scopes(filters),
    ...texts,
    ...(status ? [eq(orders.status, status)] : []),
    ...(type ? [eq(orders.type, type)] : []),
    ...(created_after === undefined ? [] : [gte(orders.created_at, created_after)]),
    ...(created_before === undefined ? [] : [lte(orders.created_at, created_before)]),
    visibleIn(ctx.caller, orderVisibility, filters),
  ]
}

const sortKeys = {
  created: sql`${orders.created_at}`,
  modified: sql`${orders.modified_at}`,
  order_number: nullable(sql`${orders.number_key}`, { indexed: true }),
  status: sql`${orders.status}`,
  type: sql`${orders.type}`,
  amount: sql`${orders.amount_minor}`,
}

/** Orders that compare equal follow the time of creation, as the indexes do. */
function sortOf(ordering: readonly OrderBy<keyof typeof sortKeys>[]) {
  const sort = sortBy<keyof typeof sortKeys, SortKey['by']>(ordering, '-created', sortKeys)
  return sort.some(({ by }) => by === sortKeys.created)
    ? sort
    : [...sort, { by: sortKeys.created, desc: sort.at(-1)?.desc ?? true }]
}

export function listOrders(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof sortKeys>[],
  filters: OrderFilters,
): Promise<Page<OrderListRow>> {
  const view = customersSeenBy(ctx.caller)
  const source = {
    table: sql`${orders}`,
    tableJoins: sql``,
    key: sql`${orders.seq}`,
    where: conditions(ctx, view, filters),
    owners: ownersOf(ctx, filters, ordering),
    sort: sortOf(ordering),
    columns: listFields(view),
    joins: sql`join ${orders} on ${orders.seq} = page.key join ${users} on ${users.id} = ${orders.user_id}
      ${view.join} join ${editions} on ${editions.id} = ${orders.edition_id}`,
  }
  const search = searchOf(filters, visibleIn(ctx.caller, editionVisibility, filters))
  if (search === null) return paginate(ctx.db, page, { ...source, from: source.table })
  if (search !== 'short') return paginateSearch(ctx.db, page, source, search)
  const newest = [...scopes(filters), visibleIn(ctx.caller, orderVisibility, filters)]
  return paginateNewest(ctx.db, page, source, { ...source, from: source.table, where: newest, sort: sortOf([]) })
}
