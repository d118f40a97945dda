import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { areSpans, longestBits } from '../../db/edition-counts.ts'
import { rangeOfTime, type RunPart, type RunRows } from '../../db/lists/runs/open-runs.ts'
import type { AskedOrder, RowsInOrder, RunList, RunOrdering } from '../../db/lists/runs/run-list.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { customerRuns, customerRunStates, lateCustomers } from '../../db/schema/sales/runs.ts'
import { editionCustomers, users } from '../../db/schema/users.ts'
import { shortIdsOf } from '../../db/short-ids.ts'
import { editionsSeenBy, inList } from '../../db/visibility.ts'
import type { Ctx } from '../../context.ts'
import type { OrderBy } from '../../domain/page.ts'
import { type EditionFilters, organizationOf } from './conditions.ts'
import { ranges } from './spans.ts'
import type { CustomerOrder } from './starts.ts'

/** One who was erased has an id for a number. */
const hasNumber = sql`users.phone_number < 'usr_'`
const someOf = (isSome: SQL): SQL => sql`iif(${isSome}, 'some', 'none')`

const flags = ['none', 'some']

const facets = [
  { column: someOf(sql`users.email is not null`), values: flags },
  {
    column: sql`case when users.phone_number is null then 'none' when ${hasNumber} then 'some' else 'erased' end`,
    values: [...flags, 'erased'],
  },
  { column: someOf(sql`users.last_seen_at is not null`), values: flags },
] as const

const number: RunOrdering = { name: 'number', value: null }
const joined: RunOrdering = { name: 'joined', value: sql`users.created_at` }
const email: RunOrdering = { name: 'email', value: sql`users.email`, isText: true, isNullable: true }
const phone: RunOrdering = {
  name: 'phone',
  value: sql`users.phone_number`,
  present: hasNumber,
  isText: true,
  isNullable: true,
  isByCreation: true,
}
const seen: RunOrdering = { name: 'seen', value: sql`users.last_seen_at`, isNullable: true, isByCreation: true }

/** The indexes of customers of an organisation, and in which ranges they have the order. */
const indexesOf: Record<string, { index: SQL; ranges?: Ranges }> = {
  joined: { index: sql`users_order_created`, ranges: ranges.all },
  email: { index: sql`users_by_email` },
  phone: { index: sql`users_order_phone` },
  seen: { index: sql`users_order_seen` },
}

const customersOf = (edition: SQL): SQL =>
  sql`(select coalesce(sum(customers), 0) from order_counts where ${areSpans(longestBits, edition)})`

/**
 * The index of the organisation has customers in their order. Where the edition has few of them, they are read for each chunk
 * and sorted.
 */
async function inOrder(db: Database, { id, ordering, rows }: AskedOrder): Promise<RowsInOrder> {
  const index = indexesOf[ordering.name]
  const own = sql`edition_customers.edition_short_id = ${id}`
  const sorted = {
    from: sql`edition_customers cross join users on users.seq = edition_customers.user_seq`,
    where: [own],
  }
  if (!index) return sorted
  const sizes = await db.first(sql<{ own: number; all: number }>`select
      ${customersOf(sql`editions.id`)} as own, coalesce(list_sizes.customers, 0) as "all"
    from editions left join list_sizes on list_sizes.organization_id = editions.organization_id
    where editions.short_id = ${id}`)
  if (!sizes || sizes.own * Math.ceil(sizes.own / rows) <= sizes.all) return sorted
  return {
    from: sql`users indexed by ${index.index}
      cross join edition_customers on edition_customers.user_seq = users.seq and ${own}`,
    where: [sql`${organizationOf} = (select substr(organization_id, -8) from editions where short_id = ${id})`],
    ranges: index.ranges,
  }
}

export const customerRunList: RunList = {
  table: sql`${editionCustomers}`,
  joins: (how) => sql`${how} ${users} on ${users.seq} = ${editionCustomers.user_seq}`,
  runs: customerRuns,
  states: customerRunStates,
  late: sql`${lateCustomers}`,
  scope: 'edition_short_id',
  scopesOf: (editions) => shortIdsOf(editions),
  key: 'user_seq',
  createdAt: sql`${users.created_at}`,
  facets,
  young: {
    column: 'user_seq',
    horizon: (id) => sql`(select coalesce(max(user_seq), 0) + 1 from edition_customers where edition_short_id = ${id})`,
  },
  byCreation: null,
  orderings: [number, joined, email, phone, seen],
  inOrder,
  arePersonal: true,
}

/** Customers with some facets in an order, behind those before them in the list. */
const part = (prefix: RunPart['prefix'], ordering: RunOrdering, ...asked: (string | undefined)[]): RunPart => ({
  sources: [{ ordering, facets: asked }],
  prefix,
})

const partsOf: Record<CustomerOrder, RunRows['parts']> = {
  date_joined: [part([], joined)],
  email: [part([0], email), part([1], number, 'none')],
  phone_number: [part([0], phone), part([1, 0], joined, undefined, 'none'), part([2, 0], joined, undefined, 'erased')],
  last_seen: [part([0], seen), part([1, 0], joined, undefined, undefined, 'none')],
}

/** The customers of an edition, in an order that has runs, for callers who see them whole. */
export function rowsInRuns(
  ctx: Ctx,
  filters: EditionFilters,
  [by = { name: 'date_joined', desc: true }, ...others]: readonly OrderBy<CustomerOrder>[],
): RunRows | null {
  if (others.length > 0 || filters.search) return null
  return {
    list: customerRunList,
    editions: editionsSeenBy(ctx.caller, filters),
    ...rangeOfTime(undefined, undefined),
    parts: partsOf[by.name],
    isDesc: by.desc,
  }
}

/** Fewer customers are read and sorted. */
export const fewestInEdition = 150

/** Editions of these organisations with so many customers have runs from now on. */
export const beginRuns = (organizations: readonly string[], fewest: number): SQL =>
  sql`insert into customer_run_states (edition_short_id)
    select short_id from editions
    where ${inList(sql`organization_id`, organizations)} and ${customersOf(sql`editions.id`)} >= ${fewest}
      and not exists (select 1 from customer_run_states where edition_short_id = short_id)`
