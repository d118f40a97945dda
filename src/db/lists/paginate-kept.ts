import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import type { Fields, RowOf } from '../select.ts'
import {
  type Found,
  type HitList,
  hitListOf,
  keepHits,
  keysOfSlice,
  type ListState,
  readHits,
  sliceOfHits,
} from './list-hits.ts'
import type { ListSource } from './list-source.ts'
import { keysOf } from './order-keys.ts'
import { judgePage, pageFrom } from './page-rows.ts'
import { selectPageRows } from './page-statement.ts'
import { paginate } from './paginate.ts'

/** A list in the order of its key, a number. */
interface ListOfKept<F extends Fields> {
  source: ListSource<F>
  state: ListState
  /** A query of the `key` of each row, in the order of the list. There are no more than are kept. */
  matching: SQL
}

/** A page of what is stored or was just found; null where neither is of the present state. */
async function pageOfKept<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: ListSource<F>,
  { list, found }: { list: HitList; found?: Found },
): Promise<Page<RowOf<F>> | null> {
  const { keys, after } = keysOf(source, request)
  const skipped = after ? 0 : (request.page - 1) * request.size
  const place = { skipped, limit: request.size + 1, after: after && { keys: after, isSame: sql`1` } }
  const ctes = sliceOfHits(list, place, found)
  const page = sql`select key, key as k0 from (${keysOfSlice(list.state.keys)})`
  const [rows, [known]] = await db.batch([
    selectPageRows<RowOf<F>>(source, keys, page, { ctes }),
    sql<{ total: number; is_placed: number }>`with ${ctes}
      select total, total = 0 or (select keys from slice) is not null as is_placed from known`,
  ])
  if (!known) return null
  judgePage(request, after, known.total)
  return known.is_placed ? pageFrom<RowOf<F>>(request, keys.length, rows, known.total) : null
}

/** One page of rows that are found once for each state of the list. */
export async function paginateKept<F extends Fields>(
  db: Database,
  request: PageRequest,
  { source, state, matching }: ListOfKept<F>,
): Promise<Page<RowOf<F>>> {
  const list = await hitListOf(state)
  const known = await pageOfKept(db, request, source, { list })
  if (known) return known
  const found = await readHits(db, state, matching)
  keepHits(db, list, found)
  const page = await pageOfKept(db, request, source, { list, found })
  return page ?? paginate(db, request, source)
}
