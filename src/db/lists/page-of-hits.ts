import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'
import { answering, type Fields, type Query, type RowOf, selection } from '../select.ts'
import { type Found, type HitList, keysOfSlice, sliceOfHits } from './list-hits.ts'
import type { ListSource } from './list-source.ts'
import { listedKeys } from './listed-keys.ts'
import { and, keyColumns, keysOf, type OrderKey } from './order-keys.ts'
import { judgePage, type Keyed, pageFrom } from './page-rows.ts'

/** A list of which the keys of all rows may be kept. */
export type HitsSource<F extends Fields> = Pick<ListSource<F>, 'key' | 'sort' | 'columns' | 'joins' | 'shown'> & {
  table: SQL
  /** Joins of what keys name beside the table. */
  judged?: SQL | undefined
  /**
   * Rows are read behind their keys, which are numbers, by a query of its own: SQL would count each key as a row, and the state
   * twice.
   */
  areReadBehind?: boolean | undefined
  /** Rows are read whole before their joins are. `columns` and `shown` are those of the list then, and name columns of `table`. */
  whole?: WholeRows<F> | undefined
}

interface WholeRows<F extends Fields> {
  columns: F
  shown: SQL
  joins: SQL
}

interface Known {
  total: number
  is_placed: number
}

/** Columns and keys of rows whose `key` a query has in their order. */
function selectRowsOf<F extends Fields>(
  { table, key, columns, joins, shown, whole }: HitsSource<F>,
  keys: readonly OrderKey[],
  ofPage: SQL,
  ctes?: SQL,
): Query<Keyed<RowOf<F>>> {
  const lookedUp = shown ? sql`select *, ${shown} as shown from (${ofPage}) limit -1` : ofPage
  const from = whole
    ? sql`(select ${table}.*, ${whole.shown} as shown from (${ofPage}) as page cross join ${table} on ${key} = page.key limit -1)
      as ${table} ${whole.joins}`
    : sql`(${lookedUp}) as page cross ${joins}`
  const fields = whole?.columns ?? columns
  const named = keys.map(({ by }) => (by === key && !whole ? sql`page.key` : by))
  const selected = sql<Keyed<RowOf<F>>>`${ctes ? sql`with ${ctes}` : sql``}
    select ${keyColumns(named)}, ${selection(fields)} from ${from}`
  return answering(fields, selected)
}

/** What is known of a list, and the rows of a page of it. */
async function readPage<F extends Fields>(
  db: Database,
  source: HitsSource<F>,
  keys: readonly OrderKey[],
  { list, ctes }: { list: HitList; ctes: SQL },
): Promise<{ known: Known | undefined; rows: Keyed<RowOf<F>>[] }> {
  const ofKnown = sql`total, total = 0 or (select keys from slice) is not null as is_placed`
  if (!source.areReadBehind) {
    const [rows, [known]] = await db.batch([
      selectRowsOf(source, keys, keysOfSlice(list.state.keys), ctes),
      sql<Known>`with ${ctes} select ${ofKnown} from known`,
    ])
    return { known, rows }
  }
  const known = await db.first(
    sql<Known & { keys: string | null }>`with ${ctes} select ${ofKnown}, (select keys from slice) as keys from known`,
  )
  const found = known?.keys?.split(',').slice(1).map(Number) ?? []
  if (found.length === 0) return { known, rows: [] }
  return { known, rows: await db.all(selectRowsOf(source, keys, sql`select column1 as key from ${listedKeys(found)}`)) }
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
  const { known, rows } = await readPage(db, source, keys, { list, ctes })
  if (!known) return null
  const { total, is_placed } = known
  judgePage(request, after, total)
  return { total, page: is_placed ? pageFrom<RowOf<F>>(request, keys.length, rows, total) : null }
}
