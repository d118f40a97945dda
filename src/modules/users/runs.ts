import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { sumOfEditions } from '../../db/edition-counts.ts'
import { rangeOfTime, type RunPart, type RunRows, type RunSource } from '../../db/lists/runs/open-runs.ts'
import type { AskedOrder, RowsInOrder, RunList, RunOrdering } from '../../db/lists/runs/run-list.ts'
import type { Ranges } from '../../db/lists/ranges.ts'
import { customerRuns, customerRunStates, lateCustomers } from '../../db/schema/sales/runs.ts'
import { editionCustomers, users } from '../../db/schema/users.ts'
import { shortIdsOf } from '../../db/short-ids.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import type { Ctx } from '../../context.ts'
import type { OrderBy } from '../../domain/page.ts'
import type { CustomerView } from '../../db/customer-visibility.ts'
import type { Facets } from '../../db/lists/spans/spanned-list.ts'
import { organizationOf, type UserFilters } from './conditions.ts'
import { ranges } from './spans.ts'
import type { CustomerOrder } from './starts.ts'

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
interface AskedKinds {
  email?: 'none'
  phone?: 'none' | 'erased'
  seen?: 'none' | 'some'
  joined?: 'same'
  hidden?: 'whole' | 'hidden'
  shownEmail?: 'none' | 'some'
  shownPhone?: 'none' | 'some'
  shownSeen?: 'none'
}
const facetsOf = ({ email: mail, phone: tel, seen: visit, joined: at, hidden, ...shown }: AskedKinds): Facets => [
  mail,
  tel,
  visit,
  at,
  hidden,
  shown.shownEmail,
  shown.shownPhone,
  shown.shownSeen,
]

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

/** The indexes of customers of an organisation, and in which ranges they have the order. */
const indexesOf: Record<string, { index: SQL; ranges?: Ranges }> = {
  joined: { index: sql`users_order_created`, ranges: ranges.all },
  email: { index: sql`users_by_email` },
  phone: { index: sql`users_order_phone` },
  seen: { index: sql`users_order_seen` },
}

/** Of customers who are sorted, so many chunks are made at once. */
const chunksSorted = 4

export const customersOf = (edition: SQL): SQL => sumOfEditions(sql`customers`, edition)

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

export const customerRunList: RunList = {
  table: sql`${editionCustomers}`,
  joins: (how) => sql`${how} ${users} on ${users.seq} = ${editionCustomers.user_seq}`,
  beside,
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
  orderings: [number, joined, email, phone, seen, givenJoined, givenEmail, givenPhone],
  inOrder,
  arePersonal: true,
}

const source = (ordering: RunOrdering, asked: AskedKinds = {}): RunSource => ({ ordering, facets: facetsOf(asked) })
const part = (prefix: RunPart['prefix'], ...sources: RunPart['sources']): RunPart => ({ sources, prefix })

/** The order of customers who are seen whole. Keys begin as those of `sortKeys` do. */
const partsOfWhole: Record<CustomerOrder, RunRows['parts']> = {
  date_joined: [part([], source(joined))],
  email: [part([0], source(email)), part([1], source(number, { email: 'none' }))],
  phone_number: [
    part([0], source(phone)),
    part([1, 0], source(joined, { phone: 'none' })),
    part([2, 0], source(joined, { phone: 'erased' })),
  ],
  last_seen: [part([0], source(seen)), part([1, 0], source(joined, { seen: 'none' }))],
}

const whole = { hidden: 'whole' } as const
/** The order that roles of the edition see. */
const partsOfRoles: Record<CustomerOrder, RunRows['parts']> = {
  date_joined: [part([], source(joined, { joined: 'same' }), source(givenJoined))],
  email: [part([0], source(email, whole), source(givenEmail)), part([1], source(number, { shownEmail: 'none' }))],
  phone_number: [
    { ...part([0], source(phone, whole), source(givenPhone)), ignoresCreation: true },
    part([1], source(number, { shownPhone: 'none' })),
  ],
  last_seen: [
    { ...part([0], source(seen, whole)), ignoresCreation: true },
    part([1], source(number, { shownSeen: 'none' })),
  ],
}

