import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { Database } from '../../database.ts'
import type { Fields, RowOf } from '../../select.ts'
import type { KeyValues } from '../order-keys.ts'
import { paginate, paginateSorted } from '../paginate.ts'
import { readBy } from '../page-statement.ts'
import { inAnyRange } from '../ranges.ts'
import {
  type Candidates,
  type FoundSource,
  inTime,
  keyInList,
  type Opened,
  ofUnknownKinds,
  type RowKeys,
  sourceOf,
} from './found-in-runs.ts'
import {
  behindRow,
  firstPlace,
  haveRest,
  type Readers,
  readersFrom,
  rowsWithoutValue,
  type RunPlace,
} from './number-in-runs.ts'
import { columnIn, type FacetRow, facetColumns, hasFacets } from './run-list.ts'
import { openRuns } from './open-runs.ts'
import { matchingIn } from './read-runs.ts'
import { keyInPart, LostChunk, orderingOf, type RunPart, type RunRows } from './run-rows.ts'

/** So many rows are sorted rather than looked for in runs. */
const mostSorted = 100
const mostTries = 4

const nothing = sql<{ n: number }>`select 0 as n`

const numberOfKeysIn = (part: RunPart): number => (part.ignoresCreation || !orderingOf(part).isByCreation ? 2 : 3)

/** The place behind a key of the list; undefined where it is of no row in a run. */
function placeBehind({ parts }: RunRows, after: KeyValues): RunPlace | undefined {
  const found = parts.findIndex(({ prefix }) => prefix.every((value, index) => after[index] === value))
  const part = parts[found]
  if (!part) return undefined
  const { prefix, only } = part
  const rest = after.slice(prefix.length)
  const key = only === undefined ? rest : [only, ...rest]
  return key.length === numberOfKeysIn(part) ? { part: found, after: key } : undefined
}

/** Where a page begins, in the same way. */
const placeOf = (rows: RunRows, { after }: PageRequest): RunPlace | undefined =>
  after === null ? firstPlace : placeBehind(rows, after)

/** The rows of a range of time, if it has few. */
async function fewRows(db: Database, rows: RunRows): Promise<RowKeys | null> {
  const { list, editions, parts } = rows
  if (!list.byCreation) return null
  const [{ facets }] = parts[0].sources
  const { index, ranges } = list.byCreation(facets)
  const found = await db.all(sql<
    FacetRow & { key: number | string }
  >`select ${columnIn(list, list.key)} as key, ${facetColumns(list)}
    from ${readBy({ from: list.table, index })}
    where ${columnIn(list, list.scope)} in (${list.scopesOf(editions)}) ${ranges ? sql`and ${inAnyRange(ranges)}` : sql``}
      and ${inTime(rows)}
    limit ${mostSorted + 1}`)
  return found.length > mostSorted ? null : ofUnknownKinds(found.filter((row) => hasFacets(list, row, facets)))
}

async function candidatesOf(db: Database, rows: RunRows, readers: Readers, count: number): Promise<Candidates> {
  const keys = new Map<number | string, number | null>()
  for (const { part, reader } of readers) {
    const { entries, isWhole } = await reader.take(Math.max(1, count - keys.size))
    for (const { key, kind } of entries) keys.set(key, kind)
    const last = entries.at(-1)
    if (!isWhole && last) return { keys, bound: keyInList(part, keyInPart(part, last)) }
  }
  if (!haveRest(rows)) return { keys, bound: null }
  const others = await rowsWithoutValue(db, rows, { limit: count })
  const end = others.length === count ? others.at(-1) : undefined
  return { keys: new Map([...keys, ...ofUnknownKinds(others)]), bound: end ? [1, 0, end.created_at, end.key] : null }
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

interface ListInRuns<F extends Fields> extends FoundSource<F> {
  rows: RunRows
  /** Counts the list. */
  count: SQL<{ n: number }>
  /** Whether it is counted for the first page, too. */
  isCounted?: boolean
}

interface ListedByRuns<F extends Fields> {
  page: Page<RowOf<F>> | null
  request: PageRequest
  /** The number of the rows, where they were counted. */
  total?: number
}

/**
 * A page of a list that runs serve; null where there is none. `request` is as it was given, or that of the page behind a row to
 * which runs led from its number.
 */
export async function listByRuns<F extends Fields>(
  db: Database,
  request: PageRequest,
  { rows: asked, count, isCounted = false, ...found }: ListInRuns<F>,
): Promise<ListedByRuns<F>> {
  const isNumbered = request.page > 1 && request.after === null
  if (!isNumbered && placeOf(asked, request) === undefined) return { page: null, request }
  let [placed, counted] = [request, undefined as number | undefined]
  const page = await readingRuns(async () => {
    const { runs, rows, total } = await openRuns(db, asked, isNumbered || isCounted ? count : nothing)
    counted = isNumbered || isCounted ? total : undefined
    if (!runs) return null
    if (isNumbered) placed = await behindRow(db, request, { rows, runs }, total)
    const place = placeOf(rows, placed)
    if (!place || (isNumbered && placed.after === null)) return null
    return pageOf(db, placed, { rows, runs, place, ...found })
  })
  return { page, request: placed, ...(counted === undefined ? {} : { total: counted }) }
}

async function pageOf<F extends Fields>(
  db: Database,
  request: PageRequest,
  opened: Opened & FoundSource<F> & { place: RunPlace },
): Promise<Page<RowOf<F>> | null> {
  const { rows, runs, place } = opened
  const page = (candidates: Candidates) => {
    // Of more than a page needs what belongs to each is not read.
    const isSortedHere = opened.isSortedHere && candidates.keys.size <= request.size + 1
    const source = sourceOf({ ...opened, isSortedHere }, request, candidates)
    return rows.areKindsShown || isSortedHere ? paginateSorted(db, request, source) : paginate(db, request, source)
  }
  const few = matchingIn(runs.parts) <= mostSorted ? await fewRows(db, rows) : null
  if (few) return page({ keys: few, bound: null })
  const readers = readersFrom(db, opened, place)
  for (let count = request.size + 1; ; count *= 4) {
    const candidates = await candidatesOf(db, rows, readers, count)
    const found = await page(candidates)
    // Rows that have changed meanwhile may have left too few.
    if (found.after !== null || candidates.bound === null) return found
  }
}
