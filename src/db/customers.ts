import { type SQL, sql } from 'drizzle-orm'
import { type Caller, getReach, managers } from '../domain/accounts/access.ts'
import { searchSeparator } from '../domain/text/fold.ts'
import { dayMs } from '../domain/time/instants.ts'
import { inList } from './conditions.ts'
import type { Statement } from './database.ts'
import { editionCustomers } from './schema/customers.ts'
import { fromJson } from './select.ts'
import { insertWithLookups } from './write.ts'

/** Columns that `users` and `edition_customers` both have. */
export type ContactColumn = 'email' | 'phone_number' | 'first_name' | 'last_name'

/** Columns of a customer that responses contain. */
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

/** Columns that searches read. */
export type SearchColumn = 'phone_digits' | 'search_text'

/**
 * A column of a customer as an edition role sees it. `row` is the joined row of `edition_customers`, which may be missing,
 * and `user` is the row of `users`. `is_verified`, `last_seen_at` and `msg_channel` of the organisation are hidden.
 * `is_active` is not, because it decides whether the customer gets mail.
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

/** The `seq` of the customer's newest row in `edition_customers` among these editions. */
export const selectLatestSeq = (userSeq: SQL, editionIds: readonly string[]): SQL =>
  sql`(select max(seq) from edition_customers where user_seq = ${userSeq} and ${inEditions(sql`edition_id`, editionIds)})`

export const inEditions = (column: SQL, editionIds: readonly string[]): SQL =>
  editionIds.length === 1 ? sql`${column} = ${editionIds[0]}` : inList(column, editionIds)

/** The customer's rows in editions outside `editionIds`. */
const selectOtherEditions = (user: SQL, editionIds: readonly string[]): SQL =>
  sql`select 1 from edition_customers as other where other.user_seq = ${user}.seq
    and not (${inEditions(sql`other.edition_id`, editionIds)})`

/** True for a row of `users` that also belongs to an edition outside `editionIds`, or to the organisation itself. */
export const isSharedOutside = (user: SQL, editionIds: readonly string[]): SQL =>
  sql`(${user}.is_of_organization or exists (${selectOtherEditions(user, editionIds)}))`

/**
 * A contact column as roles of the edition in `editionId` see it. If `editionId` is null, it is the
 * organisation's value.
 */
export function buildContactColumn(user: SQL, column: ContactColumn, editionId: SQL): SQL {
  const name = sql.raw(column)
  const value = sql`(select ${name} from edition_customers as edition_contact
    where edition_contact.edition_id = ${editionId} and edition_contact.user_seq = ${user}.seq)`
  const isName = column === 'first_name' || column === 'last_name'
  return sql`iif(${editionId} is null, ${user}.${name}, ${isName ? sql`coalesce(${value}, '')` : value})`
}

/** True for rows of `edition_customers` that the caller may see, in a query that also reads `users`. */
export function isEditionVisible(caller: Caller): SQL {
  const reach = getReach(caller)
  if (reach.all || reach.editions.length === 0) return sql`1`
  const inOwnEditions = inEditions(sql`edition_customers.edition_id`, listEditionIds(reach.editions))
  if (reach.organizations.length === 0) return inOwnEditions
  return sql`(${inList(sql`users.organization_id`, reach.organizations)} or ${inOwnEditions})`
}

/** The ids of the customer's editions that the caller may see, in a query that reads `users`. */
export const selectVisibleEditionIds = (caller: Caller) =>
  fromJson<string[]>(sql`(select json_group_array(edition_customers.edition_id) from edition_customers
    where user_seq = users.seq and ${isEditionVisible(caller)})`)

const listEditionIds = (grants: readonly { edition_id: string | null }[]): string[] => [
  ...new Set(grants.flatMap((grant) => grant.edition_id ?? [])),
]

/** The editions whose customers the caller may change. Null: all customers of the organisation. */
export function listChangeableEditions(caller: Caller, organizationId: string): readonly string[] | null {
  const reach = getReach(caller, managers)
  if (reach.all || reach.organizations.includes(organizationId)) return null
  return reach.editions
    .filter((grant) => grant.organization_id === organizationId)
    .flatMap((grant) => grant.edition_id ?? [])
}

/**
 * The parts of a query that show customers as the caller may see them. Organisation roles see the columns of `users`.
 * Edition roles see the customer's newest row in `edition_customers` among their editions.
 */
export interface CustomerView {
  /** True for the view of organisation roles, which is the same for all callers. */
  isOfOrganization: boolean
  /** The join that follows `users` in the query; empty for organisation roles. */
  join: SQL
  column: (name: CustomerColumn | SearchColumn) => SQL
  /** A select list of the columns under their own names. */
  columns: (names: readonly CustomerColumn[]) => SQL
}

