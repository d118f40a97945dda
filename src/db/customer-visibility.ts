import { type SQL, sql } from 'drizzle-orm'
import { type Caller, type Reach, reachOf, type RoleCode } from '../domain/accounts/access.ts'
import { searchSeparator } from '../domain/text/fold.ts'
import { listedKeys, quoted } from './lists/listed-keys.ts'
import { inList, inWords } from './visibility.ts'
import { shortId, shortIds, shortIdOf } from './short-ids.ts'

/** Contact columns of a customer, as `users` and, for what an edition's imports said, `edition_customers` have them. */
export type ContactColumn = 'email' | 'phone_number' | 'first_name' | 'last_name'

/** Which editions are meant: a condition on a column of their short ids. */
type Editions = (column: SQL) => SQL

function listed(editionIds: readonly string[]): Editions {
  return (column) => inWords(column, shortIds(editionIds))
}

/** All others. What is looked for in a text reads no list, of which each row would be one more. */
function beside(editionIds: readonly string[]): Editions {
  const own = sql.raw(quoted(shortIds(editionIds).join()))
  return (column) => sql`instr(${own}, ${column}) = 0`
}

/** One of the other editions that have a customer; null where there is none. Most customers say which is their only one. */
const otherEdition = (user: SQL, others: Editions): SQL => {
  const only = sql`${user}.only_edition_short_id`
  return sql`iif(${only} is not null, iif(${others(only)}, ${only}, null), (select edition_short_id from edition_customers as others
    where others.user_seq = ${user}.seq and ${others(sql`others.edition_short_id`)} limit 1))`
}

const isSharedBeyond = (user: SQL, others: Editions): SQL => sql`(${otherEdition(user, others)} is not null)`

/** Holds for a row of `users`, `user` in the query, that also belongs to an edition outside `editionIds`. */
export const isSharedOutside = (user: SQL, editionIds: readonly string[]): SQL =>
  isSharedBeyond(user, beside(editionIds))

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
  sql`iif(${isSharedBeyond(user, (one) => sql`not (${editions(one)})`)}, ${contactGiven(user, column, editions)}, ${user}.${sql.raw(column)})`

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
  /** What the caller's editions were given of the customer with a number, as one value. Rows of others are read to know whether they exist. */
  given: (seq: SQL, isElsewhere?: SQL) => SQL
  /** As `column`, without the join, where a column has this value. It is null of who is seen as the organisation has them. */
  columnOfGiven: (given: SQL) => CustomerView['column']
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

type ContactValues = Record<'email' | 'phone_number', string | null> & Record<'first_name' | 'last_name', string>

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
    given: () => sql`null`,
    columnOfGiven: () => column,
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

const givenBy = (user: SQL, editions: Editions): GivenValues => ({
  value: (name) => given(user, name, editions),
  language: sql`(select default_language from editions where short_id =
    (select given.edition_short_id from edition_customers as given where given.user_seq = ${user}.seq
      and ${editions(sql`given.edition_short_id`)} order by given.created_at desc, given.edition_short_id limit 1))`,
  joined: joinedAt(user, editions),
})

/** A JSON array of what editions of the caller were given of a customer, behind whether others have the customer, too. */
const givenOf = (
  { email, phone_number, first_name, last_name, locale }: Record<GivenName, SQL>,
  more: { isElsewhere: SQL; joined: SQL; last: SQL },
) =>
  sql`json_array(${more.isElsewhere}, ${more.joined}, ${email}, ${phone_number}, ${first_name}, ${last_name}, ${locale}, ${more.last})`

const givenNames = ['email', 'phone_number', 'first_name', 'last_name', 'locale'] as const
type GivenName = (typeof givenNames)[number]

const ofNames = (of: (name: SQL) => SQL) =>
  Object.fromEntries(givenNames.map((name) => [name, of(sql.raw(name))])) as Record<GivenName, SQL>

