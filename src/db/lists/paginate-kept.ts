import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import type { Fields, RowOf } from '../select.ts'
import { hitListOf, keepHits, type ListState, readHits } from './list-hits.ts'
import type { ListSource } from './list-source.ts'
import { and, orderKeysOf, orderOf, wholeSort } from './order-keys.ts'
import { pageOfHits } from './page-of-hits.ts'
import { ofOwners, readBy } from './page-statement.ts'
import { paginate } from './paginate.ts'

interface ListOfKept<F extends Fields> {
  source: ListSource<F>
  state: ListState
  /** The table of the rows, where they are read otherwise to be found. Keys name its columns. */
  table?: SQL
  /** Answers a page of few rows, which are not kept; null where they are more. */
  few?: (() => Promise<Page<RowOf<F>> | null>) | undefined
}

/** Rows whose keys are kept. */
type KeptSource = Pick<ListSource, 'from' | 'index' | 'key' | 'where' | 'owners' | 'sort'>

/** A query of the `key` of each row, in the order of the list. */
const allOf = (source: KeptSource): SQL => sql`select ${source.key} as key from ${readBy(source)}
  where ${and([...ofOwners(source), ...source.where])} order by ${orderOf(orderKeysOf(wholeSort(source)))}`

/** One page of rows that are found once for each state of the list. Where they are too many to be kept, the list is walked. */
export async function paginateKept<F extends Fields>(
  db: Database,
  request: PageRequest,
  { source, state, table, few }: ListOfKept<F>,
): Promise<Page<RowOf<F>>> {
  const list = await hitListOf(state)
  const hits = { ...source, table: table ?? source.from }
  const walk = (count: ListSource['count']) => paginate(db, request, { ...source, count })
  const known = await pageOfHits(db, request, hits, { list })
  if (known) return known.page ?? walk(known.total)
  const short = await few?.()
  if (short) return short
  const found = await readHits(db, state, allOf(source))
  keepHits(db, list, found)
  const page = await pageOfHits(db, request, hits, { list, found })
  return page?.page ?? walk(page?.total ?? source.count)
}
