import { sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import { compareKeys } from '../../domain/text/compare-keys.ts'
import type { Database } from '../database.ts'
import { findFew, type FewSearch, type Match, mostAtOnce } from './find-few.ts'
import { listedKeys } from './listed-keys.ts'
import { candidates, countMatches, findHits, type SearchedTable } from './find-hits.ts'
import { hitListOf, keepHits, type ListState } from './list-hits.ts'
import { type HitsSource, pageOfHits } from './page-of-hits.ts'
import { judgePage } from './page-rows.ts'
import type { ListSource } from './list-source.ts'
import { beyond, keysOf, reversedOrder } from './order-keys.ts'
import { selectPageRows } from './page-statement.ts'
import { keysAt, paginate } from './paginate.ts'
import type { Fields, RowOf } from '../select.ts'

/** A text that is too short for the index is looked for in so many rows, the newest of its scope. */
const newestSearched = 10_000

/** A list with a search: its conditions are on columns of `table`. */
type TableSource<F extends Fields> = Omit<ListSource<F>, 'from' | 'count'> & SearchedTable

type SearchedSource<F extends Fields> = TableSource<F> &
  Pick<HitsSource<F>, 'whole'> & {
    /** What the matches are found in, so that they are found once for each state of it; null for each time. */
    state: ListState | null
  }

/** The rows of a scope from the newest on, which an index has in this order. */
export type NewestRows = Pick<ListSource, 'from' | 'key' | 'where' | 'owners' | 'ranges' | 'sort'>

/** What a page of rows that are known needs. */
type FewSource<F extends Fields> = Pick<ListSource<F>, 'sort' | 'key' | 'columns' | 'joins' | 'shown'>

/** A page of matches that are in the order of the list. */
async function pageOfFew<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: FewSource<F>,
  matches: readonly Match[],
): Promise<Page<RowOf<F>>> {
  const { keys, after } = keysOf(source, request)
  judgePage(request, after, matches.length)
  const rest = after ? matches.filter((match) => compareKeys(match.keys, after, keys) > 0) : matches
  const { page, size } = request
  const skipped = after ? 0 : (page - 1) * size
  const shown = rest.slice(skipped, skipped + size)
  const last = rest.length > skipped + size ? shown.at(-1) : undefined
  const of = { count: matches.length, page, size, after: last ? [...last.keys] : null }
  if (shown.length === 0) return { rows: [], ...of }
  const found = sql`select column1 as key, column1 as k0 from ${listedKeys(shown.map(({ key }) => key))}`
  const rows = await db.all(selectPageRows<RowOf<F>>(source, keys.slice(-1), found, { isSorted: true }))
  return { rows, ...of }
}

const whole = <F extends Fields>(source: TableSource<F>): ListSource<F> => ({
  ...source,
  from: sql`${source.table} ${source.judged ?? sql``}`,
})

interface CountedSearch<F extends Fields> {
  source: SearchedSource<F>
  search: FewSearch
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

/** One page through the search index: of few rows at once, and of many from what was found in this state of the list. */
export async function paginateSearch<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: SearchedSource<F>,
  search: FewSearch,
): Promise<Page<RowOf<F>>> {
  const list = source.state && (await hitListOf(source.state))
  const many = (count: number) => pageOfMany(db, request, { source, search, count })
  const known = list && (await pageOfHits(db, request, source, { list }))
  if (known) return known.page ?? many(known.total)
  const { keys } = keysOf(source, request)
  const { matches, shares } = await findFew(db, source, request, search)
  if (matches) return pageOfFew(db, request, source, matches)
  if (!list) return many(await countMatches(db, source, search))
  const found = await findHits(db, source, search, { state: list.state, keys, shares })
  keepHits(db, list, found)
  const page = await pageOfHits(db, request, source, { list, found })
  return page?.page ?? many(found.total)
}

/** One page of the matches among the newest rows of a scope. */
export async function paginateNewest<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: TableSource<F>,
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
