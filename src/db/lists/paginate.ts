import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../domain/page.ts'
import { compareKeys } from '../../domain/text/compare-keys.ts'
import type { Database } from '../database.ts'
import { answering, type Fields, type RowOf, selection } from '../select.ts'
import type { ListSource } from './list-source.ts'
import { and, beyond, isNullable, keyColumns, keysOf, type KeyValues, wholeSort } from './order-keys.ts'
import { type Counting, isFarPage, routeTo, shortSkipOfTwice } from './page-by-number.ts'
import { judgePage, type Keyed, pageFrom, pageOf } from './page-rows.ts'
import { inAnyRange } from './ranges.ts'
import { isInOrder, ofOwners, selectPageKeys, selectPageRows } from './page-statement.ts'

const isCounting = (count: ListSource['count']): count is Counting => typeof count === 'object' && count !== null

/** The statement that counts a list. */
function countingOf(source: ListSource<SQL | Fields>): Counting {
  const { count } = source
  if (isCounting(count)) return count
  if (typeof count === 'number') return { statement: sql<{ n: number }>`select ${count} as n` }
  const inRanges = source.ranges ? [inAnyRange(source.ranges)] : []
  const conditions = and([...ofOwners(source), ...inRanges, ...source.where])
  return { statement: sql<{ n: number }>`select count(*) as n from ${source.from} where ${conditions}` }
}

/**
 * One page and the exact count of the whole list, from one snapshot. Throws `invalid_page` past the end; page 1 of
 * nothing is an empty page. One row more than the page says whether another follows: the count does not, for a client
 * that walks by cursor while rows go away. Where a start leads to a page by its number, it does. Rows are decoded where their columns are fields.
 */
export async function paginate<Row>(db: Database, request: PageRequest, source: ListSource): Promise<Page<Row>>
export async function paginate<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: ListSource<F>,
): Promise<Page<RowOf<F>>>
export async function paginate<Row>(
  db: Database,
  request: PageRequest,
  source: ListSource<SQL | Fields>,
): Promise<Page<Row>> {
  const sort = wholeSort(source)
  const { keys, after } = keysOf(source, request)
  const offset = after ? 0 : (request.page - 1) * request.size
  const counting = countingOf(source)
  const route = await routeTo(db, offset, {
    counting: isCounting(source.count) ? counting : null,
    startOf: source.startOf,
    shortSkip: source.shortSkip ?? (source.owners?.isOrdered && source.startOf ? shortSkipOfTwice : undefined),
    findStart: source.findStart,
    // Rows without a value are last in both directions.
    isReversible: !sort.some(({ by }) => isNullable(by)),
  })
  // A start has read what counts the list. Without rows the page is behind the last.
  const count = route.start?.count
  const most = count ? request.size : request.size + 1
  // Behind its count a page from the end asks for nothing.
  const limit = source.some && !route.countedFromEnd ? sql`iif(${source.some}, ${most}, 0)` : most
  const asked = { after, limit, offset, ...route }
  // Rows that are sorted, or passed one by one, are not read whole. Of rows that are merged the queue has the keys alone.
  const isWhole =
    !!source.read && !source.owners?.isOrdered && isInOrder(asked) && (!isFarPage(request) || !!route.start)
  const page = selectPageKeys(isWhole ? { ...source, whole: source.read } : source, sort, keys, asked)
  const shown = { ctes: route.ctes, isSorted: isInOrder(asked), isWhole, count }
  const rows = selectPageRows<Row>(source, keys, page, shown)
  const [found, [total] = []] = await db.batch(count ? [rows] : [rows, counting.statement])
  const n = Number(found[0]?.['list_count'] ?? total?.n ?? 0)
  judgePage(request, after, n)
  return count
    ? pageOf<Row>(request, keys.length, found, { count: n, isFollowed: offset + found.length < n })
    : pageFrom<Row>(request, keys.length, found, n)
}

/**
 * As `paginate`, of a list whose rows are few, all of which are read: they are sorted here. SQL would read each once more to do so. Their
 * columns are those of `from`.
 */
export async function paginateSorted<F extends Fields>(
  db: Database,
  request: PageRequest,
  source: ListSource<F>,
): Promise<Page<RowOf<F>>> {
  const { keys, after } = keysOf(source, request)
  const where = [...(after ? [beyond(keys, after)] : []), ...source.where]
  const columns = keyColumns(keys.map(({ by }) => by))
  const [found, [total]] = await db.batch([
    answering(
      source.columns,
      sql<Keyed<RowOf<F>>>`select ${columns}, ${selection(source.columns)} from ${source.from} where ${and(where)}`,
    ),
    countingOf(source).statement,
  ])
  const n = total?.n ?? 0
  judgePage(request, after, n)
  const valuesOf = (row: Keyed<RowOf<F>>): KeyValues => keys.map((_, index) => row[`k${index}`] ?? '')
  const sorted = found.toSorted((a, b) => compareKeys(valuesOf(a), valuesOf(b), keys))
  return pageFrom<RowOf<F>>(request, keys.length, sorted.slice(0, request.size + 1), n)
}

/** The keys of the row at a place of the list, of which none are read but those before it; null behind the end. */
export async function keysAt(db: Database, source: ListSource, offset: number): Promise<KeyValues | null> {
  const sort = wholeSort(source)
  const { keys } = keysOf(source, { page: 1, size: 1, after: null })
  const asked = { after: null, limit: 1, offset, start: null, countedFromEnd: null, ctes: null }
  const row = await db.first(sql<Record<string, string | number>>`${selectPageKeys(source, sort, keys, asked)}`)
  return row ? keys.map((_, index) => row[`k${index}`] ?? '') : null
}
