import { type SQL, sql } from 'drizzle-orm'
import { compareKeys } from '../../../domain/text/compare-keys.ts'
import type { customerRuns, customerRunStates } from '../../schema/sales/runs.ts'
import type { Database } from '../../database.ts'
import type { PartIndex } from '../intervals/interval-list.ts'
import { and, type KeyValues } from '../order-keys.ts'
import { readBy } from '../page-statement.ts'
import { inAnyRange, type Ranges } from '../ranges.ts'
import type { Facets } from '../spans/spanned-list.ts'
import type { Entry, EntryFormat } from './entries.ts'

/** An index whose rows stand behind the column of the scope and the first facets, of which it has so many. */
interface FacetIndex {
  index: SQL
  leading: number
}

/** An order of lists that has runs. */
export interface RunOrdering {
  name: string
  /** Null where rows follow their keys alone. */
  value: SQL | null
  isText?: boolean
  /** Rows without a value are in no run. */
  isNullable?: boolean
  /** Which rows have one, where not all that are not null. */
  present?: SQL
  /** Rows of the same value follow their creation; otherwise only their keys. */
  isByCreation?: boolean
  /** The index that has the order. Rows without a value stand behind the others there, in the order of their creation. */
  indexed?: FacetIndex
}

/** A column by whose values a list is filtered, all of them. With other values the kinds of stored entries are others. */
interface RunFacet {
  column: SQL
  values: readonly string[]
}

/** Where rows of an edition that become young are found: those from a value of a column on. */
interface Young {
  index?: FacetIndex
  /** A column of the table. Its values are numbers. */
  column: string
  /** The value that no row of an edition has come to yet, but for those that are noted. */
  horizon: (id: SQL, now: number) => SQL
}

/** The next rows of an edition in an order, so many at once. */
export interface AskedOrder {
  id: string
  ordering: RunOrdering
  rows: number
}

/** What follows `from`, its conditions, and the ranges of its index. */
export interface RowsInOrder {
  from: SQL
  where: readonly SQL[]
  ranges?: Ranges | undefined
  /** So many chunks are read at once, where all rows are read and sorted for them. */
  chunks?: number
}

/** A list of editions that has runs. */
export interface RunList {
  table: SQL
  /** What is joined to each row of the table. */
  joins?: (how: SQL) => SQL
  /** What some facets and orderings need beside that. */
  beside?: SQL
  /**
   * A text of all editions of a row, as `ownersIn` reads it, where several have it: empty where one has it, and where they are too
   * many. It may need what is beside. Notes say of a row in all its editions that it has changed.
   */
  owners?: SQL
  /** Tables of chunks, of what editions have, and of notes of late changes. */
  runs: typeof customerRuns
  states: typeof customerRunStates
  late: SQL
  /** The column of the edition, in each of these tables, and a query of what it has, as `id`, by one of the ids of editions. */
  scope: 'edition_short_id' | 'edition_id'
  scopesOf: (editions: SQL) => SQL
  /** The unique key of a row. Chunks have that of their first row as `first_`. */
  key: 'seq' | 'id' | 'user_seq'
  createdAt: SQL
  /** In the order of indexes. */
  facets: readonly RunFacet[]
  young: Young
  /** The index that leads to rows with some facets in the order of creation. It may pass others. Null of lists without ranges of time. */
  byCreation: ((asked: Facets) => PartIndex) | null
  orderings: readonly RunOrdering[]
  /** How the rows of an edition are read, where orderings have no index. */
  inOrder?: (db: Database, asked: AskedOrder) => Promise<RowsInOrder>
  /** Chunks have values of people. Main runs that have former ones are made anew within a day. */
  arePersonal?: boolean
}

/** The column of the edition, of a table that is named or not. */
export const scopeIn = ({ scope }: RunList, table?: string): SQL => sql.raw(table ? `${table}.${scope}` : scope)

/** As `scopeIn`, of the key. */
export const keyIn = ({ key }: RunList, table?: string): SQL => sql.raw(table ? `${table}.${key}` : key)

/** A column of the rows. */
export const columnIn = ({ table }: RunList, name: string): SQL => sql`${table}.${sql.raw(name)}`

/** Whether all chunks that lists read of an edition say which others have its rows: of the row `state`. */
export const haveOwners = ({ owners }: RunList): SQL =>
  owners ? sql`(state.owners_generation = state.generation)` : sql`1`

/** Joins the rows of these keys. */
export const rowsOfKeys = (list: RunList, how: SQL, key: SQL): SQL =>
  sql`${how} ${list.table} on ${columnIn(list, list.key)} = ${key}`

/** As `rowsOfKeys`, of those that are in an edition, with what belongs to a row. A left join. */
export const rowsOfEdition = (list: RunList, { key, id }: { key: SQL; id: SQL }, hasBeside: boolean): SQL => {
  const how = sql`left join`
  return sql`${rowsOfKeys(list, how, key)} and ${columnIn(list, list.scope)} = ${id} ${list.joins?.(how) ?? sql``}
    ${(hasBeside && list.beside) || sql``}`
}

/** Ranges of an index that begins with these facets, of all their values or of those that are asked for. */
const rangesOf = (facets: readonly RunFacet[], asked: Facets = []): Ranges => ({
  columns: facets.map(({ column }) => column),
  values: facets.reduce<string[][]>(
    (begun, { values }, index) => {
      const one = asked[index]
      return begun.flatMap((before) => (one === undefined ? values : [one]).map((value) => [...before, value]))
    },
    [[]],
  ),
  areWords: true,
})

/** The ranges in which an index has all rows of a scope, where they are in several. */
export const allRanges = ({ facets }: RunList, { leading }: FacetIndex): Ranges | undefined =>
  leading > 0 ? rangesOf(facets.slice(0, leading)) : undefined

