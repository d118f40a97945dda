import { type SQL, sql } from 'drizzle-orm'
import { type Entry, packEntries } from './entries.ts'
import { columnIn, facetColumns, formatOf, type RunList, type RunOrdering, scopeIn, spanOf } from './run-list.ts'

/** What runs an edition has. */
export interface State {
  /** Of the edition, as rows have it. */
  id: string
  generation: number
  main_until: number
  main_late: number
  until: number
  late: number
  main_size: number
  delta_size: number
  walk: string | null
  /** No row is young yet from this value on. */
  horizon: number
  /** Main runs have values of people that have to go. */
  has_former: number
  /** Its chunks do not say which editions have its rows. */
  lacks_owners: number
}

/** Condition of what an edition has in any of the tables. */
export const isOf = (list: RunList, { id }: State): SQL => sql`${scopeIn(list)} = ${id}`

const numbersOf = (entries: readonly Entry[], of: (entry: Entry) => number): string =>
  JSON.stringify([...Map.groupBy(entries, of)].map(([one, { length }]) => [one, length]))

export interface NewRun {
  state: State
  ordering: RunOrdering
  generation: number
  isDelta: boolean
}

/** Stores some rows of a run as a chunk. */
export async function insertChunk(
  list: RunList,
  { state, ordering, generation, isDelta }: NewRun,
  number: number,
  entries: readonly Entry[],
): Promise<SQL> {
  const [first] = entries
  const bytes = await packEntries(entries, formatOf(list, ordering))
  const columns = sql.raw(`${list.scope}, ordering, generation, is_delta, number, first_value, first_created_at,
      first_${list.key}, spans, kinds, entries${list.owners ? ', has_owners' : ''}`)
  return sql`insert or replace into ${list.runs} (${columns})
    values (${state.id}, ${ordering.name}, ${generation}, ${Number(isDelta)}, ${number}, ${first?.value},
      ${first?.created_at}, ${first?.key}, ${numbersOf(entries, ({ created_at }) => spanOf(created_at))},
      ${numbersOf(entries, ({ kind }) => kind)}, ${sql.param(bytes)}${list.owners ? sql`, 1` : sql``})`
}

/** The columns of an entry but for its value, its kind as facets. */
export const rowColumns = (list: RunList, isAsked?: (facet: number) => boolean, areOwnersAsked = true): SQL =>
  sql`${list.createdAt} as created_at, ${columnIn(list, list.key)} as key, ${facetColumns(list, isAsked)}
    ${areOwnersAsked && list.owners ? sql`, ${list.owners} as owners` : sql``}`
