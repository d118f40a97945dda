import { type SQL, sql } from 'drizzle-orm'
import { type Caller, type Reach, reachOf, type RoleCode } from '../domain/accounts/access.ts'
import { searchSeparator } from '../domain/text/fold.ts'
import { inList } from './visibility.ts'
import { shortId, shortIds, shortIdOf } from './short-ids.ts'

/** Contact columns of a customer, as `users` and, for what an edition's imports said, `edition_customers` have them. */
export type ContactColumn = 'email' | 'phone_number' | 'first_name' | 'last_name'

/** Which editions are meant: a condition on a column of their short ids. */
type Editions = (column: SQL) => SQL

const listed =
  (editionIds: readonly string[]): Editions =>
  (column) =>
    // One edition is found by the table's key.
    editionIds[0] && editionIds.length === 1
      ? sql`${column} = ${shortId(editionIds[0])}`
      : inList(column, shortIds(editionIds))

const isSharedBeyond = (user: SQL, editions: Editions): SQL =>
  sql`exists (select 1 from edition_customers as others where others.user_seq = ${user}.seq
    and not (${editions(sql`others.edition_short_id`)}))`

/**
 * Holds for a row of `users` that also belongs to an edition outside `editionIds`. `user` is the row's name in the
 * query.
 */
export const isSharedOutside = (user: SQL, editionIds: readonly string[]): SQL =>
  isSharedBeyond(user, listed(editionIds))

const given = (user: SQL, column: string, editions: Editions): SQL => {
  const name = sql.raw(column)
  return sql`(select ${name} from edition_customers as given where given.user_seq = ${user}.seq
    and ${editions(sql`given.edition_short_id`)} and coalesce(given.${name}, '') <> ''
    order by given.created_at desc, given.edition_short_id limit 1)`
}

const contactGiven = (user: SQL, column: ContactColumn, editions: Editions): SQL =>
  column === 'email' || column === 'phone_number'
    ? given(user, column, editions)
    : sql`coalesce(${given(user, column, editions)}, '')`

const contactSeen = (user: SQL, column: ContactColumn, editions: Editions): SQL =>
  sql`iif(${isSharedBeyond(user, editions)}, ${contactGiven(user, column, editions)}, ${user}.${sql.raw(column)})`

/**
 * A contact column as it is shown to roles of the edition that a column names; where that is null, the customer's own.
 */
export const contactSeenInEdition = (user: SQL, column: ContactColumn, editionId: SQL): SQL =>
  sql`iif(${editionId} is null, ${user}.${sql.raw(column)},
    ${contactSeen(user, column, (known) => sql`${known} = ${shortIdOf(editionId)}`)})`

const changers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']

/** The editions whose customers the caller may change; null for callers who may change all customers of the organisation. */
export function changeableEditions(caller: Caller, organizationId: string): readonly string[] | null {
  const reach = reachOf(caller, changers)
  if (reach.all || reach.organizations.includes(organizationId)) return null
  return reach.editions
    .filter((grant) => grant.organization_id === organizationId)
    .flatMap((grant) => grant.edition_id ?? [])
}

/** Columns of `users` that answers show. */
export const shownColumns = [
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
export type ShownColumn = (typeof shownColumns)[number]

/**
 * Customers as a caller may see them, as parts of a query over `user`, a name of `users` in it. `join` follows that
 * table and finds the edition by which a row is hidden. Callers without a role that is limited to an edition add nothing.
 */
export interface CustomerView {
  isWhole: boolean
  /** The short id of the one edition that the caller has a role in: its customers who are in no other are seen whole. */
  onlyEdition: string | null
  /** The ids of all organisations and editions that the caller reaches; null where customers are seen whole. */
  reached: readonly string[] | null
  join: SQL
  /** Holds for rows of which only the data of the caller's editions is shown. */
  isHidden: SQL
  column: (name: ShownColumn) => SQL
  /** Columns under their own names. */
  columns: (names: readonly ShownColumn[]) => SQL
  /** A condition on the customer: `own` for who is seen whole, `ofGiven` for any row of what the editions said. */
  matches: (own: SQL, ofGiven: SQL) => SQL
}

type SearchedColumn = 'name_folded' | 'address_folded' | 'phone_digits'

/** The texts by which a row of `users`, or a row `given` of `edition_customers`, is found. */
export const searchedTexts = (row: 'users' | 'given', ...columns: readonly SearchedColumn[]): SQL =>
  sql.join(
    columns.map((name) =>
      sql.raw(row === 'given' && name === 'name_folded' ? 'given.given_name_folded' : `${row}.${name}`),
    ),
    sql` || char(${sql.raw(String(searchSeparator.charCodeAt(0)))}) || `,
  )

const named = (column: (name: ShownColumn) => SQL) => (names: readonly ShownColumn[]) =>
  sql.join(
    names.map((name) => sql`${column(name)} as ${sql.raw(name)}`),
    sql`, `,
  )

interface ContactValues {
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
}

/** Contact columns as fields of a query, under their own names. */
export const customerFields = <Name extends ContactColumn>(view: CustomerView, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, view.column(name)])) as { [Key in Name]: SQL<ContactValues[Key]> }

function wholeView(user: SQL): CustomerView {
  const column = (name: ShownColumn) => sql`${user}.${sql.raw(name)}`
  return {
    isWhole: true,
    onlyEdition: null,
    reached: null,
    join: sql``,
    isHidden: sql`0`,
    column,
    columns: named(column),
    matches: (own) => own,
  }
}

/** Most callers see whole rows of `users`. */
const wholeUsers = wholeView(sql`users`)

/** What is made of a view, once for each view that is kept. */
export function madeOfView<Made>(make: (view: CustomerView) => Made): (view: CustomerView) => Made {
  const made = new WeakMap<CustomerView, Made>()
  return (view) => {
    const known = made.get(view) ?? make(view)
    made.set(view, known)
    return known
  }
}