/** How the rows of an edition are read in an order. */
export const inOrderOf = async (
  db: Database,
  list: RunList,
  { id, ordering, rows }: AskedOrder,
): Promise<RowsInOrder> =>
  list.inOrder?.(db, { id, ordering, rows }) ?? {
    from: readBy({ from: list.table, index: ordering.indexed?.index }),
    where: [sql`${columnIn(list, list.scope)} = ${id}`],
    ranges: ordering.indexed && allRanges(list, ordering.indexed),
  }

/** Condition of the rows with some facets, to which this index leads. */
export const ofFacets = ({ facets }: RunList, { leading }: Pick<FacetIndex, 'leading'>, asked: Facets = []): SQL =>
  and([
    ...(leading > 0 ? [inAnyRange(rangesOf(facets.slice(0, leading), asked))] : []),
    ...facets.flatMap(({ column }, index) =>
      index < leading || asked[index] === undefined ? [] : [sql`${column} = ${asked[index]}`],
    ),
  ])

/** Condition of the rows that runs of an ordering have. */
export const haveValue = ({ value, isNullable, present }: RunOrdering): SQL =>
  present ?? (isNullable ? sql`${value} is not null` : sql`1`)

/** The value of a row, null where runs do not have it. */
export const valueIn = ({ value, present }: RunOrdering): SQL =>
  present ? sql`iif(${present}, ${value ?? 0}, null)` : (value ?? sql`0`)

const numberOfKinds = ({ facets }: RunList): number => facets.reduce((kinds, { values }) => kinds * values.length, 1)

/** A power of two, of which the last is that of rows that are gone. */
const widthOfKinds = (list: RunList): number => 2 ** Math.ceil(Math.log2(numberOfKinds(list) + 1))

/** The kind of a row that was deleted, or has no place in the ordering. */
export const goneKind = (list: RunList): number => widthOfKinds(list) - 1

export const formatOf = (list: RunList, { isText = false, isByCreation = false }: RunOrdering): EntryFormat => ({
  hasTextValues: isText,
  hasTextKeys: list.key === 'id',
  hasMoments: list.byCreation !== null || isByCreation,
  kinds: widthOfKinds(list),
  isDeflated: list.arePersonal ?? false,
})

const facetName = (index: number): string => `facet${index}`

/** The facets of a row, as `kindOf` reads them, or some of them. */
export const facetColumns = ({ facets }: RunList, isAsked: (facet: number) => boolean = () => true): SQL =>
  sql.join(
    facets.map(({ column }, index) => sql`${isAsked(index) ? column : sql`null`} as ${sql.raw(facetName(index))}`),
    sql`, `,
  )

export type FacetRow = Readonly<Record<string, string | number | null>>

/** A number for each combination of facets. */
export const kindOf = ({ facets }: RunList, row: FacetRow): number =>
  facets.reduce((kind, { values }, index) => kind * values.length + values.indexOf(String(row[facetName(index)])), 0)

const widthOfFacet = ({ facets }: RunList, facet: number): number =>
  facets.slice(facet + 1).reduce((product, { values }) => product * values.length, 1)

/** The place of a kind's value among those of a facet. */
export const facetOfKind = (list: RunList, facet: number, kind: SQL): SQL =>
  sql`(${kind} / ${sql.raw(String(widthOfFacet(list, facet)))} % ${sql.raw(String(list.facets[facet]?.values.length ?? 1))})`

/** A kind with another value of a facet, by its place among those. */
export function kindWith(list: RunList, kind: number, facet: number, value: number): number {
  const width = widthOfFacet(list, facet)
  const former = Math.floor(kind / width) % (list.facets[facet]?.values.length ?? 1)
  return kind + (value - former) * width
}

export const hasFacets = ({ facets }: RunList, row: FacetRow, asked: Facets): boolean =>
  facets.every((_, index) => asked[index] === undefined || row[facetName(index)] === asked[index])

/** Says of each kind whether it is asked for. */
export const wantedKinds = ({ facets }: RunList, asked: Facets): readonly boolean[] =>
  facets.reduce<boolean[]>(
    (begun, { values }, index) =>
      begun.flatMap((isWanted) =>
        values.map((value) => isWanted && (asked[index] === undefined || asked[index] === value)),
      ),
    [true],
  )

/** The key of a row in a run: its value, its moment of creation where that orders rows, and its own key. */
export const keyOfEntry = ({ isByCreation }: RunOrdering, { value, created_at, key }: Omit<Entry, 'kind'>): KeyValues =>
  isByCreation ? [value, created_at, key] : [value, key]

/** The columns that have the order. */
export const keysIn = (list: RunList, { value, isByCreation }: RunOrdering): readonly SQL[] => [
  ...(value ? [value] : []),
  ...(isByCreation ? [list.createdAt] : []),
  columnIn(list, list.key),
]

const [up, down] = [false, true].map((desc) => [{ desc }, { desc }, { desc }] as const)

/** Compares two keys in a direction of the order. */
export const compareInOrder = (a: KeyValues, b: KeyValues, isDesc: boolean): number =>
  compareKeys(a, b, (isDesc ? down : up) ?? [])

/** Spans of time by which a chunk says when its rows were created, as bits of a moment. */
const spanMs = 2 ** 31
export const spanOf = (moment: number): number => Math.floor(moment / spanMs)

/** The share of a span that is within a range of time. */
export const shareWithin = (span: number, from: number, until: number): number =>
  Math.max(0, Math.min(until, (span + 1) * spanMs) - Math.max(from, span * spanMs)) / spanMs
