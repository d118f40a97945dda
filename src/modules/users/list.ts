import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFoldedOrDigits, listSearchForms, buildMatch, findCandidates, maxNewest } from '../../db/search.ts'
import { selectLatestSeq, type CustomerView, viewCustomers, inEditions } from '../../db/customers.ts'
import { buildOrderBy, joinConditions, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { inList } from '../../db/visibility.ts'
import { getReach } from '../../domain/accounts/access.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import type { UserFilters } from './contract.ts'
import { type ShownUserRow, userColumns } from './queries.ts'

type CustomerOrdering = readonly OrderBy<'email' | 'phone_number' | 'date_joined' | 'last_seen'>[]

/** The rows in which one kind of role sees customers: `users` for organisations, `edition_customers` for editions. */
interface CustomerRows {
  /** The name of a row in statements. */
  row: SQL
  /** The table under that name. */
  table: SQL
  /** The index that leads through all rows in the order of the list, or from which SQLite sorts them. */
  index: SQL
  scope: readonly SQL[]
  lastSeen: SQL
  /** A count of the scope that reads less than the rows. */
  count: SQL<{ n: number }> | undefined
  isOrderedByIndex: boolean
  /** Rows of the scope that may contain one of these texts of three letters or more. */
  findByTexts: (texts: readonly string[]) => SQL<{ key: number }>
  /** The newest rows, among which shorter texts are looked for. */
  newest: SQL
  joins: SQL
}

const firstName = (ordering: CustomerOrdering) => ordering[0]?.name ?? 'date_joined'

/** Customers as roles of organisations see them; null for all organisations. */
function buildUserRows(
  organizationIds: readonly string[] | null,
  { edition_id }: UserFilters,
  ordering: CustomerOrdering,
  view: CustomerView,
): CustomerRows {
  const [only, ...others] = organizationIds ?? []
  const isOne = only !== undefined && others.length === 0
  const isWithin = (column: SQL): SQL[] => {
    if (organizationIds === null) return []
    return [isOne ? sql`${column} = ${only}` : inList(column, organizationIds)]
  }
  const organizations = isWithin(sql`users.organization_id`)
  const isInEdition = sql`exists (select 1 from edition_customers
    where edition_customers.edition_id = ${edition_id} and user_seq = users.seq)`
  const name = firstName(ordering)
  return {
    row: sql`users`,
    table: sql`users`,
    index:
      organizationIds === null
        ? sql``
        : sql.raw(`indexed by ${name === 'email' ? 'users_by_email' : 'users_by_joining'}`),
    scope: [...organizations, ...(edition_id === undefined ? [] : [isInEdition])],
    lastSeen: sql`users.last_seen_at`,
    count:
      edition_id === undefined
        ? undefined
        : sql<{ n: number }>`select count(*) as n from edition_customers where edition_id in (
            select id from editions where ${joinConditions([sql`id = ${edition_id}`, ...isWithin(sql`organization_id`)])})`,
    isOrderedByIndex: isOne && (name === 'email' || name === 'date_joined'),
    findByTexts: (texts) => {
      const scope = organizationIds === null ? null : { organizations: organizationIds }
      const isVisible = organizationIds?.length === 0 ? sql`0` : sql`1`
      const match = buildMatch('customer_search', { scope, isVisible, texts })
      return sql<{ key: number }>`select users.seq as key from customer_search
        cross join users on users.seq = customer_search.rowid where ${joinConditions([match, ...organizations])}`
    },
    newest: sql`select seq from users where ${joinConditions(organizations)}
      order by created_at desc, seq desc limit ${maxNewest}`,
    joins: sql`join users on users.seq = page.id ${view.join}`,
  }
}

/**
 * Customers as roles of these editions see them. A customer of several is the one row of the edition that they joined last.
 */
function buildEditionRows(
  editionIds: readonly string[],
  { edition_id }: UserFilters,
  ordering: CustomerOrdering,
): CustomerRows {
  const isOne = editionIds.length === 1
  const isWithin = (column: SQL): SQL => inEditions(column, editionIds)
  const editions = [isWithin(sql`seen.edition_id`)]
  return {
    row: sql`seen`,
    table: sql`edition_customers as seen`,
    index: sql`indexed by edition_customers_by_joining`,
    scope: [
      ...editions,
      ...(isOne ? [] : [sql`seen.seq = ${selectLatestSeq(sql`seen.user_seq`, editionIds)}`]),
      ...(isOne || edition_id === undefined
        ? []
        : [
            sql`seen.user_seq in (select user_seq from edition_customers where edition_customers.edition_id = ${edition_id})`,
          ]),
    ],
    lastSeen: sql`null`,
    count:
      isOne || edition_id !== undefined
        ? undefined
        : sql<{
            n: number
          }>`select count(distinct user_seq) as n from edition_customers where ${isWithin(sql`edition_id`)}`,
    isOrderedByIndex: isOne && firstName(ordering) === 'date_joined',
    findByTexts: (texts) => {
      const match = buildMatch('edition_customer_search', { scope: { editions: editionIds }, isVisible: sql`1`, texts })
      return sql<{ key: number }>`select seen.seq as key from edition_customer_search
        cross join edition_customers as seen on seen.seq = edition_customer_search.rowid
        where ${joinConditions([match, ...editions])}`
    },
    newest: sql`select seq from edition_customers where ${isWithin(sql`edition_id`)}
      order by created_at desc, seq desc limit ${maxNewest}`,
    joins: sql`join edition_customers as seen on seen.seq = page.id join users on users.seq = seen.user_seq`,
  }
}

/** The rows that a list reads: both kinds for a caller with roles of both, in different organisations. */
function buildRows(ctx: Ctx, filters: UserFilters, ordering: CustomerOrdering, view: CustomerView): CustomerRows[] {
  const { organization_id, edition_id } = filters
  const reach = getReach(ctx.caller)
  if (reach.all) return [buildUserRows(organization_id ? [organization_id] : null, filters, ordering, view)]
  const isRequested = (id: string): boolean => organization_id === undefined || id === organization_id
  const editionIds = reach.editions.flatMap((grant) =>
    isRequested(grant.organization_id) ? (grant.edition_id ?? []) : [],
  )
  const organizationIds = reach.organizations.filter(isRequested)
  const isOfEditions = edition_id !== undefined && editionIds.includes(edition_id)
  const hasEditions = isOfEditions || (edition_id === undefined && editionIds.length > 0)
  const hasOrganizations = !isOfEditions && (organizationIds.length > 0 || !hasEditions)
  return [
    ...(hasOrganizations ? [buildUserRows(organizationIds, filters, ordering, view)] : []),
    ...(hasEditions ? [buildEditionRows([...new Set(editionIds)], filters, ordering)] : []),
  ]
}

interface Source {
  from: SQL
  where: readonly SQL[]
  isWhole: boolean
}

/** What each kind of rows is selected from, with the condition of a search. */
async function buildSources(ctx: Ctx, kinds: readonly CustomerRows[], search: string | undefined): Promise<Source[]> {
  if (!search)
    return kinds.map(({ table, index, scope }) => ({ from: sql`${table} ${index}`, where: scope, isWhole: true }))
  const texts = listSearchForms(search)
  const contains = ({ row }: CustomerRows): SQL => containsFoldedOrDigits(sql`${row}.search_text`, search)
  if (!texts.every(isIndexed))
    return kinds.map((kind) => ({
      from: sql`(${kind.newest}) as newest cross join ${kind.table} on ${kind.row}.seq = newest.seq`,
      where: [...kind.scope, contains(kind)],
      isWhole: false,
    }))
  const candidates = await findCandidates(
    ctx.db,
    kinds.map(({ findByTexts }) => findByTexts(texts)),
  )
  return kinds.map((kind, place) => ({
    from: candidates
      ? sql`json_each(${JSON.stringify(candidates[place])}) as candidate
          cross join ${kind.table} on ${kind.row}.seq = candidate.value`
      : sql`${kind.table} ${kind.index}`,
    where: [...kind.scope, contains(kind)],
    isWhole: false,
  }))
}

/** Sorted by the values that are shown: an order by others would give them away. */
const buildOrder = (ordering: CustomerOrdering, row: SQL, lastSeen: SQL) =>
  buildOrderBy(ordering, '-date_joined', {
    email: { nullable: sql`${row}.email` },
    phone_number: { nullable: sql`${row}.phone_number` },
    date_joined: sql`${row}.created_at`,
    last_seen: { nullable: lastSeen },
  })

/** Both kinds of rows as one table. Its ids are the numbers of rows, doubled, and odd for rows of editions. */
function unite(kinds: readonly CustomerRows[], sources: readonly Source[]): SQL {
  const parts = kinds.map(({ row, lastSeen }, place) => {
    const { from, where } = sources[place] ?? { from: sql``, where: [] }
    return sql`select ${row}.seq * 2 + ${sql.raw(String(place))} as id, ${row}.created_at, ${row}.email,
        ${row}.phone_number, ${lastSeen} as last_seen_at
      from ${from} where ${joinConditions(where)}`
  })
  return sql`(${sql.join(parts, sql` union all `)}) as customers`
}

export async function listUsers(
  ctx: Ctx,
  page: PageRequest,
  ordering: CustomerOrdering,
  filters: UserFilters,
): Promise<Page<ShownUserRow>> {
  const view = viewCustomers(ctx.caller)
  const kinds = buildRows(ctx, filters, ordering, view)
  const sources = await buildSources(ctx, kinds, filters.search)
  const [[kind, other], [source]] = [kinds, sources]
  if (kind && source && !other)
    return paginate(ctx.db, page, {
      from: source.from,
      where: source.where,
      orderBy: buildOrder(ordering, kind.row, kind.lastSeen),
      id: sql`${kind.row}.seq`,
      columns: userColumns(view),
      joins: kind.joins,
      maxOffset: kind.isOrderedByIndex && source.isWhole ? maxIndexedOffset : maxSortedOffset,
      count: source.isWhole ? kind.count : undefined,
    })
  return paginate(ctx.db, page, {
    from: unite(kinds, sources),
    where: [],
    orderBy: buildOrder(ordering, sql`customers`, sql`customers.last_seen_at`),
    id: sql`customers.id`,
    columns: userColumns(view),
    joins: sql`join users on users.seq = iif(page.id % 2 = 1,
      (select user_seq from edition_customers where edition_customers.seq = page.id / 2), page.id / 2) ${view.join}`,
  })
}
