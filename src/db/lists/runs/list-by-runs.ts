import { type SQL, sql } from 'drizzle-orm'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { Database } from '../../database.ts'
import type { Fields, RowOf } from '../../select.ts'
import type { ListSource } from '../list-source.ts'
import { listedKeys, listedPairs } from '../listed-keys.ts'
import { and, beyond, keyColumns, type KeyValues, keysOf } from '../order-keys.ts'
import { judgePage } from '../page-rows.ts'
import { paginate, paginateSorted } from '../paginate.ts'
import { readBy } from '../page-statement.ts'
import { inAnyRange, inOrderOf, union } from '../ranges.ts'
import {
  allRanges,
  columnIn,
  compareInOrder,
  type FacetRow,
  facetColumns,
  facetOfKind,
  hasFacets,
  ofFacets,
  rowsOfKeys,
  wantedKinds,
} from './run-list.ts'
import {
  inTime,
  isUnnoted,
  keyInPart,
  type ListedEntry,
  matchingIn,
  numberOfKeysIn,
  type OpenRuns,
  openRuns,
  orderingOf,
  type RunPart,
  type RunRows,
} from './open-runs.ts'
import { type InPlace, LostChunk, RunReader } from './read-runs.ts'

/** The keys of rows, and the kinds of those that runs have as they are. */
type RowKeys = ReadonlyMap<number | string, number | null>

/** Rows that may be on the page, and the key of the list up to which there are no others; null for its end. */
interface Candidates {
  keys: RowKeys
  bound: KeyValues | null
}

const ofUnknownKinds = (rows: readonly { key: number | string }[]): RowKeys =>
  new Map(rows.map(({ key }) => [key, null]))

/** So many rows are sorted rather than looked for in runs. */
const mostSorted = 100
const mostTries = 4
/** Of rows that stand in several places so many more are read at once. */
const spareRows = 16

const nothing = sql<{ n: number }>`select 0 as n`

/** A place in a list: the key of the row before it, and the part that has it. */
interface RunPlace {
  part: number
  after: KeyValues | null
}

const firstPlace: RunPlace = { part: 0, after: null }

const lastOf = ({ parts }: RunRows): RunPart => parts.at(-1) ?? parts[0]

/** Rows without a value stand behind all parts, where an index has them in the order of their creation. */
const haveRest = (rows: RunRows): boolean => orderingOf(lastOf(rows)).isNullable === true

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

/** The key of the list that a row of a run has. */
const keyInList = ({ prefix, only }: RunPart, key: KeyValues): KeyValues => [
  ...prefix,
  ...(only === undefined ? key : key.slice(1)),
]

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

interface RowWithoutValue {
  key: number | string
  created_at: number
}

/** Some of the rows without a value, which stand behind those with one. */
async function rowsWithoutValue(db: Database, rows: RunRows, window: { limit: number; offset?: number }) {
  const { list, editions, isDesc } = rows
  const [{ ordering, facets }] = lastOf(rows).sources
  const { limit, offset = 0 } = window
  const direction = sql.raw(isDesc ? 'desc' : 'asc')
  const order = sql`created_at ${direction}, key ${direction}`
  const selected =
    (id: string) =>
    (range: readonly SQL[]): SQL =>
      sql`select ${columnIn(list, list.key)} as key, ${list.createdAt} as created_at
        from ${readBy({ from: list.table, index: ordering.indexed?.index })}
        where ${sql.join([...range, ofFacets(list, { leading: 0 }, facets)], sql` and `)}
          and ${columnIn(list, list.scope)} = ${id} and ${ordering.value} is null and ${inTime(rows)}`
  const ids = await db.all(sql<{ id: string }>`${list.scopesOf(editions)}`)
  const parts = ids.map(
    ({ id }) =>
      sql`select * from (${inOrderOf(ordering.indexed && allRanges(list, ordering.indexed), selected(id), order)} limit ${limit + offset})`,
  )
  if (parts.length === 0) return []
  return db.all(sql<RowWithoutValue>`select * from (${union(parts)}) order by ${order} limit ${limit} offset ${offset}`)
}

