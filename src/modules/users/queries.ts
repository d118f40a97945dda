import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { foldedOrDigits } from '../../db/contains.ts'
import { countCustomers } from '../../db/edition-counts.ts'
import { editionIdsOf } from '../../db/edition-customers.ts'
import { shortId, shortIdOfOrganization, shortIds } from '../../db/short-ids.ts'
import { nullable, type NullableKey, type OldSortKey } from '../../db/lists/list-source.ts'
import type { Counting } from '../../db/lists/page-by-number.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { type NewestRows, paginateNewest, paginateSearch } from '../../db/lists/paginate-search.ts'
import { sharedCustomers, users } from '../../db/schema/users.ts'
import { answering, type RowOf, selection } from '../../db/select.ts'
import {
  type CustomerView,
  customersSeenBy,
  madeOfView,
  type ShownColumn,
  shownColumns,
} from '../../db/customer-visibility.ts'
import { editionsReached, editionsSeenBy, inList, inOnlyOrganization, visible } from '../../db/visibility.ts'
import { reachOf, type Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import { conditions, organizationOf, userVisibility } from './conditions.ts'
import type { UserFilters } from './contract.ts'
import { givenColumn, listOfEditions, readWithGiven, withGiven } from './of-editions.ts'
import { organizationsOf, searchOf } from './search.ts'
import { ranges } from './spans.ts'
import { type CustomerOrder, startsOf } from './starts.ts'

type WholeUserRow = typeof users.$inferSelect

const ownColumns = {
  id: users.id,
  seq: users.seq,
  organization_id: users.organization_id,
  version: users.version,
  erased_at: users.erased_at,
}

/** A customer as the caller sees them. */
export type ShownUserRow = Pick<WholeUserRow, keyof typeof ownColumns | ShownColumn>

/** Columns of which a view may show other values. They are decoded as the customer's own. */
const shownBy = (column: CustomerView['column']) => ({
  ...ownColumns,
  ...(Object.fromEntries(shownColumns.map((name) => [name, column(name).mapWith(users[name])])) as {
    [Name in ShownColumn]: SQL<WholeUserRow[Name]>
  }),
})
const columnsOf = madeOfView((view) => shownBy(view.columnOfGiven(givenColumn)))

/** Roles of an edition see a part of the customers of its organisation. */
function isOfWholeOrganizations(ctx: Ctx, ids: readonly string[]): boolean {
  const reach = reachOf(ctx.caller)
  return reach.all || ids.every((id) => reach.organizations.includes(id))
}

/** Whether a list is of one edition: the one that is asked for, or the only one that the caller reaches. */
const isOfEdition = ({ isWhole, reached, onlyEdition }: CustomerView, { edition_id }: UserFilters): boolean =>
  isWhole ? edition_id !== undefined : onlyEdition !== null && reached?.length === 1

/** Of more editions than this a count is no short statement. */
const mostEditions = 64

/** The editions of a list of customers of several editions of a caller, none of whose organisations the caller reaches; null of others. */
function severalEditions({ caller }: Ctx, filters: UserFilters): string[] | null {
  const ids = editionsReached(caller, filters)
  return ids && ids.length <= mostEditions ? ids : null
}

/** Each edition counts its own customers. Those of several are counted once, and by whether other editions have them, too. */
function countOfSeveral(own: SQL, organizations: readonly string[], editions: readonly string[]): Counting {
  const isIn = shortIds(editions).map((id) => sql.raw(`(instr(editions, '${id}') > 0)`))
  return {
    statement: sql`select ${own} - coalesce(sum(customers * (mine - 1)), 0) as n,
        coalesce(sum(customers) filter (where mine < every), 0) as beyond,
        coalesce(sum(customers) filter (where mine = every), 0) as within
      from (select customers, ${sql.join(isIn, sql` + `)} as mine, length(editions) / 9 as every from ${sharedCustomers}
        where ${inList(sql`organization_short_id`, shortIds(organizations))})
      where mine > 0`,
  }
}

/** Customers are counted where they come in: those of an edition, or of whole organisations. */
function countOf(ctx: Ctx, view: CustomerView, filters: UserFilters): Counting | null {
  const { edition_id, organization_id, search, ...unnamed } = filters
  unnamed satisfies NoFilters
  if (search) return null
  const place = { edition_id, organization_id }
  const ofEditions = countCustomers(editionsSeenBy(ctx.caller, place))
  if (isOfEdition(view, place) || edition_id) return { statement: sql`select ${ofEditions} as n` }
  const ids = organizationsOf(ctx, place)
  const several = severalEditions(ctx, place)
  if (several?.length) return countOfSeveral(ofEditions, ids ?? [], several)
  if (ids !== null && !isOfWholeOrganizations(ctx, ids)) return null
  const chosen = ids === null ? sql`1` : inList(sql`organization_id`, ids)
  return { statement: sql`select coalesce(sum(customers), 0) as n from list_sizes where ${chosen}` }
}

/** The ranges of an index that have the customers of a list: of one organisation, where the view hides nothing. */
const isOfRanges = (view: CustomerView, { edition_id, organization_id }: UserFilters): boolean =>
  view.isWhole && (edition_id !== undefined || organization_id !== undefined)

/** An erased customer has no number, but the id in its place, which is greater than any number. */
function phoneKey(number: SQL): NullableKey {
  return {
    ...nullable(number, { indexed: true }),
    present: { where: sql`${number} < 'usr_'` },
    absent: [ranges.withoutNumber, { where: sql`${number} >= 'usr_'` }],
  }
}

/** By the values that are shown: an order by hidden ones would give them away. */
function sortKeys(view: CustomerView, column: CustomerView['column']) {
  const [email, number, seen] = [column('email'), column('phone_number'), column('last_seen_at')]
  return {
    email: nullable(email, { indexed: view.isWhole }),
    phone_number: view.isWhole ? phoneKey(number) : nullable(sql`nullif(${number}, users.id)`),
    date_joined: column('created_at'),
    last_seen: view.isWhole ? { ...nullable(seen, { indexed: true }), absent: [ranges.unseen] } : nullable(seen),
  }
}

/** Customers without a number or a visit, or with the same, follow the time at which they joined, as indexes do. */
function sortOf(
  ordering: readonly OrderBy<CustomerOrder>[],
  view: CustomerView,
  keys: ReturnType<typeof sortKeys>,
): OldSortKey[] {
  const sort = sortBy<CustomerOrder, OldSortKey['by']>(ordering, '-date_joined', keys)
  const isByTime = view.isWhole && sort.every(({ by }) => by === keys.phone_number || by === keys.last_seen)
  return isByTime ? [...sort, { by: keys.date_joined, desc: sort.at(-1)?.desc ?? true }] : sort
}

/** A text of one or two letters is looked for among the newest customers of the organisation, or of several. */
function newestOf(ctx: Ctx, filters: UserFilters): NewestRows {
  const ids = organizationsOf(ctx, filters)
  const list = { from: sql`users`, key: sql`${users.seq}` }
  const [id, ...others] = ids ?? []
  if (id !== undefined && others.length === 0)
    return {
      ...list,
      where: [sql`${organizationOf} = ${shortIdOfOrganization(id)}`],
      ranges: ranges.all,
      sort: [{ by: sql`${users.created_at}`, desc: true }],
    }
  return { ...list, where: ids?.length === 0 ? [sql`0`] : [], sort: [{ by: list.key, desc: true }] }
}

export async function listUsers(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<CustomerOrder>[],
  asked: UserFilters,
): Promise<Page<ShownUserRow>> {
  const filters = inOnlyOrganization(ctx.caller, asked)
  const view = customersSeenBy(ctx.caller)
  const keys = sortKeys(view, view.columnOfGiven(givenColumn))
  const joins = sql`join ${users} on ${users.seq} = page.key`
  const source = {
    table: view.isWhole ? sql`users` : sql`(${withGiven(view, sql`users`)}) as users`,
    key: sql`${users.seq}`,
    where: conditions(ctx, view, filters),
    ranges: isOfRanges(view, filters) ? ranges.all : undefined,
    sort: sortOf(ordering, view, keys),
    columns: columnsOf(view),
    joins,
    read: { table: sql`${users}`, joins: sql`` },
    shown: view.isWhole ? undefined : view.given(sql`key`),
    areReadBehind: !view.isWhole,
  }
  const texts = filters.search ? foldedOrDigits(filters.search) : []
  const search = texts.length > 0 && texts.every(isIndexed) ? searchOf(ctx, { filters, texts, keys }) : null
  if (search) {
    return paginateSearch(ctx.db, page, { ...source, judged: view.join, state: null }, search)
  }
  // Customers whom roles of an edition see in part are compared one by one.
  if (filters.search && view.isWhole) return paginateNewest(ctx.db, page, source, newestOf(ctx, filters))
  const count = countOf(ctx, view, filters)
  const inEditions = { filters, ordering, view, key: source.key, columns: source.columns }
  const ofEditions =
    count && (isOfEdition(view, filters) || severalEditions(ctx, filters))
      ? await listOfEditions(ctx, page, { ...inEditions, count, sort: source.sort })
      : null
  if (ofEditions?.page) return ofEditions.page
  if (view.isWhole)
    return paginate(ctx.db, ofEditions?.request ?? page, {
      ...source,
      from: sql`users`,
      count,
      ...startsOf(ctx.db, filters, ordering),
    })
  // Only a search compares customers by the columns of the view.
  const all = filters.search
    ? { ...source, from: sql`${source.table} ${view.join}` }
    : { ...source, from: readWithGiven(view, sql`users`, source.where), where: [] }
  return paginate(ctx.db, ofEditions?.request ?? page, { ...all, count })
}

export interface LoadedUser extends ShownUserRow {
  tenant: Tenant
  /** Of the edition that the customer joined last, for numbers without a country. */
  country_code: string | null
}

export async function findUser(ctx: Ctx, id: string): Promise<LoadedUser> {
  const view = customersSeenBy(ctx.caller)
  const fields = {
    ...columnsOf(view),
    editions: editionIdsOf(sql`users.seq`),
    country_code: sql<string | null>`(select default_country_code from edition_customers
      join editions on editions.short_id = edition_short_id where user_seq = users.seq
      order by edition_customers.created_at desc limit 1)`,
  }
  const row = await ctx.db.first(
    answering(
      fields,
      sql<RowOf<typeof fields>>`select ${selection(fields)}
        from ${readWithGiven(view, sql`users`, [sql`${users.id} = ${id}`, visible(ctx.caller, userVisibility)])}`,
    ),
  )
  if (!row) throw notFound()
  const { editions, ...user } = row
  return { ...user, tenant: { organization_id: row.organization_id, editions } }
}

/** Whether the caller sees a customer of the organisation with this address or number. */
export async function isShown(
  ctx: Ctx,
  organizationId: string,
  contact: { column: 'email' | 'phone_number'; value: string | null },
): Promise<boolean> {
  const view = customersSeenBy(ctx.caller)
  const found = await ctx.db.first(sql`select 1 from users ${view.join}
    where ${organizationOf} = ${shortId(organizationId)} and ${users[contact.column]} = ${contact.value}
      and ${view.column(contact.column)} = ${contact.value} and ${visible(ctx.caller, userVisibility)}`)
  return found !== undefined
}
