import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import { judgePage, pageFrom } from './page-rows.ts'
import type { ListSource } from './list-source.ts'
import { and, beyond, keyColumns, keysOf, type KeyValues, type OrderKey, orderOf, reversedOrder } from './order-keys.ts'
import { ofOwners, selectPageRows } from './page-statement.ts'
import { keysAt, paginate } from './paginate.ts'
import type { Counting, CountRow } from './page-by-number.ts'
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
export interface SearchedSource<F extends Fields> extends Omit<ListSource<F>, 'from' | 'count'> {
  table: SQL
  tableJoins: SQL
  /** How the matches are counted once for each state of the data, given the expression that counts them; null for each time. */
  counting?: (count: SQL) => Promise<Counting | null>
}

/** The rows of a scope from the newest on, which an index has in this order. */
export type NewestRows = Pick<ListSource, 'from' | 'key' | 'where' | 'owners' | 'sort'>

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

/** Reads all rows that may match. What it answers holds until the data changes. */
async function countMatches<F extends Fields>(
  db: Database,
  source: SearchedSource<F>,
  search: IndexSearch,
): Promise<number> {
  const count = sql`(select coalesce(sum(${isMatch(source)}), 0) from (${distinctKeys(search)}) as found ${joined(source)})`
  const counting = await source.counting?.(count)
  const row = await db.first(counting?.statement ?? sql<CountRow>`select ${count} as n`)
  if (row) counting?.counted?.(row)
  return row?.n ?? 0
}

const whole = <F extends Fields>(source: SearchedSource<F>): ListSource<F> => ({
  ...source,
  from: sql`${source.table} ${source.tableJoins}`,
})

/** One page through the search index: of few rows at once, and of many by the order of the list. */
export async function paginateSearch<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: SearchedSource<F>,
  search: IndexSearch,
): Promise<Page<RowOf<F>>> {
  const few = await fewCandidates(db, source, search, keysOf(source, request))
  if (few) return pageOfFew(db, request, source, few)
  const count = await countMatches(db, source, search)
  if (count >= mostAtOnce) return paginate(db, request, { ...whole(source), count })
  const from = sql`(${distinctKeys(search)}) as found cross join ${source.table} on ${source.key} = found.key
    ${source.tableJoins}`
  const owners = source.owners && { ...source.owners, isOrdered: false }
  return paginate(db, request, { ...source, from, owners, count })
}

/** One page of the matches among the newest rows of a scope. */
export async function paginateNewest<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: SearchedSource<F>,
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