interface Opened {
  rows: RunRows
  runs: OpenRuns
}

/** A reader of each part from a place on. */
const readersFrom = (db: Database, { rows, runs }: Opened, { part: begun, after }: RunPlace) =>
  runs.parts.slice(begun).map((part, index) => ({
    part: part.part,
    reader: new RunReader(db, { rows, runs, part, after: index === 0 ? after : null }),
  }))

type Readers = ReturnType<typeof readersFrom>

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

/** Rows of a page to which runs led. */
export interface FoundRows {
  /** A table of their keys. */
  table: SQL
  key: SQL
  /** Whether what the run says of a row is still so. */
  isKnown: SQL
  /** What it says: the place of a value of a facet. */
  facet: (facet: number) => SQL
}

interface FoundSource<F extends Fields> {
  /** It sorts rows that are found first. */
  source: (found: FoundRows) => ListSource<F>
  /** What it reads them from, where that is not all that belongs to each. */
  from?: ((found: FoundRows) => SQL) | undefined
}

const foundKey = sql`found.column1`

/** All rows that were found, with what belongs to each. */
const joinedRows = ({ list }: RunRows, { table, key }: FoundRows): SQL => {
  const how = sql`cross join`
  return sql`${table} ${rowsOfKeys(list, how, key)} ${list.joins?.(how) ?? sql``}`
}

function foundRows({ rows, runs }: Opened, keys: RowKeys): FoundRows {
  const table = rows.areKindsShown
    ? sql`(select column1, iif(${isUnnoted(rows, runs)}, column2, null) as kind from ${listedPairs(keys)})`
    : listedKeys([...keys.keys()])
  return {
    table: sql`${table} as found`,
    key: foundKey,
    isKnown: sql`(found.kind is not null)`,
    facet: (facet) => facetOfKind(rows.list, facet, sql`found.kind`),
  }
}

/** Some rows that are before a bound, of the editions that runs were opened of. */
function sourceOf<F extends Fields>(
  opened: Opened & FoundSource<F>,
  request: PageRequest,
  { keys: listed, bound }: Candidates,
): ListSource<F> {
  const found = foundRows(opened, listed)
  const source = opened.source(found)
  const { keys } = keysOf(source, request)
  const editions = sql`select column1 as id from ${listedKeys([...opened.runs.generations.keys()])}`
  return {
    ...source,
    owners: source.owners && { ...source.owners, ids: editions },
    from: opened.from?.(found) ?? joinedRows(opened.rows, found),
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
    if (!runs || (isNumbered && rows.repeated === 'anywhere' && !rows.lookedUp)) return null
    if (isNumbered) placed = await behindRow(db, request, { rows, runs, ...found }, total)
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
    const source = sourceOf(opened, request, candidates)
    return rows.areKindsShown ? paginateSorted(db, request, source) : paginate(db, request, source)
  }
  const few = matchingIn(runs.parts) <= mostSorted ? await fewRows(db, rows) : null
  if (few) return page({ keys: few, bound: null })
  const readers = readersFrom(db, opened, place)
  const areElsewhere = rows.repeated === 'at the least' || rows.repeated === 'anywhere'
  for (let count = request.size + 1 + (areElsewhere ? spareRows : 0); ; count *= 4) {
    const candidates = await candidatesOf(db, rows, readers, count)
    const found = await page(candidates)
    // Rows that have changed meanwhile may have left too few.
    if (found.after !== null || candidates.bound === null) return found
    // Where most of them are elsewhere all before the page are passed, or the list is read otherwise.
    if (areElsewhere && (4 * found.rows.length < request.size || count > 4 * request.size))
      return rows.repeated === 'at the least' ? pageOfLeast(db, request, opened, page) : null
  }
}

