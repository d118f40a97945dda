import type { SQL } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import type { Fields, RowOf } from '../select.ts'
import { hitListOf, keepHits, type ListState, readHits } from './list-hits.ts'
import type { ListSource } from './list-source.ts'
import { pageOfHits } from './page-of-hits.ts'
import { paginate } from './paginate.ts'

interface ListOfKept<F extends Fields> {
  source: ListSource<F>
  state: ListState
  /** A query of the `key` of each row, in the order of the list. */
  matching: SQL
}

/** One page of rows that are found once for each state of the list. Where they are too many to be kept, the list is walked. */
export async function paginateKept<F extends Fields>(
  db: Database,
  request: PageRequest,
  { source, state, matching }: ListOfKept<F>,
): Promise<Page<RowOf<F>>> {
  const list = await hitListOf(state)
  const hits = { ...source, table: source.from }
  const walk = (count: ListSource['count']) => paginate(db, request, { ...source, count })
  const known = await pageOfHits(db, request, hits, { list })
  if (known) return known.page ?? walk(known.total)
  const found = await readHits(db, state, matching)
  keepHits(db, list, found)
  const page = await pageOfHits(db, request, hits, { list, found })
  return page?.page ?? walk(page?.total ?? source.count)
}
