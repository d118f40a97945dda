import { type SQL, sql } from 'drizzle-orm'
import type { PageRequest } from '../../domain/page.ts'
import { compareKeys } from '../../domain/text/compare-keys.ts'
import type { Database } from '../database.ts'
import type { IndexEntries } from './match-texts.ts'
import type { ListSource, OldSortKey } from './list-source.ts'
import { answering, type Fields, type RowOf, selection } from '../select.ts'
import { isNullable, keysOf, type KeyValues, wholeSort } from './order-keys.ts'

/** Up to so many rows that may match are read, compared and ordered at once. */
export const mostAtOnce = 500

type OldKeyValue = string | number | null

/** A row of a list that was found, with the value of each key of an order but its own. */
export interface MatchingRow {
  key: string | number
  valueOf: (by: OldSortKey['by']) => OldKeyValue
}

/** The values of a row by the names of the keys of a list. */
export const matchingRow = <Name extends string>(
  key: MatchingRow['key'],
  keys: Readonly<Record<Name, OldSortKey['by']>>,
  values: Readonly<Record<Name, OldKeyValue>>,
): MatchingRow => {
  const names = Object.keys(keys) as Name[]
  return {
    key,
    valueOf: (by) => {
      const name = names.find((one) => keys[one] === by)
      return name === undefined ? null : values[name]
    },
  }
}

/** The first entries of an index, with the number of each row. */
type Entries = readonly { key: number }[]

interface FewEntries {
  own: Entries
  contacts?: Entries
  /** All rows of the list that match; null where more may match than are read at once. */
  rows: readonly MatchingRow[] | null
}

/** How an index finds the rows of a list. */
export interface FewSearch {
  /** Rows that may match by texts of their own, under the name of the list's table; null for none. */
  own: IndexEntries | null
  /** As `customers`: those whose orders may match. */
  contacts: IndexEntries | null
  /** Says of a row of the list whether `own` has it by its text. */
  isOwn: SQL
  /** Reads the first entries of both, and compares them. */
  readFew: (db: Database) => Promise<FewEntries>
}

/** A row that matches, with the values of its keys. */
export interface Match {
  key: string | number
  keys: KeyValues
}

/** One entry more than is read at once says that there are more. Only those count for which `isAmong`, on the fields, holds. */
export function firstEntries<F extends Fields>(fields: F, { table, match }: IndexEntries, isAmong?: SQL | null) {
  const entries = sql<RowOf<F>>`select ${selection(fields)} from ${table} where ${match}`
  // With its limit it is not merged into the outer query, which would look each row up twice.
  const among = isAmong ? sql<RowOf<F>>`select * from (${entries} limit -1) where ${isAmong}` : entries
  return answering(fields, sql<RowOf<F>>`${among} limit ${mostAtOnce + 1}`)
}

/** Entries with what they looked up: it is null where the row is gone, which a search then does not find. */
export const withRows = <Entry extends object>(entries: readonly Entry[]): Entry[] =>
  entries.filter((entry) => Object.values(entry).every((value) => value !== null))

/** What the first entries of an index say. */
export interface Few {
  /** All rows of the list that match, in its order; null where more may match than are read at once. */
  matches: Match[] | null
  /** Of each index: how close its first entries stand together. */
  shares: IndexShares
}

/** The share of the rows between the first and the last of these entries that are among them; 0 of few entries. */
export interface IndexShares {
  own: number
  contacts: number
}

function shareOf(entries: Entries = []): number {
  const [first, last] = [entries[0], entries.at(-1)]
  return first && last && entries.length > mostAtOnce ? entries.length / (last.key - first.key + 1) : 0
}

const presentFirst = (value: OldKeyValue): KeyValues => (value === null ? [1, 0] : [0, value])

/** Rows that were found, in the order of a list. */
function inListOrder(
  source: Pick<ListSource, 'sort' | 'key'>,
  request: PageRequest,
  rows: readonly MatchingRow[],
): Match[] {
  const sort = wholeSort(source)
  const keysOfRow = ({ key, valueOf }: MatchingRow): KeyValues =>
    sort.flatMap(({ by }) => {
      if (by === source.key) return [key]
      return isNullable(by) ? presentFirst(valueOf(by)) : [valueOf(by) ?? 0]
    })
  const { keys } = keysOf(source, request)
  return rows
    .map((row) => ({ key: row.key, keys: keysOfRow(row) }))
    .toSorted((a, b) => compareKeys(a.keys, b.keys, keys))
}

/** Reads the first entries of the index, and orders the rows that match where these are all. */
export async function findFew(
  db: Database,
  source: Pick<ListSource, 'sort' | 'key'>,
  request: PageRequest,
  search: Pick<FewSearch, 'readFew'>,
): Promise<Few> {
  const { own, contacts, rows } = await search.readFew(db)
  return {
    matches: rows && inListOrder(source, request, rows),
    shares: { own: shareOf(own), contacts: shareOf(contacts) },
  }
}
