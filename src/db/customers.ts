import { type SQL, sql } from 'drizzle-orm'
import { type Caller, getReach, type RoleCode } from '../domain/accounts/access.ts'
import { searchSeparator } from '../domain/text/fold.ts'
import { fromJson } from './select.ts'
import { inList } from './visibility.ts'
import { editionCustomers } from './schema/users.ts'
import { insertWithLookups } from './write.ts'
import type { Database } from './database.ts'

/** Contact columns of a customer, which `users` and `edition_customers` have. */
export type ContactColumn = 'email' | 'phone_number' | 'first_name' | 'last_name'

/** Columns of customers that answers show. */
export const customerColumns = [
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'locale',
  'msg_channel',
  'is_verified',
  'is_active',
  'metadata',
  'created_at',
  'last_seen_at',
] as const
export type CustomerColumn = (typeof customerColumns)[number]

/** Columns by which customers are found. */
export type SearchColumn = 'phone_digits' | 'search_text'

/**
 * A column as a role of editions sees it: `row` is the row of `edition_customers`, which may be missing in an outer join,
 * and `user` the row of `users`. The organisation alone knows what it verified, saw and chose; only `is_active` is shown
 * to both, because it decides whether mail goes out.
 */
export function buildEditionColumn(name: CustomerColumn | SearchColumn, row: SQL, user: SQL): SQL {
  switch (name) {
    case 'email':
    case 'phone_number':
      return sql`${row}.${sql.raw(name)}`
    case 'created_at':
      return sql`coalesce(${row}.created_at, 0)`
    case 'metadata':
      return sql`coalesce(${row}.metadata, '{}')`
    case 'is_active':
      return sql`${user}.is_active`
    case 'is_verified':
      return sql`0`
    case 'last_seen_at':
      return sql`null`
    case 'msg_channel':
      return sql`iif(${row}.email is null and ${row}.phone_number is not null, 'sms', 'email')`
    default:
      return sql`coalesce(${row}.${sql.raw(name)}, '')`
  }
}

/** The row of `edition_customers` that the customer joined last among those of these editions. */
export const selectLatestSeq = (userSeq: SQL, editionIds: readonly string[]): SQL =>
  sql`(select max(seq) from edition_customers where user_seq = ${userSeq} and ${inEditions(sql`edition_id`, editionIds)})`

export const inEditions = (column: SQL, editionIds: readonly string[]): SQL =>
  editionIds.length === 1 ? sql`${column} = ${editionIds[0]}` : inList(column, editionIds)

/** The editions that a customer belongs to beside these. */
const editionsBeside = (user: SQL, editionIds: readonly string[]): SQL =>
  sql`select 1 from edition_customers as beside where beside.user_seq = ${user}.seq
    and not (${inEditions(sql`beside.edition_id`, editionIds)})`

/** Holds for a row of `users`, `user` in the query, that also belongs to an edition outside `editionIds`. */
export const isSharedOutside = (user: SQL, editionIds: readonly string[]): SQL =>
  sql`exists (${editionsBeside(user, editionIds)})`

/**
 * A contact column as it is shown to roles of the edition that a column names; where that is null, the customer's own.
 */
export function buildContactColumn(user: SQL, column: ContactColumn, editionId: SQL): SQL {
  const name = sql.raw(column)
  const value = sql`(select ${name} from edition_customers as seen
    where seen.edition_id = ${editionId} and seen.user_seq = ${user}.seq)`
  const isName = column === 'first_name' || column === 'last_name'
  return sql`iif(${editionId} is null, ${user}.${name}, ${isName ? sql`coalesce(${value}, '')` : value})`
}

/** Rows of `edition_customers` that the caller sees of a customer, whose row of `users` is in the query. */
export function isEditionVisible(caller: Caller): SQL {
  const reach = getReach(caller)
  if (reach.all || reach.editions.length === 0) return sql`1`
  const inOwn = inEditions(sql`edition_customers.edition_id`, listEditionIds(reach.editions))
  if (reach.organizations.length === 0) return inOwn
  return sql`(${inList(sql`users.organization_id`, reach.organizations)} or ${inOwn})`
}

/** The ids of the editions of a customer that the caller sees. The row of `users` is in the query. */
export const selectVisibleEditionIds = (caller: Caller) =>
  fromJson<string[]>(sql`(select json_group_array(edition_customers.edition_id) from edition_customers
    where user_seq = users.seq and ${isEditionVisible(caller)})`)

const listEditionIds = (grants: readonly { edition_id: string | null }[]): string[] => [
  ...new Set(grants.flatMap((grant) => grant.edition_id ?? [])),
]

const changers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']

/** The editions whose customers the caller may change; null for callers who may change all customers of the organisation. */
export function listChangeableEditions(caller: Caller, organizationId: string): readonly string[] | null {
  const reach = getReach(caller, changers)
  if (reach.all || reach.organizations.includes(organizationId)) return null
  return reach.editions
    .filter((grant) => grant.organization_id === organizationId)
    .flatMap((grant) => grant.edition_id ?? [])
}