/** No customer is so. */
const never: AskedKinds = { hidden: 'whole', shownSeen: 'none', seen: 'some' }

/** Of the customers whom several editions have, who are in others than those of a role: all, some or none of them. */
type Hidden = 'all' | 'some' | 'none'

/**
 * The order that roles of several editions see. Who is in several stands wherever one of them would show the customer: the list has
 * them once, in the place that is shown.
 */
function partsOfSeveral(order: CustomerOrder, hidden: Hidden): RunRows['parts'] {
  if (order === 'date_joined') return partsOfRoles.date_joined
  const own: AskedKinds = hidden === 'all' ? whole : {}
  const ofGiven: AskedKinds = hidden === 'none' ? never : {}
  // Runs of an edition say what its own roles are shown. Where another edition shows the customer's own value, that counts.
  const alsoIf = (kinds: AskedKinds): AskedKinds => (hidden === 'some' ? kinds : never)
  const withoutOwn = (kinds: AskedKinds, shown: AskedKinds) => (hidden === 'none' ? kinds : shown)
  if (order === 'email')
    return [
      part([0], source(email, own), source(givenEmail, ofGiven)),
      part(
        [1],
        source(number, withoutOwn({ email: 'none' }, { shownEmail: 'none' })),
        source(number, alsoIf({ email: 'none', shownEmail: 'some' })),
      ),
    ]
  if (order === 'phone_number') {
    const erased: AskedKinds = { phone: 'erased' }
    return [
      { ...part([0], source(phone, own), source(givenPhone, ofGiven)), ignoresCreation: true },
      part(
        [1],
        source(number, withoutOwn({ phone: 'none' }, { shownPhone: 'none' })),
        source(number, alsoIf({ phone: 'none', shownPhone: 'some' })),
        source(number, withoutOwn(erased, alsoIf({ ...erased, shownPhone: 'some' }))),
      ),
    ]
  }
  return [
    { ...part([0], source(seen, own)), ignoresCreation: true },
    part([1], source(number, withoutOwn({ seen: 'none' }, { shownSeen: 'none' }))),
  ]
}

/** Each is read with its row in each edition. */
const mostLookedUp = 1_000

/**
 * What is counted of a list of several editions says where customers stand who are in several: `beyond` are in others, too, `within` in
 * these alone, and `twice` in more than one of these.
 */
function countedInSeveral(
  order: CustomerOrder,
  { beyond = 0, within = 0, twice = 0 }: Readonly<Record<string, number>>,
): Pick<RunRows, 'parts' | 'repeated' | 'lookedUp'> {
  const some = within === 0 ? 'all' : 'some'
  const hidden = beyond === 0 ? 'none' : some
  const ofValues = hidden === 'none' ? 'in one place' : 'anywhere'
  const repeated = order === 'date_joined' ? 'at the least' : ofValues
  return {
    parts: partsOfSeveral(order, hidden),
    repeated: twice > 0 ? repeated : undefined,
    lookedUp: beyond + within > mostLookedUp ? undefined : facetsOf({ hidden: 'hidden' }),
  }
}

/** The customers of editions in an order that has runs: as they are, or as roles of these editions see them. */
export function rowsInRuns(
  ctx: Ctx,
  filters: UserFilters,
  { isWhole, onlyEdition, reached }: CustomerView,
  [by = { name: 'date_joined', desc: true }, ...others]: readonly OrderBy<CustomerOrder>[],
): RunRows | null {
  if (others.length > 0 || filters.search) return null
  const isOfOne = onlyEdition !== null && reached?.length === 1
  const isOfSeveral = !isWhole && !isOfOne
  const { name } = by
  const parts = isOfSeveral ? partsOfSeveral(name, 'some') : (isWhole ? partsOfWhole : partsOfRoles)[name]
  return {
    list: customerRunList,
    editions: editionsSeenBy(ctx.caller, filters),
    ...rangeOfTime(undefined, undefined),
    parts,
    ...(isOfSeveral ? { counted: (counted) => countedInSeveral(name, counted) } : {}),
    hasBeside: !isWhole,
    areKindsShown: true,
    isDesc: by.desc,
  }
}

/** Fewer customers are read and sorted. */
export const fewestInEdition = 80
