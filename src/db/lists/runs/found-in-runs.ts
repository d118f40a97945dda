import { type SQL, sql } from 'drizzle-orm'
import type { PageRequest } from '../../../domain/page.ts'
import type { Fields } from '../../select.ts'
import type { ListSource } from '../list-source.ts'
import { listedKeys, listedPairs } from '../listed-keys.ts'
import { beyond, type KeyValues, keysOf } from '../order-keys.ts'
import { facetOfKind, rowsOfKeys } from './run-list.ts'
import { isUnnoted } from './run-notes.ts'
import type { OpenRuns } from './open-runs.ts'
import type { RunPart, RunRows } from './run-rows.ts'

/** The keys of rows, and the kinds of those that runs have as they are. */
export type RowKeys = ReadonlyMap<number | string, number | null>

/** Rows that may be on the page, and the key of the list up to which there are no others; null for its end. */
export interface Candidates {
  keys: RowKeys
  bound: KeyValues | null
}

export const ofUnknownKinds = (rows: readonly { key: number | string }[]): RowKeys =>
  new Map(rows.map(({ key }) => [key, null]))

/** The key of the list that a row of a run has. */
export const keyInList = ({ prefix, only }: RunPart, key: KeyValues): KeyValues => [
  ...prefix,
  ...(only === undefined ? key : key.slice(1)),
]

export interface Opened {
  rows: RunRows
  runs: OpenRuns
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

export interface FoundSource<F extends Fields> {
  /** It sorts rows that are found first. */
  source: (found: FoundRows) => ListSource<F>
  /** What it reads them from, where that is not all that belongs to each. */
  from?: ((found: FoundRows) => SQL) | undefined
  /** Rows of `read` are sorted behind SQL, which would read each once more. `where` has all of their conditions. */
  isSortedHere?: boolean | undefined
}

const foundKey = sql`found.column1`

/** All rows that were found, with what belongs to each. */
const joinedRows = ({ list }: RunRows, { table, key }: FoundRows): SQL => {
  const how = sql`cross join`
  return sql`${table} ${rowsOfKeys(list, how, key)} ${list.joins?.(how) ?? sql``}`
}

/** As `joinedRows`, with what is shown of each. */
const rowsWithJoins = ({ rows }: Opened, { read, shown }: Pick<ListSource, 'read' | 'shown'>, found: FoundRows): SQL =>
  read
    ? sql`(select ${read.table}.*, ${shown ?? sql`null`} as shown from ${joinedRows(rows, found)} limit -1) as ${read.table} ${read.joins}`
    : joinedRows(rows, found)

function foundRows({ rows, runs }: Opened, keys: RowKeys): FoundRows {
  const table = rows.areKindsShown
    ? sql`(select column1, iif(${isUnnoted(rows.list, runs.notes)}, column2, null) as kind from ${listedPairs(keys)})`
    : listedKeys([...keys.keys()])
  return {
    table: sql`${table} as found`,
    key: foundKey,
    isKnown: sql`(found.kind is not null)`,
    facet: (facet) => facetOfKind(rows.list, facet, sql`found.kind`),
  }
}

/** Some rows that are before a bound, of the editions that runs were opened of. */
export function sourceOf<F extends Fields>(
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
    from:
      opened.from?.(found) ??
      (opened.isSortedHere ? rowsWithJoins(opened, source, found) : joinedRows(opened.rows, found)),
    where: [...source.where, ...(bound ? [sql`not ${beyond(keys, bound)}`] : [])],
  }
}

export const inTime = ({ list, from, until }: RunRows): SQL =>
  sql`${list.createdAt} >= ${from} and ${list.createdAt} < ${until}`
