import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import {
  type Found,
  type HitList,
  hitListOf,
  hitsOf,
  keepHits,
  keysOfSlice,
  type ListState,
  mostHits,
  sliceOfHits,
} from './list-hits.ts'
import { judgePage, pageFrom } from './page-rows.ts'
import type { ListSource } from './list-source.ts'
import { and, beyond, keyColumns, keysOf, type KeyValues, type OrderKey, orderOf, reversedOrder } from './order-keys.ts'
import { ofOwners, selectPageRows } from './page-statement.ts'
import { keysAt, paginate } from './paginate.ts'
import type { Fields, RowOf } from '../select.ts'

/** Up to so many rows that may match are read, compared and ordered at once. */
const mostAtOnce = 500

/** A text that is too short for the index is looked for in so many rows, the newest of its scope. */
const newestSearched = 10_000

/**
 * Queries of the keys of all rows that may match, from the index. Each reads at most `limit` entries, and is as long as
 * the limit where there may be more; its keys may be null or come twice.
 */
export type IndexSearch = (limit: SQL) => readonly SQL[]

/** A list with a search: `from` is `table` and what `tableJoins` adds to it. */
interface JoinedSource<F extends Fields> extends Omit<ListSource<F>, 'from' | 'count'> {
  table: SQL
  tableJoins: SQL
}

interface SearchedSource<F extends Fields> extends JoinedSource<F> {
  /** What the matches are found in, so that they are found once for each state of it; null for each time. */
  state: ListState | null
}

/** The rows of a scope from the newest on, which an index has in this order. */
export type NewestRows = Pick<ListSource, 'from' | 'key' | 'where' | 'owners' | 'ranges' | 'sort'>

const isMatch = (source: Pick<ListSource, 'where' | 'owners'>): SQL =>
  sql`(${and([...ofOwners(source), ...source.where])})`

const joined = ({ table, tableJoins, key }: Pick<SearchedSource<Fields>, 'table' | 'tableJoins' | 'key'>): SQL =>
  sql`left join ${table} on ${key} = found.key ${tableJoins}`

interface PossibleMatch {
  part: number
  key: number | null
  is_match: number
  is_after: number
}

/** All rows that may match, in the order of the list; null where there are more than are read at once. */
async function fewCandidates<F extends Fields>(
  db: Database,
  source: SearchedSource<F>,
  search: IndexSearch,
  order: { keys: readonly OrderKey[]; after: KeyValues | null },
) {
  const parts = search(sql`limit ${mostAtOnce + 1}`)
  const found = sql.join(
    parts.map((part, index) => sql`select key, ${sql.raw(String(index))} as part from (${part})`),
    sql` union all `,
  )
  const { keys, after } = order
  const rows = await db.all(sql<PossibleMatch & Record<string, string | number>>`
    select found.part, ${source.key} as key, ${keyColumns(keys.map(({ by }) => by))}, ${isMatch(source)} as is_match,
      ${after ? beyond(keys, after) : sql`1`} as is_after
    from (${found}) as found ${joined(source)} order by ${orderOf(keys)}`)
  const isWhole = parts.every((_, index) => rows.filter(({ part }) => part === index).length <= mostAtOnce)
  return isWhole ? rows : null
}

async function pageOfFew<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: SearchedSource<F>,
  candidates: readonly (PossibleMatch & Record<string, string | number>)[],
): Promise<Page<RowOf<F>>> {
  const { keys, after } = keysOf(source, request)
  const matches = [
    ...new Map(
      candidates.flatMap((row) => (row.key !== null && row.is_match === 1 ? [[row.key, row] as const] : [])),
    ).values(),
  ]
  judgePage(request, after, matches.length)
  const rest = after ? matches.filter(({ is_after }) => is_after === 1) : matches
  const skipped = after ? 0 : (request.page - 1) * request.size
  const shown = rest
    .slice(skipped, skipped + request.size + 1)
    .map((row) => [row.key, ...keys.map((_, index) => row[`k${index}`])])
  const columns = keys.map((_, index) => sql`value ->> ${sql.raw(String(index + 1))}`)
  const page = sql`select value ->> 0 as key, ${keyColumns(columns)} from json_each(${JSON.stringify(shown)})`
  const rows = await db.all(selectPageRows<RowOf<F>>(source, keys, page))
  return pageFrom<RowOf<F>>(request, keys.length, rows, matches.length)
}

const distinctKeys = (search: IndexSearch): SQL =>
  sql.join(
    search(sql``).map((part) => sql`select key from (${part})`),
    sql` union `,
  )

/** All rows that may match, found by the index first. */
const candidates = <F extends Fields>({ table, tableJoins, key }: SearchedSource<F>, search: IndexSearch): SQL =>
  sql`(${distinctKeys(search)}) as found cross join ${table} on ${key} = found.key ${tableJoins}`

const isMatching = <F extends Fields>(source: SearchedSource<F>, search: IndexSearch): SQL =>
  sql`from ${candidates(source, search)} where ${isMatch(source)}`

