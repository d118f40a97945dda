import { type SQL, sql } from 'drizzle-orm'
import { compareKeys } from '../../../domain/text/compare-keys.ts'
import type { orderRuns, orderRunStates, refundRuns, refundRunStates } from '../../schema/sales/runs.ts'
import type { PartIndex } from '../intervals/interval-list.ts'
import { and, type KeyValues } from '../order-keys.ts'
import { inAnyRange, type Ranges } from '../ranges.ts'
import type { Facets } from '../spans/spanned-list.ts'
import type { Entry, EntryFormat } from './entries.ts'

/** An index whose rows stand behind the column of the scope and the first facets, of which it has so many. */
interface FacetIndex {
  index: SQL
  leading: number
}

/** An order of lists that has runs. */
export interface RunOrdering extends FacetIndex {
  name: string
  value: SQL
  isText?: boolean
  /** Rows without a value are in no run. They stand behind the others, in the order of their creation. */
  isNullable?: boolean
  /** Rows of the same value follow their creation; otherwise only their keys. */
  isByCreation?: boolean
}

/** A column by whose values a list is filtered, all of them. With other values the kinds of stored entries are others. */
interface RunFacet {
  column: SQL
  values: readonly string[]
}

/** A list of editions that has runs. Its rows have `created_at` and `modified_at`. */
export interface RunList {
  table: SQL
  /** Tables of chunks, of what editions have, and of notes of late changes. */
  runs: typeof orderRuns | typeof refundRuns
  states: typeof orderRunStates | typeof refundRunStates
  late: SQL
  /** The column of the edition, in each of these tables, and a query of what it has, as `id`, by one of the ids of editions. */
  scope: 'edition_short_id' | 'edition_id'
  scopesOf: (editions: SQL) => SQL
  /** The unique key of a row. Chunks have that of their first row as `first_`. */
  key: 'seq' | 'id'
  /** In the order of indexes. */
  facets: readonly RunFacet[]
  /** Has rows in the order of `modified_at`. */
  byChange: FacetIndex
  /** The index that leads to rows with some facets in the order of creation. It may pass others. */
  byCreation: (asked: Facets) => PartIndex
  orderings: readonly RunOrdering[]
}

/** The column of the edition, of a table that is named or not. */
export const scopeIn = ({ scope }: RunList, table?: string): SQL => sql.raw(table ? `${table}.${scope}` : scope)

/** As `scopeIn`, of the key. */
export const keyIn = ({ key }: RunList, table?: string): SQL => sql.raw(table ? `${table}.${key}` : key)

/** A column of the rows. */
export const columnIn = ({ table }: RunList, name: string): SQL => sql`${table}.${sql.raw(name)}`

/** Ranges of an index that begins with these facets, of all their values or of those that are asked for. */
export const rangesOf = (facets: readonly RunFacet[], asked: Facets = []): Ranges => ({
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

/** Condition of the rows with some facets, to which this index leads. */
export const ofFacets = ({ facets }: RunList, { leading }: FacetIndex, asked: Facets = []): SQL =>
  and([
    ...(leading > 0 ? [inAnyRange(rangesOf(facets.slice(0, leading), asked))] : []),
    ...facets.flatMap(({ column }, index) =>
      index < leading || asked[index] === undefined ? [] : [sql`${column} = ${asked[index]}`],
    ),
  ])

/** Condition of the rows that runs of an ordering have. */
export const haveValue = ({ value, isNullable }: RunOrdering): SQL => (isNullable ? sql`${value} is not null` : sql`1`)

const numberOfKinds = ({ facets }: RunList): number => facets.reduce((kinds, { values }) => kinds * values.length, 1)

/** A power of two, of which the last is that of rows that are gone. */
const widthOfKinds = (list: RunList): number => 2 ** Math.ceil(Math.log2(numberOfKinds(list) + 1))

/** The kind of a row that was deleted, or has no place in the ordering. */
export const goneKind = (list: RunList): number => widthOfKinds(list) - 1

export const formatOf = (list: RunList, { isText = false }: RunOrdering): EntryFormat => ({
  hasTextValues: isText,
  hasTextKeys: list.key === 'id',
  kinds: widthOfKinds(list),
})

const facetName = (index: number): string => `facet${index}`

/** The facets of a row, as `kindOf` reads them. */
export const facetColumns = ({ facets }: RunList): SQL =>
  sql.join(
    facets.map(({ column }, index) => sql`${column} as ${sql.raw(facetName(index))}`),
    sql`, `,
  )

export type FacetRow = Readonly<Record<string, string | number | null>>

/** A number for each combination of facets. */
export const kindOf = ({ facets }: RunList, row: FacetRow): number =>
  facets.reduce((kind, { values }, index) => kind * values.length + values.indexOf(String(row[facetName(index)])), 0)

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

/** The columns of these keys, and the names of what `keyOfEntry` takes. */
export const keysIn = (list: RunList, { value, isByCreation }: RunOrdering): readonly SQL[] => {
  const own = columnIn(list, list.key)
  return isByCreation ? [value, columnIn(list, 'created_at'), own] : [value, own]
}

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