/** Behind these digits, the moment at which and the place of the edition in which it was given, the newest value is the greatest. */
const digits = 21

/** Reads the editions of a customer once. Who is in none of the caller's joined none: the second value is null. */
function givenOfAll(seq: SQL, editionIds: readonly string[], isElsewhere?: SQL): SQL {
  // Written, because it is named often, and a statement has at most 100 parameters.
  const ids = shortIds(editionIds).toSorted()
  const own = sql.raw(quoted(ids.join()))
  const place = sql`instr(${own}, edition_short_id)`
  const newestOf = (name: SQL): SQL =>
    sql`substr(max(iif(${place} > 0 and ${name} <> '',
      printf('%016d%05d', created_at + 4503599627370496, 99999 - ${place}) || ${name}, null)), ${sql.raw(String(digits + 1))})`
  const values = givenOf(ofNames(newestOf), {
    isElsewhere: isElsewhere ?? sql`max(${place} = 0)`,
    joined: sql`min(iif(${place} > 0, created_at, null))`,
    last: newestOf(sql`edition_short_id`),
  })
  return isElsewhere
    ? sql`(select ${values} from ${listedKeys(ids)} as own cross join edition_customers
        on edition_short_id = own.column1 and user_seq = ${seq})`
    : sql`(select ${values} from edition_customers where user_seq = ${seq})`
}

const positions = {
  created_at: 1,
  email: 2,
  phone_number: 3,
  first_name: 4,
  last_name: 5,
  locale: 6,
  edition: 7,
} as const

const givenIn = (json: SQL, editionIds: readonly string[]): GivenValues => {
  const at = (name: keyof typeof positions) => sql`(${json} ->> ${sql.raw(String(positions[name]))})`
  // Those of all editions are read once for all customers.
  const languages = sql`(select json_group_object(short_id, default_language) from editions
    where ${inList(sql`short_id`, shortIds(editionIds))})`
  return { value: at, language: sql`(${languages} ->> ${at('edition')})`, joined: at('created_at') }
}

/** As `hiddenColumns`, for the editions of a list. */
export const hiddenColumnsIn = (user: SQL, editionIds: readonly string[]): Record<ShownColumn, SQL> =>
  hiddenColumns(givenBy(user, listed(editionIds)))

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
  const onlyEdition = ids[0] && ids.length === 1 ? shortId(ids[0]) : null
  const seen = (hidden: Record<ShownColumn, SQL>, isHidden: SQL) => {
    const column = (name: ShownColumn) => {
      const own = sql`${user}.${sql.raw(name)}`
      // Whether hidden or not, customers joined when an edition of the caller's took them in: lists are ordered by it.
      return name === 'created_at'
        ? sql`coalesce(${hidden[name]}, ${own})`
        : sql`iif(${isHidden}, ${hidden[name]}, ${own})`
    }
    return { isHidden, column, columns: named(column) }
  }
  const isHidden = sql`elsewhere.user_seq is not null`
  return {
    isWhole: false,
    onlyEdition,
    reached: [...reach.organizations, ...ids].toSorted(),
    join: sql`left join edition_customers as elsewhere on elsewhere.user_seq = ${user}.seq ${isOfOthers}
      and elsewhere.edition_short_id = ${otherEdition(user, beside(ids))}`,
    ...seen(hiddenColumns(givenBy(user, editions)), isHidden),
    given: (seq, isElsewhere) => givenOfAll(seq, ids, isElsewhere),
    columnOfGiven: (json) =>
      seen(hiddenColumns(givenIn(json, ids)), sql`(coalesce(${json} ->> 0, 0) ${isOfOthers})`).column,
    matches: (own, ofGiven) =>
      sql`iif(${isHidden}, exists (select 1 from edition_customers as given where given.user_seq = ${user}.seq
        and ${editions(sql`given.edition_short_id`)} and ${ofGiven}), ${own})`,
  }
}
