import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import type { Fields, RowOf } from '../select.ts'
import { type Found, type HitList, keysOfSlice, sliceOfHits } from './list-hits.ts'
import type { ListSource } from './list-source.ts'
import { and, keysOf } from './order-keys.ts'
import { judgePage, pageFrom } from './page-rows.ts'
import { selectRowsOf } from './page-statement.ts'

/** A list of which the keys of all rows may be kept. */
export type HitsSource<F extends Fields> = Pick<ListSource<F>, 'key' | 'sort' | 'columns' | 'joins' | 'shown'> & {
  table: SQL
  /** Joins of what keys name beside the table. */
  judged?: SQL | undefined
}

/** A page of what is stored or was just found in the present state; null where neither is of it. */
export async function pageOfHits<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: HitsSource<F>,
  { list, found }: { list: HitList; found?: Found },
): Promise<{ total: number; /** Null where the keys do not lead to it. */ page: Page<RowOf<F>> | null } | null> {
  const { keys, after } = keysOf(source, request)
  const { table, judged = sql`` } = source
  const skipped = after ? 0 : (request.page - 1) * request.size
  const same = keys.map(({ by }, index) => sql`${by} = ${after?.[index]}`)
  // The last key is that of the row, which it always has.
  const isSame = keys.length === 1 ? sql`1` : sql`exists (select 1 from ${table} ${judged} where ${and(same)})`
  const place = { skipped, limit: request.size + 1, after: after && { keys: after, isSame } }
  const ctes = sliceOfHits(list, place, found)
  const [rows, [known]] = await db.batch([
    selectRowsOf<RowOf<F>>(source, keys, keysOfSlice(list.state.keys), ctes),
    sql<{ total: number; is_placed: number }>`with ${ctes}
      select total, total = 0 or (select keys from slice) is not null as is_placed from known`,
  ])
  if (!known) return null
  const { total, is_placed } = known
  judgePage(request, after, total)
  return { total, page: is_placed ? pageFrom<RowOf<F>>(request, keys.length, rows, total) : null }
}
