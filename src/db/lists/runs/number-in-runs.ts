import { type SQL, sql } from 'drizzle-orm'
import type { PageRequest } from '../../../domain/page.ts'
import type { Database } from '../../database.ts'
import type { KeyValues } from '../order-keys.ts'
import { judgePage } from '../page-rows.ts'
import { readBy } from '../page-statement.ts'
import { inOrderOf, union } from '../ranges.ts'
import { inTime, keyInList, type Opened } from './found-in-runs.ts'
import { allRanges, columnIn, ofFacets } from './run-list.ts'
import { orderingOf, type RunPart, type RunRows } from './run-rows.ts'
import { RunReader } from './read-runs.ts'

/** A place in a list: the key of the row before it, and the part that has it. */
export interface RunPlace {
  part: number
  after: KeyValues | null
}

export const firstPlace: RunPlace = { part: 0, after: null }

const lastOf = ({ parts }: RunRows): RunPart => parts.at(-1) ?? parts[0]

/** Rows without a value stand behind all parts, where an index has them in the order of their creation. */
export const haveRest = (rows: RunRows): boolean => orderingOf(lastOf(rows)).isNullable === true

interface RowWithoutValue {
  key: number | string
  created_at: number
}

/** Some of the rows without a value, which stand behind those with one. */
export async function rowsWithoutValue(db: Database, rows: RunRows, window: { limit: number; offset?: number }) {
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

/** A reader of each part from a place on. */
export const readersFrom = (db: Database, { rows, runs }: Opened, { part: begun, after }: RunPlace) =>
  runs.parts.slice(begun).map((part, index) => ({
    part: part.part,
    reader: new RunReader(db, { rows, runs, part, after: index === 0 ? after : null }),
  }))

export type Readers = ReturnType<typeof readersFrom>

/** The key of the row before a page, of a list of so many rows. It is looked for from the nearer end. */
async function keyBefore(
  db: Database,
  { rows, runs }: Opened,
  { total, skipped }: { total: number; skipped: number },
): Promise<KeyValues | null> {
  const reversed = { ...rows, isDesc: !rows.isDesc }
  const [before, behind] = [skipped - 1, total - skipped]
  const isFromEnd = behind < before && !haveRest(rows)
  const readers = readersFrom(db, { rows: isFromEnd ? reversed : rows, runs }, firstPlace)
  let passed = 0
  for (const { part, reader } of isFromEnd ? readers.toReversed() : readers) {
    const found = await reader.keyBehind((isFromEnd ? behind : before) - passed)
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
export async function behindRow(
  db: Database,
  request: PageRequest,
  opened: Opened,
  total: number,
): Promise<PageRequest> {
  judgePage(request, null, total)
  const skipped = (request.page - 1) * request.size
  const after = await keyBefore(db, opened, { total, skipped })
  return after ? { ...request, after } : request
}
