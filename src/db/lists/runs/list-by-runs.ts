import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { Database } from '../../database.ts'
import type { Fields, RowOf } from '../../select.ts'
import type { ListSource } from '../list-source.ts'
import { listedKeys } from '../listed-keys.ts'
import { beyond, type KeyValues, keysOf } from '../order-keys.ts'
import { judgePage } from '../page-rows.ts'
import { paginate } from '../paginate.ts'
import { readBy } from '../page-statement.ts'
import { inAnyRange, inOrderOf, union } from '../ranges.ts'
import {
  allRanges,
  columnIn,
  type FacetRow,
  facetColumns,
  hasFacets,
  keyOfEntry,
  keysIn,
  ofFacets,
} from './run-list.ts'
import { inTime, matchingIn, type OpenRuns, openRuns, type RunRows } from './open-runs.ts'
import { LostChunk, RunReader } from './read-runs.ts'

type RowKeys = readonly (number | string)[]

/** Rows that may be on the page, and the key of the list up to which there are no others; null for its end. */
interface Candidates {
  keys: RowKeys
  bound: KeyValues | null
}

/** So many rows are sorted rather than looked for in runs. */
const mostSorted = 100
const mostTries = 4

const nothing = sql<{ n: number }>`select 0 as n`

/** The key of a run that a key of the list has; undefined where it is of no row in a run. */
function keyInRun({ list, ordering, only }: RunRows, after: KeyValues): KeyValues | undefined {
  const rest = ordering.isNullable ? after.slice(1) : after
  const key = only === undefined ? rest : [only, ...rest]
  // Rows without a value stand behind the others, and an index has them in the order of their creation.
  if (key.length !== keysIn(list, ordering).length || (ordering.isNullable && Number(after[0]) > 0)) return undefined
  return key
}

/** The key behind which a page begins, in the same way; null for the first row. */
const afterInRun = (rows: RunRows, { after }: PageRequest): KeyValues | null | undefined =>
  after === null ? null : keyInRun(rows, after)

/** The key of the list that a row of a run has. */
function keyInList({ ordering, only }: RunRows, key: KeyValues): KeyValues {
  const rest = only === undefined ? key : key.slice(1)
  return ordering.isNullable ? [0, ...rest] : rest
}

/** The rows of a range of time, if it has few. */
async function fewRows(db: Database, rows: RunRows): Promise<RowKeys | null> {
  const { list, facets, editions } = rows
  const { index, ranges } = list.byCreation(facets)
  const found = await db.all(sql<
    FacetRow & { key: number | string }
  >`select ${columnIn(list, list.key)} as key, ${facetColumns(list)}
    from ${readBy({ from: list.table, index })}
    where ${columnIn(list, list.scope)} in (${list.scopesOf(editions)}) ${ranges ? sql`and ${inAnyRange(ranges)}` : sql``}
      and ${inTime(rows)}
    limit ${mostSorted + 1}`)
  return found.length > mostSorted ? null : found.filter((row) => hasFacets(list, row, facets)).map(({ key }) => key)
}

interface RowWithoutValue {
  key: number | string
  created_at: number
}

/** Some of the rows without a value, which stand behind those with one. */
async function rowsWithoutValue(db: Database, rows: RunRows, window: { limit: number; offset?: number }) {
  const { list, editions, facets, ordering, isDesc } = rows
  const { limit, offset = 0 } = window
  const direction = sql.raw(isDesc ? 'desc' : 'asc')
  const order = sql`created_at ${direction}, key ${direction}`
  const selected =
    (id: string) =>
    (range: readonly SQL[]): SQL =>
      sql`select ${columnIn(list, list.key)} as key, ${columnIn(list, 'created_at')} as created_at
        from ${list.table} indexed by ${ordering.index}
        where ${sql.join([...range, ofFacets(list, { ...ordering, leading: 0 }, facets)], sql` and `)}
          and ${columnIn(list, list.scope)} = ${id} and ${ordering.value} is null and ${inTime(rows)}`
  const ids = await db.all(sql<{ id: string }>`${list.scopesOf(editions)}`)
  const parts = ids.map(
    ({ id }) =>
      sql`select * from (${inOrderOf(allRanges(list, ordering), selected(id), order)} limit ${limit + offset})`,
  )
  if (parts.length === 0) return []
  return db.all(sql<RowWithoutValue>`select * from (${union(parts)}) order by ${order} limit ${limit} offset ${offset}`)
}

async function candidatesOf(db: Database, rows: RunRows, reader: RunReader, count: number): Promise<Candidates> {
  const { entries, isWhole } = await reader.take(count)
  const keys = entries.map(({ key }) => key)
  const last = entries.at(-1)
  if (!isWhole && last) return { keys, bound: keyInList(rows, keyOfEntry(rows.ordering, last)) }
  if (!rows.ordering.isNullable) return { keys, bound: null }
  const others = await rowsWithoutValue(db, rows, { limit: count })
  const end = others.length === count ? others.at(-1) : undefined
  return { keys: [...keys, ...others.map(({ key }) => key)], bound: end ? [1, 0, end.created_at, end.key] : null }
}