/** Looks the rows up that may stand elsewhere. */
function inPlaceOf<F extends Fields>(
  db: Database,
  opened: Opened & FoundSource<F>,
  request: PageRequest,
): InPlace | undefined {
  const { repeated, lookedUp, list } = opened.rows
  if (repeated !== 'anywhere' || !lookedUp) return undefined
  const kinds = wantedKinds(list, lookedUp)
  const places = new Map<number | string, KeyValues>()
  const lookUp = async (unknown: readonly ListedEntry[]): Promise<void> => {
    const source = sourceOf(opened, request, { keys: ofUnknownKinds(unknown), bound: null })
    const { keys } = keysOf(source, request)
    const found = await db.all(sql<Record<string, number | string>>`select ${keyColumns(keys.map(({ by }) => by))}
      from ${source.from} where ${and(source.where)}`)
    for (const row of found) {
      const place = keys.map((_, index) => row[`k${index}`] ?? '')
      places.set(place.at(-1) ?? '', place)
    }
  }
  return async (part, entries) => {
    const isSure = ({ kind }: ListedEntry): boolean => kind !== null && !kinds[kind]
    const unknown = entries.filter((entry) => !isSure(entry) && !places.has(entry.key))
    if (unknown.length > 0) await lookUp(unknown)
    return entries.filter((entry) => {
      const place = isSure(entry) ? null : places.get(entry.key)
      return place === null || (place && compareInOrder(place, keyInList(part, keyInPart(part, entry)), false) === 0)
    })
  }
}

/** A page of rows that stand at the least of their keys: the first of each that is passed from the first row of the list on. */
async function pageOfLeast<Found extends Page<unknown>>(
  db: Database,
  request: PageRequest,
  { rows, runs, place }: Opened & { place: RunPlace },
  page: (candidates: Candidates) => Promise<Found>,
): Promise<Found | null> {
  const { isDesc } = rows
  const [part] = runs.parts
  for (let count = request.size + 1; part; count *= 4) {
    const reader = new RunReader(db, { rows: { ...rows, isDesc: false }, runs, part, after: null })
    const entries = await reader.leastNextTo(place.after, count, isDesc)
    const last = isDesc ? entries.at(0) : entries.at(-1)
    const bound = last && entries.length === count ? keyInList(part.part, keyInPart(part.part, last)) : null
    const found = await page({ keys: new Map(entries.map(({ key, kind }) => [key, kind])), bound })
    if (found.after !== null || bound === null) return found
  }
  return null
}

/** The key of the row before a page, of a list of so many rows. It is looked for from the nearer end. */
async function keyBefore(
  db: Database,
  { rows, runs }: Opened,
  { total, skipped, inPlace }: { total: number; skipped: number; inPlace?: InPlace | undefined },
): Promise<KeyValues | null> {
  const reversed = { ...rows, isDesc: !rows.isDesc }
  const [before, behind] = [skipped - 1, total - skipped]
  // The least key of a row is the first one of it that is passed.
  const isFromEnd = rows.repeated === 'at the least' ? rows.isDesc : behind < before && !haveRest(rows)
  const readers = readersFrom(db, { rows: isFromEnd ? reversed : rows, runs }, firstPlace)
  let passed = 0
  for (const { part, reader } of isFromEnd ? readers.toReversed() : readers) {
    const found = await reader.keyBehind((isFromEnd ? behind : before) - passed, inPlace)
    if (found.key) return keyInList(part, found.key)
    passed += found.passed
  }
  if (!haveRest(rows)) return null
  const rest = before - passed
  const [found] =
    behind < rest
      ? await rowsWithoutValue(db, reversed, { limit: 1, offset: behind })
      : await rowsWithoutValue(db, rows, { limit: 1, offset: rest })
  return found ? [1, 0, found.created_at, found.key] : null
}

/** A request of a page by its number as one of the page behind a row, where runs lead to it. */
async function behindRow<F extends Fields>(
  db: Database,
  request: PageRequest,
  opened: Opened & FoundSource<F>,
  total: number,
): Promise<PageRequest> {
  judgePage(request, null, total)
  const skipped = (request.page - 1) * request.size
  const after = await keyBefore(db, opened, { total, skipped, inPlace: inPlaceOf(db, opened, request) })
  return after ? { ...request, after } : request
}
