import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { inEditions, selectLatestSeq, type CustomerView, viewCustomers } from '../../db/customers.ts'
import { buildOrderBy, joinConditions, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import {
  buildMatch,
  containsTerms,
  findCandidates,
  isShortSearch,
  listCustomerTerms,
  maxNewest,
} from '../../db/search.ts'
import { getReach } from '../../domain/accounts/access.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { listIndexedTerms, type SearchTerm } from '../../domain/text/trigrams.ts'
import type { UserQuery } from './contract.ts'
import { type CustomerRow, buildUserFields } from './queries.ts'

type CustomerOrdering = UserQuery['ordering']

/** A table of customers. Roles of organisations see rows of `users`, roles of editions rows of `edition_customers`. */
interface CustomerTable {
  /** The name of a row in statements. */
  row: SQL
  /** The `seq` of the row's customer in `users`. */
  userSeq: SQL
  /** The table and the name of its rows. */
  table: SQL
  index: SQL
  /** Conditions on the rows that the caller and the filters allow. */
  scope: readonly SQL[]
  lastSeen: SQL
  /** A count that reads fewer rows than counting the list would. */
  count: SQL<{ n: number }> | undefined
  /** True if the index is sorted as the list is. Otherwise SQLite sorts the rows. */
  isSorted: boolean
  /** Selects rows that may contain each of these terms, of which the index has at least one. */
  selectByTerms: (terms: readonly SearchTerm[]) => SQL<{ key: number }>
  /** Selects the newest rows, in which shorter texts are searched. */
  selectNewest: SQL
  joins: SQL
}

const getFirstSortKey = (ordering: CustomerOrdering) => ordering[0]?.name ?? 'date_joined'

/** The customers of organisations. `organizationIds` is null for all organisations. */
function buildUserTable(
  organizationIds: readonly string[] | null,
  { edition_id, ordering }: UserQuery,
  view: CustomerView,
): CustomerTable {
  const [organizationId] = organizationIds ?? []
  const isSingle = organizationIds?.length === 1
  const isWithin = (column: SQL): SQL[] => {
    if (organizationIds === null) return []
    return [isSingle ? sql`${column} = ${organizationId}` : inList(column, organizationIds)]
  }
  const organizations = isWithin(sql`users.organization_id`)
  const isInEdition = sql`exists (select 1 from edition_customers
    where edition_customers.edition_id = ${edition_id} and user_seq = users.seq)`
  const sortKey = getFirstSortKey(ordering)
  return {
    row: sql`users`,
    userSeq: sql`users.seq`,
    table: sql`users`,
    index:
      organizationIds === null
        ? sql``
        : sql.raw(`indexed by ${sortKey === 'email' ? 'users_by_email' : 'users_by_joining'}`),
    scope: [...organizations, ...(edition_id === undefined ? [] : [isInEdition])],
    lastSeen: sql`users.last_seen_at`,
    count:
      edition_id === undefined
        ? undefined
        : sql<{ n: number }>`select count(*) as n from edition_customers where edition_id in (
            select id from editions
            where ${joinConditions([sql`id = ${edition_id}`, ...isWithin(sql`organization_id`)])})`,
    isSorted: isSingle && (sortKey === 'email' || sortKey === 'date_joined'),
    selectByTerms: (terms) => {
      const scope = organizationIds === null ? null : { organizations: organizationIds }
      const isVisible = organizationIds?.length === 0 ? sql`0` : sql`1`
      const match = buildMatch('customer_search', { scope, isVisible, terms })
      return sql<{ key: number }>`select users.seq as key from customer_search
        cross join users on users.seq = customer_search.rowid where ${joinConditions([match, ...organizations])}`
    },
    selectNewest: sql`select seq from users where ${joinConditions(organizations)}
      order by created_at desc, seq desc limit ${maxNewest}`,
    joins: sql`join users on users.seq = page.id ${view.join}`,
  }
}

/** The customers of editions. A customer of several is listed with the row of the edition that they joined last. */
function buildEditionTable(editionIds: readonly string[], { edition_id, ordering }: UserQuery): CustomerTable {
  const isSingle = editionIds.length === 1
  const isWithin = (column: SQL): SQL => inEditions(column, editionIds)
  const editions = [isWithin(sql`edition_contact.edition_id`)]
  return {
    row: sql`edition_contact`,
    userSeq: sql`edition_contact.user_seq`,
    table: sql`edition_customers as edition_contact`,
    index: sql`indexed by edition_customers_by_joining`,
    scope: [
      ...editions,
      ...(isSingle ? [] : [sql`edition_contact.seq = ${selectLatestSeq(sql`edition_contact.user_seq`, editionIds)}`]),
      ...(isSingle || edition_id === undefined
        ? []
        : [
            sql`edition_contact.user_seq in (select user_seq from edition_customers
              where edition_customers.edition_id = ${edition_id})`,
          ]),
    ],
    lastSeen: sql`null`,
    count:
      isSingle || edition_id !== undefined
        ? undefined
        : sql<{
            n: number
          }>`select count(distinct user_seq) as n from edition_customers where ${isWithin(sql`edition_id`)}`,
    isSorted: isSingle && getFirstSortKey(ordering) === 'date_joined',
    selectByTerms: (terms) => {
      const match = buildMatch('edition_customer_search', { scope: { editions: editionIds }, isVisible: sql`1`, terms })
      return sql<{ key: number }>`select edition_contact.seq as key from edition_customer_search
        cross join edition_customers as edition_contact on edition_contact.seq = edition_customer_search.rowid
        where ${joinConditions([match, ...editions])}`
    },
    selectNewest: sql`select seq from edition_customers where ${isWithin(sql`edition_id`)}
      order by created_at desc, seq desc limit ${maxNewest}`,
    joins: sql`join edition_customers as edition_contact on edition_contact.seq = page.id
      join users on users.seq = edition_contact.user_seq`,
  }
}

/** Chooses the tables to read. A caller with roles in some organisations and in editions of others reads both. */
function chooseTables(ctx: Ctx, query: UserQuery, view: CustomerView): CustomerTable[] {
  const { organization_id, edition_id } = query
  const reach = getReach(ctx.caller)
  if (reach.all) return [buildUserTable(organization_id ? [organization_id] : null, query, view)]
  const isRequested = (id: string): boolean => organization_id === undefined || id === organization_id
  const editionIds = reach.editions.flatMap((grant) =>
    isRequested(grant.organization_id) ? (grant.edition_id ?? []) : [],
  )
  const organizationIds = reach.organizations.filter(isRequested)
  const isEditionReached = edition_id !== undefined && editionIds.includes(edition_id)
  const hasEditions = isEditionReached || (edition_id === undefined && editionIds.length > 0)
  const hasOrganizations = !isEditionReached && (organizationIds.length > 0 || !hasEditions)
  return [
    ...(hasOrganizations ? [buildUserTable(organizationIds, query, view)] : []),
    ...(hasEditions ? [buildEditionTable([...new Set(editionIds)], query)] : []),
  ]
}

interface ListSource {
  from: SQL
  where: readonly SQL[]
  /** True if a search limits the rows. */
  isSearched: boolean
}

/** Builds what each table is read from: its index, or the candidates of a search. */
async function buildSources(
  ctx: Ctx,
  tables: readonly CustomerTable[],
  search: string | undefined,
): Promise<ListSource[]> {
  if (!search)
    return tables.map(({ table, index, scope }) => ({ from: sql`${table} ${index}`, where: scope, isSearched: false }))
  const terms = listCustomerTerms(search)
  const contains = ({ row }: CustomerTable): SQL => containsTerms(sql`${row}.search_text`, terms)
  if (isShortSearch(terms))
    return tables.map((table) => ({
      from: sql`(${table.selectNewest}) as newest cross join ${table.table} on ${table.row}.seq = newest.seq`,
      where: [...table.scope, contains(table)],
      isSearched: true,
    }))
  const isIndexed = listIndexedTerms(terms).length > 0
  const candidates = isIndexed
    ? await findCandidates(
        ctx.db,
        tables.map(({ selectByTerms }) => selectByTerms(terms)),
      )
    : null
  return tables.map((table, place) => ({
    from: candidates
      ? sql`json_each(${JSON.stringify(candidates[place])}) as candidate
          cross join ${table.table} on ${table.row}.seq = candidate.value`
      : sql`${table.table} ${table.index}`,
    where: [...table.scope, contains(table)],
    isSearched: true,
  }))
}

/** Lists are sorted by the values that the caller sees, because another order would reveal hidden ones. */
const buildOrder = (ordering: CustomerOrdering, row: SQL, lastSeen: SQL) =>
  buildOrderBy(ordering, '-date_joined', {
    email: { nullable: sql`${row}.email` },
    phone_number: { nullable: sql`${row}.phone_number` },
    date_joined: sql`${row}.created_at`,
    last_seen: { nullable: lastSeen },
  })

/** Joins both tables into one. Its ids are `seq * 2`, plus one for rows of `edition_customers`. */
function uniteTables(tables: readonly CustomerTable[], sources: readonly ListSource[]): SQL {
  const selects = tables.map(({ row, lastSeen }, place) => {
    const { from, where } = sources[place] ?? { from: sql``, where: [] }
    return sql`select ${row}.seq * 2 + ${sql.raw(String(place))} as id, ${row}.created_at, ${row}.email,
        ${row}.phone_number, ${lastSeen} as last_seen_at
      from ${from} where ${joinConditions(where)}`
  })
  return sql`(${sql.join(selects, sql` union all `)}) as customers`
}

export async function listUsers(ctx: Ctx, page: PageRequest, query: UserQuery): Promise<Page<CustomerRow>> {
  const { ordering, search } = query
  const view = viewCustomers(ctx.caller)
  const tables = chooseTables(ctx, query, view)
  const sources = await buildSources(ctx, tables, search)
  const [[table], [source]] = [tables, sources]
  if (table && source && tables.length === 1)
    return paginate(ctx.db, page, {
      from: source.from,
      where: source.where,
      orderBy: buildOrder(ordering, table.row, table.lastSeen),
      id: sql`${table.row}.seq`,
      columns: buildUserFields(view),
      joins: table.joins,
      maxOffset: table.isSorted && !source.isSearched ? maxIndexedOffset : maxSortedOffset,
      count: source.isSearched ? undefined : table.count,
    })
  return paginate(ctx.db, page, {
    from: uniteTables(tables, sources),
    where: [],
    orderBy: buildOrder(ordering, sql`customers`, sql`customers.last_seen_at`),
    id: sql`customers.id`,
    columns: buildUserFields(view),
    joins: sql`join users on users.seq = iif(page.id % 2 = 1,
      (select user_seq from edition_customers where edition_customers.seq = page.id / 2), page.id / 2) ${view.join}`,
  })
}

/**
 * Finds the `seq` of customers of an organisation that may contain the terms, in what the caller sees of them. Null: too
 * many match, or no term is indexed.
 */
export async function findCustomerCandidates(
  ctx: Ctx,
  organizationId: string,
  terms: readonly SearchTerm[],
): Promise<number[] | null> {
  if (listIndexedTerms(terms).length === 0) return null
  const tables = chooseTables(ctx, { organization_id: organizationId, ordering: [] }, viewCustomers(ctx.caller))
  const candidates = await findCandidates(
    ctx.db,
    tables.map(
      ({ table, row, userSeq, selectByTerms }) =>
        sql<{ key: number }>`select ${userSeq} as key from (${selectByTerms(terms)}) as candidate
          cross join ${table} on ${row}.seq = candidate.key`,
    ),
  )
  return candidates?.flat() ?? null
}

/** The most customers of editions that a search in another list may match. */
const maxMatches = 10_000

/** Finds the `seq` of customers of these editions, by what the edition knows that they joined last. Null: too many match. */
export async function findEditionCustomers(
  ctx: Ctx,
  editionIds: readonly string[],
  search: string,
): Promise<number[] | null> {
  const terms = listCustomerTerms(search)
  const { table, index, row, scope, selectByTerms, selectNewest } = buildEditionTable(editionIds, { ordering: [] })
  const isIndexed = listIndexedTerms(terms).length > 0
  const from = isIndexed
    ? sql`(${selectByTerms(terms)}) as candidate cross join ${table} on ${row}.seq = candidate.key`
    : isShortSearch(terms)
      ? sql`(${selectNewest}) as newest cross join ${table} on ${row}.seq = newest.seq`
      : sql`${table} ${index}`
  const isMatch = joinConditions([...scope, containsTerms(sql`${row}.search_text`, terms)])
  const matches = await ctx.db.all(
    sql<{ user_seq: number }>`select ${row}.user_seq from ${from} where ${isMatch} limit ${maxMatches + 1}`,
  )
  return matches.length > maxMatches ? null : matches.map(({ user_seq }) => user_seq)
}