/**
 * Customers as a caller may see them, as parts of a query over `user`, a name of `users` in it. Roles of an organisation
 * see `users`. Roles of editions see the row of `edition_customers` that the customer joined last among their editions;
 * `join` follows `users` and finds it.
 */
export interface CustomerView {
  /** Whether the caller sees all customers as the organisation has them. */
  isWhole: boolean
  join: SQL
  column: (name: CustomerColumn | SearchColumn) => SQL
  /** Columns under their own names. */
  columns: (names: readonly CustomerColumn[]) => SQL
}

const buildView = (isWhole: boolean, join: SQL, column: CustomerView['column']): CustomerView => ({
  isWhole,
  join,
  column,
  columns: (names) =>
    sql.join(
      names.map((name) => sql`${column(name)} as ${sql.raw(name)}`),
      sql`, `,
    ),
})

const buildWholeView = (user: SQL): CustomerView => buildView(true, sql``, (name) => sql`${user}.${sql.raw(name)}`)

/** Most callers see whole rows of `users`. */
const wholeUsers = buildWholeView(sql`users`)

/** Customers as they are shown to the caller, through all roles together. */
export function viewCustomers(caller: Caller, user?: SQL): CustomerView {
  const reach = getReach(caller)
  if (reach.all || reach.editions.length === 0) return user ? buildWholeView(user) : wholeUsers
  const from = user ?? sql`users`
  const seen = sql`seen`
  const editionIds = listEditionIds(reach.editions)
  const [only, ...others] = editionIds
  const isSeen =
    only !== undefined && others.length === 0
      ? sql`seen.edition_id = ${only} and seen.user_seq = ${from}.seq`
      : sql`seen.seq = ${selectLatestSeq(sql`${from}.seq`, editionIds)}`
  const isOrganizations = inList(sql`${from}.organization_id`, reach.organizations)
  return buildView(false, sql`left join edition_customers as seen on ${isSeen}`, (name) => {
    const column = buildEditionColumn(name, seen, from)
    return reach.organizations.length ? sql`iif(${isOrganizations}, ${from}.${sql.raw(name)}, ${column})` : column
  })
}

/** What is made of a view, once for each view that is kept. */
export function madeOfView<Made>(make: (view: CustomerView) => Made): (view: CustomerView) => Made {
  const made = new WeakMap<CustomerView, Made>()
  return (view) => {
    const known = made.get(view) ?? make(view)
    made.set(view, known)
    return known
  }
}

type ContactValues = Record<'email' | 'phone_number', string | null> & Record<'first_name' | 'last_name', string>

/** Contact columns as fields of a query, under their own names. */
export const buildContactFields = <Name extends ContactColumn>(view: CustomerView, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, view.column(name)])) as { [Key in Name]: SQL<ContactValues[Key]> }

const separator = sql.raw(`char(${searchSeparator.charCodeAt(0)})`)

/** The folded address and the digits of the number of a customer, from a `search_text`. */
export const buildContactText = (searchText: SQL): SQL =>
  sql`substr(${searchText}, instr(${searchText}, ${separator}) + 1)`

/** The folded address of a customer, from a `search_text`. */
export function buildAddressText(searchText: SQL): SQL {
  const contact = buildContactText(searchText)
  return sql`substr(${contact}, 1, max(0, instr(${contact}, ${separator}) - 1))`
}

/** A customer of an edition by the ids of both. */
export type EditionCustomer = Omit<typeof editionCustomers.$inferInsert, 'user_seq'> & { user_id: string }

export const insertEditionCustomers = (customers: readonly EditionCustomer[]): SQL[] =>
  insertWithLookups(
    editionCustomers,
    customers.map(({ user_id, ...row }) => ({ ...row, user_seq: user_id })),
    { user_seq: (id) => sql`(select seq from users where id = ${id})` },
  )

/** Pages of 4 KB that one statement writes, in about 200 ms. */
const pagesAStep = 2000
const maxSteps = 100

const changes = sql<{ total: number }>`select total_changes() as total`

/**
 * Merges the segments of the indexes of customers into one each, which has nothing left of texts that were removed: FTS5
 * keeps them in the segments that it wrote before.
 */
export async function mergeCustomerIndexes(db: Database): Promise<void> {
  await mergeIndex(db, 'customer_search')
  await mergeIndex(db, 'edition_customer_search')
}

/** Ends after 100 steps while others keep writing to the index. */
async function mergeIndex(db: Database, name: 'customer_search' | 'edition_customer_search'): Promise<void> {
  const index = sql.raw(name)
  const merge = sql`insert into ${index} (${index}, rank) values ('merge', ${sql.raw(`-${pagesAStep}`)})`
  for (let step = 0; step < maxSteps; step++) {
    const [[before], , [after]] = await db.batch([changes, merge, changes])
    // FTS5's documentation: a merge that had nothing to do changes less than two rows.
    if (Number(after?.total) - Number(before?.total) < 2) return
  }
}
