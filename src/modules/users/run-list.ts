import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { countCustomers } from '../../db/edition-counts.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import type { AskedOrder, RowsInOrder, RunList, RunOrdering } from '../../db/lists/runs/run-list.ts'
import type { RunPart, RunSource, SeenAs } from '../../db/lists/runs/run-rows.ts'
import type { Facets } from '../../db/lists/spans/spanned-list.ts'
import { customerRuns, customerRunStates, lateCustomers } from '../../db/schema/sales/runs.ts'
import { editionCustomers, users } from '../../db/schema/users.ts'
import { shortIdsOf } from '../../db/short-ids.ts'
import { organizationOf } from './conditions.ts'
import { ranges } from './spans.ts'

/** One who was erased has an id for a number. */
const hasNumber = sql`users.phone_number < 'usr_'`
/** Another edition of the customer: roles of the edition see what this one was given alone. */
const beside = sql`left join edition_customers as beside on beside.user_seq = edition_customers.user_seq
  and beside.edition_short_id = (select edition_short_id from edition_customers as others
    where others.user_seq = edition_customers.user_seq and others.edition_short_id <> edition_customers.edition_short_id limit 1)`
const isHidden = sql`(beside.user_seq is not null)`
const given = {
  email: sql`nullif(edition_customers.email, '')`,
  phone: sql`nullif(edition_customers.phone_number, '')`,
}

const flags = ['none', 'some']
const someOf = (isSome: SQL) => ({ column: sql`iif(${isSome}, 'some', 'none')`, values: flags })
/** Whether roles of the edition are shown a value. */
const shownOf = (isOwn: SQL, isGiven: SQL) => someOf(sql`iif(${isHidden}, ${isGiven}, ${isOwn})`)

const facets = [
  someOf(sql`users.email is not null`),
  {
    column: sql`case when users.phone_number is null then 'none' when ${hasNumber} then 'some' else 'erased' end`,
    values: [...flags, 'erased'],
  },
  someOf(sql`users.last_seen_at is not null`),
  { column: sql`iif(edition_customers.created_at = users.created_at, 'same', 'other')`, values: ['same', 'other'] },
  { column: sql`iif(${isHidden}, 'hidden', 'whole')`, values: ['whole', 'hidden'] },
  shownOf(sql`users.email is not null`, sql`${given.email} is not null`),
  shownOf(sql`coalesce(${hasNumber}, 0)`, sql`${given.phone} is not null`),
  shownOf(sql`users.last_seen_at is not null`, sql`0`),
] as const

/** Whether customers joined the edition at another moment than the organisation, and whether others have them: places of facets. */
export const facetNumbers = { joined: 3, hidden: 4 } as const

/** The facets of a list by their names. */
export interface AskedKinds {
  email?: 'none'
  phone?: 'none' | 'erased'
  seen?: 'none' | 'some'
  joined?: 'same'
  hidden?: 'whole' | 'hidden'
  shownEmail?: 'none' | 'some'
  shownPhone?: 'none' | 'some'
  shownSeen?: 'none'
}
export const facetsOf = ({
  email: mail,
  phone: tel,
  seen: visit,
  joined: at,
  hidden,
  ...shown
}: AskedKinds): Facets => [mail, tel, visit, at, hidden, shown.shownEmail, shown.shownPhone, shown.shownSeen]

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

const givenJoined: RunOrdering = {
  name: 'given_joined',
  value: sql`edition_customers.created_at`,
  present: sql`edition_customers.created_at <> users.created_at`,
  isNullable: true,
}
const givenOrdering = (name: string, value: SQL): RunOrdering => ({
  name,
  value,
  present: sql`${isHidden} and ${value} is not null`,
  isText: true,
  isNullable: true,
})
const givenEmail = givenOrdering('given_email', given.email)
const givenPhone = givenOrdering('given_phone', given.phone)

/** The orders of customers, and of what editions were given of them. */
export const orders = { number, joined, email, phone, seen, givenJoined, givenEmail, givenPhone }

/** The indexes of customers of an organisation, and in which ranges they have the order. */
const indexesOf: Record<string, { index: SQL; ranges?: Ranges }> = {
  joined: { index: sql`users_order_created`, ranges: ranges.all },
  email: { index: sql`users_by_email` },
  phone: { index: sql`users_order_phone` },
  seen: { index: sql`users_order_seen` },
}

/** Of customers who are sorted, so many chunks are made at once. */
const chunksSorted = 4

export const customersOf = (edition: SQL): SQL => countCustomers(sql`select ${edition} as id`)

/**
 * The index of the organisation has customers in their order. Where the edition has few of them, they are all
 * read and sorted for each four chunks.
 */
async function inOrder(db: Database, { id, ordering, rows }: AskedOrder): Promise<RowsInOrder> {
  const index = indexesOf[ordering.name]
  const own = sql`edition_customers.edition_short_id = ${id}`
  const sorted = {
    from: sql`edition_customers cross join users on users.seq = edition_customers.user_seq ${beside}`,
    where: [own],
    chunks: chunksSorted,
  }
  if (!index) return sorted
  const sizes = await db.first(sql<{ own: number; all: number }>`select
      ${customersOf(sql`editions.id`)} as own, coalesce(list_sizes.customers, 0) as "all"
    from editions left join list_sizes on list_sizes.organization_id = editions.organization_id
    where editions.short_id = ${id}`)
  if (!sizes || sizes.own * Math.ceil(sizes.own / rows / chunksSorted) <= sizes.all) return sorted
  return {
    from: sql`users indexed by ${index.index}
      cross join edition_customers on edition_customers.user_seq = users.seq and ${own} ${beside}`,
    where: [sql`${organizationOf} = (select substr(organization_id, -8) from editions where short_id = ${id})`],
    ranges: index.ranges,
  }
}

/** What owners say: whether they were given a value. */
export const givenFlags = { email: 2, phone: 1 } as const

/** Entries do not say the editions of a customer who is in more. */
const mostOwners = 40

const flagged = (value: SQL, flag: number): SQL => sql`iif(coalesce(${value}, '') <> '', ${sql.raw(String(flag))}, 0)`

/** Those that were given anything last come first, with whether they were given an address, and a number. */
const owners = sql`iif(beside.user_seq is null, '', (
  select iif(count(*) > ${sql.raw(String(mostOwners))}, '', group_concat(known, '')) from (
    select edition_short_id || (${flagged(sql`email`, givenFlags.email)} + ${flagged(sql`phone_number`, givenFlags.phone)}) as known
    from edition_customers as others where others.user_seq = edition_customers.user_seq
    order by created_at desc, edition_short_id limit -1)))`

export const customerRunList: RunList = {
  table: sql`${editionCustomers}`,
  joins: (how) => sql`${how} ${users} on ${users.seq} = ${editionCustomers.user_seq}`,
  beside,
  owners,
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
  orderings: Object.values(orders),
  inOrder,
  arePersonal: true,
}

export const source = (ordering: RunOrdering, asked: AskedKinds = {}, seenAs?: SeenAs): RunSource => ({
  ordering,
  facets: facetsOf(asked),
  seenAs,
})
export const part = (prefix: RunPart['prefix'], ...sources: RunPart['sources']): RunPart => ({ sources, prefix })

/** Fewer customers are read and sorted. */
export const fewestInEdition = 80