const buildView = (join: SQL | null, column: CustomerView['column']): CustomerView => ({
  isOfOrganization: join === null,
  join: join ?? sql``,
  column,
  columns: (names) =>
    sql.join(
      names.map((name) => sql`${column(name)} as ${sql.raw(name)}`),
      sql`, `,
    ),
})

/** The view of roles of an organisation, which is the same for all of them. */
export const buildOrganizationView = (user: SQL): CustomerView =>
  buildView(null, (name) => sql`${user}.${sql.raw(name)}`)

/** True if the caller sees customers of the organisation as `viewCustomers` shows them to its roles. */
export function seesFullCustomers(caller: Caller, organizationId: string): boolean {
  const reach = getReach(caller)
  return reach.all || reach.organizations.includes(organizationId)
}

/** The view of customers through all roles of the caller. `user` is the name of `users` in the query. */
export function viewCustomers(caller: Caller, user = sql`users`): CustomerView {
  const reach = getReach(caller)
  if (reach.all || reach.editions.length === 0) return buildOrganizationView(user)
  const editionContact = sql`edition_contact`
  const editionIds = listEditionIds(reach.editions)
  const [onlyId, ...others] = editionIds
  const isContact =
    onlyId !== undefined && others.length === 0
      ? sql`edition_contact.edition_id = ${onlyId} and edition_contact.user_seq = ${user}.seq`
      : sql`edition_contact.seq = ${selectLatestSeq(sql`${user}.seq`, editionIds)}`
  const inOwnOrganization = inList(sql`${user}.organization_id`, reach.organizations)
  return buildView(sql`left join edition_customers as edition_contact on ${isContact}`, (name) => {
    const column = buildEditionColumn(name, editionContact, user)
    return reach.organizations.length ? sql`iif(${inOwnOrganization}, ${user}.${sql.raw(name)}, ${column})` : column
  })
}

type ContactValues = Record<'email' | 'phone_number', string | null> & Record<'first_name' | 'last_name', string>

/** Fields for `select` with contact columns as the caller may see them. */
export const buildContactFields = <Name extends ContactColumn>(view: CustomerView, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, view.column(name)])) as { [Key in Name]: SQL<ContactValues[Key]> }

/** The id of the customer today, for an id that was written down before that customer was merged into another one. */
export const selectPresentId = (id: SQL): SQL =>
  sql`coalesce((select into_id from user_merges where user_merges.id = ${id}), ${id})`

/** The id of the customer who has an e-mail address, or else of the one who has it from a customer merged into them. */
export const selectIdOfAddress = (organizationId: string, address: string): SQL =>
  sql`coalesce((select id from users as holder where holder.organization_id = ${organizationId} and holder.email = ${address}),
    (select user_id from earlier_addresses where organization_id = ${organizationId} and channel = 'email'
      and address = ${address} order by created_at desc limit 1))`

/** The ids that a customer has in what was written down: their own, and those of customers who were merged into them. */
export const selectFormerIds = (id: SQL | string): SQL =>
  sql`(select ${id} as value union all select user_merges.id from user_merges where into_id = ${id})`

/**
 * Records when customers were last seen, at most once a day (UTC) for each of them, because `last_seen_at` is in an index.
 * Erased customers are left out.
 */
export function recordLastSeen(visits: readonly { user_id: string; at: number }[]): Statement[] {
  if (visits.length === 0) return []
  const values = visits.map(({ user_id, at }) => [user_id, at, at - (at % dayMs)])
  return [
    sql`update users set last_seen_at = visit.value ->> 1 from json_each(${JSON.stringify(values)}) as visit
      where users.id = ${selectPresentId(sql`visit.value ->> 0`)} and users.erased_at is null
        and coalesce(users.last_seen_at, -1) < visit.value ->> 2`,
  ]
}

const separator = sql.raw(`char(${searchSeparator.charCodeAt(0)})`)

/** The folded name in a customer's `search_text`. */
export const buildNameText = (searchText: SQL): SQL =>
  sql`substr(${searchText}, 1, max(0, instr(${searchText}, ${separator}) - 1))`

/** The part of a customer's `search_text` after the name: the folded address and the digits of the phone number. */
export const buildContactText = (searchText: SQL): SQL =>
  sql`substr(${searchText}, instr(${searchText}, ${separator}) + 1)`

/** The folded address in a customer's `search_text`. */
export function buildAddressText(searchText: SQL): SQL {
  const contact = buildContactText(searchText)
  return sql`substr(${contact}, 1, max(0, instr(${contact}, ${separator}) - 1))`
}

/** A row of `edition_customers` with the customer's id in place of `user_seq`. */
export type EditionCustomer = Omit<typeof editionCustomers.$inferInsert, 'user_seq'> & { user_id: string }

export const insertEditionCustomers = (customers: readonly EditionCustomer[]): SQL[] =>
  insertWithLookups(
    editionCustomers,
    customers.map(({ user_id, ...row }) => ({ ...row, user_seq: user_id })),
    { user_seq: (id) => sql`(select seq from users where id = ${id})` },
  )