/** Reads all rows that may match. */
async function countMatches<F extends Fields>(db: Database, source: SearchedSource<F>, search: IndexSearch) {
  const row = await db.first(sql<{ n: number }>`select count(*) as n ${isMatching(source, search)}`)
  return row?.n ?? 0
}

/** Finds all rows that match, in the order of the list where that can be kept. */
async function findHits<F extends Fields>(
  db: Database,
  source: SearchedSource<F>,
  search: IndexSearch,
  { state, keys }: { state: ListState; keys: readonly OrderKey[] },
): Promise<Found> {
  const { version, rows, keepsOrder } = state
  const hits = keepsOrder ? hitsOf(sql`key`) : sql`null`
  const order = keepsOrder ? sql`order by ${orderOf(keys)} limit ${mostHits + 1}` : sql``
  const [found] =
    await db.all(sql<Found>`select ${version} as version, ${rows} as rows, count(*) as total, ${hits} as hits
    from (select ${source.key} as key ${isMatching(source, search)} ${order})`)
  if (!found) return { version: 0, rows: 0, total: 0, hits: null }
  if (!keepsOrder || found.total <= mostHits) return found
  return { ...found, total: await countMatches(db, source, search), hits: null }
}

const whole = <F extends Fields>(source: JoinedSource<F>): ListSource<F> => ({
  ...source,
  from: sql`${source.table} ${source.tableJoins}`,
})

interface CountedSearch<F extends Fields> {
  source: SearchedSource<F>
  search: IndexSearch
  count: number
}

/** A page whose rows are found for it alone: by the order of the list, or where fewer match all of these. */
function pageOfMany<F extends Fields>(
  db: Database,
  request: PageRequest,
  { source, search, count }: CountedSearch<F>,
): Promise<Page<RowOf<F>>> {
  if (count >= mostAtOnce) return paginate(db, request, { ...whole(source), count })
  const owners = source.owners && { ...source.owners, isOrdered: false }
  return paginate(db, request, { ...source, from: candidates(source, search), owners, ranges: undefined, count })
}

/** A page of what is stored or was just found; null where neither is of the present state. */
async function pageOfHits<F extends Fields>(
  db: Database,
  request: PageRequest,
  { source, search, list, found }: { source: SearchedSource<F>; search: IndexSearch; list: HitList; found?: Found },
): Promise<Page<RowOf<F>> | null> {
  const { keys, after } = keysOf(source, request)
  const { table, tableJoins, key } = source
  const skipped = after ? 0 : (request.page - 1) * request.size
  const same = keys.map(({ by }, index) => sql`${by} = ${after?.[index]}`)
  const isSame = sql`exists (select 1 from ${table} ${tableJoins} where ${and(same)})`
  const place = { skipped, limit: request.size + 1, after: after && { keys: after, isSame } }
  const ctes = sliceOfHits(list, place, found)
  const page = sql`select ${key} as key, ${keyColumns(keys.map(({ by }) => by))}
    from (${keysOfSlice}) as hit cross join ${table} on ${key} = hit.key ${tableJoins}`
  const [rows, [known]] = await db.batch([
    selectPageRows<RowOf<F>>(source, keys, page, { ctes }),
    sql<{ total: number; is_placed: number }>`with ${ctes}
      select total, (select keys from slice) is not null as is_placed from known`,
  ])
  if (!known) return null
  judgePage(request, after, known.total)
  return known.is_placed
    ? pageFrom<RowOf<F>>(request, keys.length, rows, known.total)
    : pageOfMany(db, request, { source, search, count: known.total })
}

/** One page through the search index: of few rows at once, and of many from what was found in this state of the list. */
export async function paginateSearch<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: SearchedSource<F>,
  search: IndexSearch,
): Promise<Page<RowOf<F>>> {
  const list = source.state && (await hitListOf(source.state))
  const known = list && (await pageOfHits(db, request, { source, search, list }))
  if (known) return known
  const { keys, after } = keysOf(source, request)
  const few = await fewCandidates(db, source, search, { keys, after })
  if (few) return pageOfFew(db, request, source, few)
  if (!list) return pageOfMany(db, request, { source, search, count: await countMatches(db, source, search) })
  const found = await findHits(db, source, search, { state: list.state, keys })
  keepHits(db, list, found)
  const page = await pageOfHits(db, request, { source, search, list, found })
  return page ?? pageOfMany(db, request, { source, search, count: found.total })
}

/** One page of the matches among the newest rows of a scope. */
export async function paginateNewest<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: JoinedSource<F>,
  newest: NewestRows,
): Promise<Page<RowOf<F>>> {
  const scope = { ...newest, columns: sql``, joins: sql`` }
  const first = await keysAt(db, scope, newestSearched)
  const { keys } = keysOf(newest, request)
  return paginate(db, request, {
    ...whole(source),
    where: [...source.where, ...(first ? [beyond(reversedOrder(keys), first)] : [])],
  })
}
