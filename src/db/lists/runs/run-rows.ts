import type { SQL } from 'drizzle-orm'
import type { KeyValues } from '../order-keys.ts'
import type { Facets } from '../spans/spanned-list.ts'
import type { Entry, JudgeEntry } from './entries.ts'
import type { RowOwner } from './row-owners.ts'
import { keyOfEntry, type RunList, type RunOrdering, wantedKinds } from './run-list.ts'

/** Rows of some facets in an order that runs have. */
export interface RunSource {
  ordering: RunOrdering
  facets: Facets
  /**
   * Rows that several editions of a list have stand in the runs of each. Says as which kind the list has a row in the place that one
   * of these gives it, null where it has the row elsewhere.
   */
  seenAs?: SeenAs | undefined
}

/** Null for owners is said of a row that no other edition has, and of others where it is not known. */
export type SeenAs = (edition: string, kind: number, owners: readonly RowOwner[] | null) => number | null

/** What is read of an edition was not stored, or is no longer: the next generation of its runs has it. */
export class LostChunk extends Error {}

/** Rows that are listed one after the other. Those of several sources, whose keys are alike, are merged. */
export interface RunPart {
  sources: readonly [RunSource, ...RunSource[]]
  /** With what the key of each of its rows begins in the list, before that of a run. */
  prefix: KeyValues
  /** The value that all rows have in this order. The list is in the order of what follows it. */
  only?: string | undefined
  /** Rows of the same value follow their keys, though runs have them in the order of their creation. */
  ignoresCreation?: boolean
}

/** Rows of editions in an order that runs have. */
export interface RunRows {
  list: RunList
  /** A query of the ids of the editions. */
  editions: SQL
  /** The first moment of creation, and the first one behind the last. */
  from: number
  until: number
  /** One behind the other. */
  parts: readonly [RunPart, ...RunPart[]]
  /** Facets or orderings need what the list has beside its rows. */
  hasBeside?: boolean
  /** Says more by what is counted of the list. Other parts have as many sources. */
  counted?: (counted: Readonly<Record<string, number>>) => Pick<RunRows, 'parts'>
  /** Pages take from entries what their kinds say. */
  areKindsShown?: boolean
  isDesc: boolean
}

/** The order of a part. */
export const orderingOf = ({ sources: [{ ordering }] }: RunPart): RunOrdering => ordering

/** The key of a row in a part. */
export const keyInPart = (part: RunPart, entry: Omit<Entry, 'kind'>): KeyValues =>
  part.ignoresCreation ? [entry.value, entry.key] : keyOfEntry(orderingOf(part), entry)

export const noMoment = 2 ** 53

/** The moments of creation of a list, both ends included. */
export const rangeOfTime = (
  after: number | undefined,
  before: number | undefined,
): Pick<RunRows, 'from' | 'until'> => ({
  from: after ?? -noMoment,
  until: before === undefined ? noMoment : before + 1,
})

export const sourcesOf = ({ parts }: RunRows): RunSource[] => parts.flatMap(({ sources }) => sources)

/** Whether a list has to know which editions have its rows. */
export const asksOwners = (rows: RunRows): boolean => sourcesOf(rows).some(({ seenAs }) => seenAs !== undefined)

/** Judges rows of a source in an edition. */
export function judgeOf({ list, from, until }: RunRows, { facets, seenAs }: RunSource, edition: string): JudgeEntry {
  const kinds = wantedKinds(list, facets)
  const isWanted = (created_at: number, kind: number): boolean =>
    created_at >= from && created_at < until && (kinds[kind] ?? false)
  return (created_at, kind, owners) => {
    if (!isWanted(created_at, kind)) return null
    return seenAs ? seenAs(edition, kind, owners) : kind
  }
}