/** Some rows that are before a bound, of the editions that runs were opened of. */
function sourceOf<F extends Fields>(
  { rows: { list }, runs, source }: { rows: RunRows; runs: OpenRuns; source: ListSource<F> },
  request: PageRequest,
  { keys: listed, bound }: Candidates,
): ListSource<F> {
  const { keys } = keysOf(source, request)
  const editions = sql`select column1 as id from ${listedKeys([...runs.generations.keys()])}`
  return {
    ...source,
    owners: source.owners && { ...source.owners, ids: editions },
    from: sql`${listedKeys(listed)} as found cross join ${list.table} on ${columnIn(list, list.key)} = found.column1`,
    where: [...source.where, ...(bound ? [sql`not ${beyond(keys, bound)}`] : [])],
  }
}

/** Does what reads runs, anew where a new generation has replaced them meanwhile; null where that is so again and again. */
async function readingRuns<Result>(read: () => Promise<Result | null>): Promise<Result | null> {
  for (let tries = 0; tries < mostTries; tries++)
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof LostChunk)) throw error
    }
  return null
}

interface ListInRuns<F extends Fields> {
  rows: RunRows
  /** Counts the list. */
  count: SQL<{ n: number }>
  /** It sorts rows that are found first. */
  source: () => ListSource<F>
}

/**
 * A page of a list that runs serve; null where there is none. `request` is as it was given, or that of the page behind a row to
 * which runs led from its number.
 */
export async function listByRuns<F extends Fields>(
  db: Database,
  request: PageRequest,
  { rows, count, source }: ListInRuns<F>,
): Promise<{ page: Page<RowOf<F>> | null; request: PageRequest }> {
  const isNumbered = request.page > 1 && request.after === null
  if (!isNumbered && afterInRun(rows, request) === undefined) return { page: null, request }
  let placed = request
  const page = await readingRuns(async () => {
    const opened = await openRuns(db, rows, isNumbered ? count : nothing)
    if (opened && isNumbered) placed = await behindRow(db, request, rows, opened)
    const after = afterInRun(rows, placed)
    if (!opened || after === undefined || (isNumbered && after === null)) return null
    return pageOf(db, placed, { rows, runs: opened.runs, after, source: source() })
  })
  return { page, request: placed }
}

async function pageOf<F extends Fields>(
  db: Database,
  request: PageRequest,
  opened: { rows: RunRows; runs: OpenRuns; after: KeyValues | null; source: ListSource<F> },
): Promise<Page<RowOf<F>>> {
  const { rows, runs, after } = opened
  const page = (candidates: Candidates) => paginate(db, request, sourceOf(opened, request, candidates))
  const few = matchingIn(runs) <= mostSorted ? await fewRows(db, rows) : null
  if (few) return page({ keys: few, bound: null })
  const reader = new RunReader(db, rows, runs, after)
  for (let count = request.size + 1; ; count *= 4) {
    const candidates = await candidatesOf(db, rows, reader, count)
    const found = await page(candidates)
    // Rows that have changed meanwhile may have left too few.
    if (found.after !== null || candidates.bound === null) return found
  }
}

/** The key of the row before a page, of a list of so many rows. It is looked for from the nearer end. */
async function keyBefore(
  db: Database,
  rows: RunRows,
  { runs, total }: { runs: OpenRuns; total: number },
  skipped: number,
): Promise<KeyValues | null> {
  const reversed = { ...rows, isDesc: !rows.isDesc }
  const [before, behind] = [skipped - 1, total - skipped]
  // Rows without a value are last in both directions.
  const isFromEnd = behind < before && !rows.ordering.isNullable
  const reader = new RunReader(db, isFromEnd ? reversed : rows, runs, null)
  const { key, passed } = await reader.keyBehind(isFromEnd ? behind : before)
  if (key || !rows.ordering.isNullable) return key && keyInList(rows, key)
  const rest = before - passed
  const [found] =
    behind < rest
      ? await rowsWithoutValue(db, reversed, { limit: 1, offset: behind })
      : await rowsWithoutValue(db, rows, { limit: 1, offset: rest })
  return found ? [1, 0, found.created_at, found.key] : null
}

/** A request of a page by its number as one of the page behind a row, where runs lead to it. */
async function behindRow(
  db: Database,
  request: PageRequest,
  rows: RunRows,
  opened: { runs: OpenRuns; total: number },
): Promise<PageRequest> {
  judgePage(request, null, opened.total)
  const after = await keyBefore(db, rows, opened, (request.page - 1) * request.size)
  return after ? { ...request, after } : request
}
