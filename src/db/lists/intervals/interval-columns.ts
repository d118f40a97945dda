import { type SQL, sql } from 'drizzle-orm'
import { and } from '../order-keys.ts'
import type { Facets } from '../spans/spanned-list.ts'
import type { IntervalList, IntervalOrdering } from './interval-list.ts'

const listed = (names: readonly string[]): SQL => sql.raw(names.join(', '))

/** The columns of a key: where an interval begins, which is the first row that it may have. */
export const namesOfKey = ({ keys }: IntervalList): readonly string[] => ['value', ...keys.map(({ name }) => name)]

/** These columns, of a table that is named or not. */
export const keyOf = (list: IntervalList, table?: string): SQL =>
  listed(namesOfKey(list).map((name) => (table ? `${table}.${name}` : name)))

/** Before all keys, and behind them: SQLite orders numbers before texts, and texts before bytes. */
export const firstKey = ({ keys }: IntervalList, { least }: IntervalOrdering): readonly SQL[] =>
  [least, ...keys.map((key) => key.least)].map((value) => sql`${value}`)
export const lastKey = (list: IntervalList): readonly SQL[] => namesOfKey(list).map(() => sql`x'ff'`)

/** What a row has in the columns of a key; null where it says nothing about the order. */
const partsOfKey = ({ keys }: IntervalList, { value, without = [] }: IntervalOrdering) => [
  { name: 'value', column: value },
  ...keys.map(({ name, column }) => ({ name, column: without.includes(name) ? null : column })),
]

/** What orders the rows of an ordering. */
const orderedParts = (list: IntervalList, ordering: IntervalOrdering) =>
  partsOfKey(list, ordering).flatMap(({ name, column }) => (column ? [{ name, column }] : []))
const columnsOf = (list: IntervalList, ordering: IntervalOrdering): readonly SQL[] =>
  orderedParts(list, ordering).map(({ column }) => column)
/** The same of rows with the columns of a key. */
export const orderOfKeys = (list: IntervalList, ordering: IntervalOrdering): SQL =>
  listed(orderedParts(list, ordering).map(({ name }) => name))

/**
 * Compares rows with the key that a query answers in one row. `+` takes the type of a column away, so that the value is
 * compared as it is, and an index is used; for the rowid, which ends the index, it needs a collation.
 */
export function comparedWith(list: IntervalList, ordering: IntervalOrdering, operator: '>=' | '<', key: SQL): SQL {
  const names = orderedParts(list, ordering).map(({ name }) => name)
  const last = names.length - 1
  return sql`(${sql.join([...columnsOf(list, ordering)], sql`, `)}) ${sql.raw(operator)}
    (select ${listed(names.map((name, index) => `+${name}${index === last ? ' collate binary' : ''}`))} from (${key}))`
}

const facetName = (index: number): string => `facet${index}`

/** The key and the facets of a row of the list, and their names. */
export function countedColumns(list: IntervalList, ordering: IntervalOrdering): SQL {
  const named = (column: SQL, name: string): SQL => sql`${column} as ${sql.raw(name)}`
  const columns = [
    ...partsOfKey(list, ordering).map(({ name, column }) => named(column ?? sql`0`, name)),
    ...list.facets.map((column, index) => named(column, facetName(index))),
  ]
  return sql.join(columns, sql`, `)
}
export const facetNames = ({ facets }: IntervalList): readonly string[] => facets.map((_, index) => facetName(index))

/** What the counts have of a group of rows with these columns, some of which may count as none. */
export const countsOfGroup = ({ counts }: IntervalList, isRow = '1'): SQL =>
  listed(
    counts.map(({ name, facets }) => {
      const words = facets.map((word, index) => `${facetName(index)} = '${word}'`)
      return `count(*) filter (where ${[isRow, ...words].join(' and ')}) as ${name}`
    }),
  )

/** The counts, and a change of each. */
export const countNames = ({ counts }: IntervalList): SQL => listed(counts.map(({ name }) => name))
export const excludedCounts = ({ counts }: IntervalList): SQL => listed(counts.map(({ name }) => `excluded.${name}`))
export const changedCounts = ({ counts }: IntervalList, sign: '+' | '-'): SQL =>
  listed(counts.map(({ name }) => `${name} = ${name} ${sign} excluded.${name}`))

/** The number of rows of an interval that match some facets. */
export function numberOf({ counts }: IntervalList, asked: Facets = []): SQL {
  const matching = counts.filter(({ facets }) =>
    asked.every((value, index) => value === undefined || value === facets[index]),
  )
  return sql.raw(matching.map(({ name }) => name).join(' + '))
}

/** Condition of rows that match some facets. */
export const isOfFacets = ({ facets }: IntervalList, asked: Facets): SQL =>
  and(facets.flatMap((column, index) => (asked[index] === undefined ? [] : [sql`${column} = ${asked[index]}`])))