const joinedAt = (user: SQL, editions: Editions): SQL =>
  sql`(select min(given.created_at) from edition_customers as given where given.user_seq = ${user}.seq
    and ${editions(sql`given.edition_short_id`)})`

/** What editions were given of a customer. Values are null where they were given none. */
interface GivenValues {
  value: (name: ContactColumn | 'locale') => SQL
  /** That of the edition which the customer joined last. */
  language: SQL
  joined: SQL
}

/**
 * The shown columns of a person of several editions: what the own editions were given, and nothing that others could
 * change.
 */
const hiddenColumns = ({ value, language, joined }: GivenValues): Record<ShownColumn, SQL> => ({
  email: value('email'),
  phone_number: value('phone_number'),
  first_name: sql`coalesce(${value('first_name')}, '')`,
  last_name: sql`coalesce(${value('last_name')}, '')`,
  locale: sql`coalesce(${value('locale')}, ${language})`,
  msg_channel: sql`iif(${value('email')} is null, 'sms', 'email')`,
  is_verified: sql`0`,
  is_active: sql`1`,
  metadata: sql`'{}'`,
  created_at: joined,
  last_seen_at: sql`null`,
})

const givenIn = (user: SQL, editions: Editions): GivenValues => ({
  value: (name) => given(user, name, editions),
  language: sql`(select default_language from editions where short_id =
    (select given.edition_short_id from edition_customers as given where given.user_seq = ${user}.seq
      and ${editions(sql`given.edition_short_id`)} order by given.created_at desc, given.edition_short_id limit 1))`,
  joined: joinedAt(user, editions),
})

const givenNames = ['email', 'phone_number', 'first_name', 'last_name', 'locale', 'created_at'] as const

/** Columns of `edition_customers` that `columnsOfRow` needs beside those of `users`, and whether the row is hidden. */
export const givenColumns = (isHidden: SQL): SQL =>
  sql.join(
    [...givenNames.map((name) => sql.raw(`edition_customers.${name} as given_${name}`)), sql`${isHidden} as is_hidden`],
    sql`, `,
  )

/** The columns of a view of one edition, where a row has what that edition was given and whether it is hidden. */
const columnsGiven =
  (shortEditionId: string, valueOf: (name: string) => SQL, isHidden: SQL): CustomerView['column'] =>
  (name) => {
    const hidden = hiddenColumns({
      value: (column) => sql`nullif(${valueOf(column)}, '')`,
      language: sql`(select default_language from editions where short_id = ${shortEditionId})`,
      joined: valueOf('created_at'),
    })
    return name === 'created_at' ? hidden[name] : sql`iif(${isHidden}, ${hidden[name]}, users.${sql.raw(name)})`
  }

/** A view of one edition, of its rows of `edition_customers` with those of `users` and its join. */
export const ofJoinedRows = (view: CustomerView): CustomerView =>
  view.onlyEdition === null
    ? view
    : { ...view, column: columnsGiven(view.onlyEdition, (name) => sql.raw(`edition_customers.${name}`), view.isHidden) }

/** The same, of rows of `users` that have `givenColumns`, too. */
export const ofGivenColumns = (view: CustomerView): CustomerView =>
  view.onlyEdition === null
    ? view
    : {
        ...view,
        column: columnsGiven(view.onlyEdition, (name) => sql.raw(`users.given_${name}`), sql`users.is_hidden`),
      }

/** As `hiddenColumns`, for the editions of a list. */
export const hiddenColumnsIn = (user: SQL, editionIds: readonly string[]): Record<ShownColumn, SQL> =>
  hiddenColumns(givenIn(user, listed(editionIds)))

/** Customers as they are shown to the caller, through all roles together. */
export function customersSeenBy(caller: Caller, user?: SQL): CustomerView {
  const reach = reachOf(caller)
  if (reach.all || reach.editions.length === 0) return user ? wholeView(user) : wholeUsers
  return partialView(reach, user ?? sql`users`)
}

function partialView(reach: Extract<Reach, { all: false }>, user: SQL): CustomerView {
  const ids = [...new Set(reach.editions.flatMap((grant) => grant.edition_id ?? []))]
  const editions = listed(ids)
  const isOfOthers = reach.organizations.length
    ? sql`and not (${inList(sql`${user}.organization_id`, reach.organizations)})`
    : sql``
  const isHidden = sql`elsewhere.user_seq is not null`
  const hidden = hiddenColumns(givenIn(user, editions))
  const column = (name: ShownColumn) => {
    const own = sql`${user}.${sql.raw(name)}`
    // Whether hidden or not, customers joined when an edition of the caller's took them in: lists are ordered by it.
    return name === 'created_at'
      ? sql`coalesce(${hidden[name]}, ${own})`
      : sql`iif(${isHidden}, ${hidden[name]}, ${own})`
  }
  return {
    isWhole: false,
    onlyEdition: ids[0] && ids.length === 1 ? shortId(ids[0]) : null,
    reached: [...reach.organizations, ...ids].toSorted(),
    join: sql`left join edition_customers as elsewhere on elsewhere.user_seq = ${user}.seq ${isOfOthers}
      and elsewhere.edition_short_id = (select edition_short_id from edition_customers as others where others.user_seq = ${user}.seq
        and not (${editions(sql`others.edition_short_id`)}) limit 1)`,
    isHidden,
    column,
    columns: named(column),
    matches: (own, ofGiven) =>
      sql`iif(${isHidden}, exists (select 1 from edition_customers as given where given.user_seq = ${user}.seq
        and ${editions(sql`given.edition_short_id`)} and ${ofGiven}), ${own})`,
  }
}
