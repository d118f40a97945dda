import { type SQL, sql } from 'drizzle-orm'
import { and } from '../order-keys.ts'
import { sumOfAll } from '../spans/count-spans.ts'
import { storedNumbers } from '../spans/span-parts.ts'
import { inList } from '../../visibility.ts'
import type { ChosenFacets, IntervalList, IntervalOrdering } from './interval-list.ts'

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

const named = (column: SQL, name: string): SQL => sql`${column} as ${sql.raw(name)}`
const namedParts = (list: IntervalList, ordering: IntervalOrdering): readonly SQL[] =>
  partsOfKey(list, ordering).map(({ name, column }) => named(column ?? sql`0`, name))

/** The key of a row of the list, with its names. */
export const keyColumns = (list: IntervalList, ordering: IntervalOrdering): SQL =>
  sql.join([...namedParts(list, ordering)], sql`, `)

/** The key and the facets of a row of the list, and their names. */
export const countedColumns = (list: IntervalList, ordering: IntervalOrdering): SQL =>
  sql.join(
    [...namedParts(list, ordering), ...list.facets.map((column, index) => named(column, facetName(index)))],
    sql`, `,
  )
export const facetNames = ({ facets }: IntervalList): readonly string[] => facets.map((_, index) => facetName(index))

const listedFacets = (list: IntervalList): string =>
  facetNames(list)
    .map((name) => `, ${name}`)
    .join('')

/**
 * A query of columns and of what the counts have of each group of rows of `from` by them. Rows have the columns and the facets;
 * some may count as none. Columns that no group is made by are those of the first row of a group by `first`.
 */
export function countsOfGroups(
  list: IntervalList,
  { from, columns, by, isRow = '1', first }: { from: SQL; columns: SQL; by: SQL; isRow?: string; first?: string },
): SQL {
  const { counts, combinations } = list
  const facets = listedFacets(list)
  const numbers = counts.map(({ name, facets: words }) => {
    const areThese = words.map((word, index) => `${facetName(index)} = '${word}'`)
    return `coalesce(sum(n) filter (where ${['1', ...areThese].join(' and ')}), 0) as ${name}`
  })
  const whole = facetNames(list).join(` || ' ' || `)
  const all = combinations
    ? [...numbers, `json_group_object(${whole}, n) filter (where n > 0) as ${combinations}`]
    : numbers
  const least = first ? sql.raw(`, min(${first}) as ${first}`) : sql``
  return sql`select ${columns}, ${listed(all)} ${least} from (
      select ${columns}, ${by} ${sql.raw(facets)}, count(*) filter (where ${sql.raw(isRow)}) as n ${least}
      from ${from} group by ${by} ${sql.raw(facets)})
    where true group by ${by}`
}

/** The counts, and what each becomes by a change of so many. */
const namesOfCounts = ({ counts, combinations }: IntervalList): readonly string[] => [
  ...counts.map(({ name }) => name),
  ...(combinations ? [combinations] : []),
]
export const countNames = (list: IntervalList): SQL => listed(namesOfCounts(list))
export const excludedCounts = (list: IntervalList): SQL => listed(namesOfCounts(list).map((name) => `excluded.${name}`))
export function changedCounts({ intervals, counts, combinations }: IntervalList, sign: '+' | '-'): SQL {
  const changed = counts.map(({ name }) => sql.raw(`${name} = ${name} ${sign} excluded.${name}`))
  if (!combinations) return sql.join(changed, sql`, `)
  const name = sql.raw(combinations)
  const both = sql`select key, value from json_each(${intervals}.${name})
    union all select key, ${sql.raw(sign)} value from json_each(excluded.${name})`
  const sum = sql`select json_group_object(key, n) from (
    select key, sum(value) as n from (${both}) group by key having sum(value) <> 0)`
  return sql.join([...changed, sql`${name} = iif(${intervals}.${name} is null, null, (${sum}))`], sql`, `)
}

/** What `whole` counts and the rows of `grouped` do not. Of a list without combinations. */
export const leftCounts = ({ counts }: IntervalList): SQL =>
  listed(counts.map(({ name }) => `whole.${name} - (select coalesce(sum(${name}), 0) from grouped)`))

/** The counts of a row of `table`, as they compare. */
export function comparedCounts({ counts, combinations }: IntervalList, table: SQL): SQL {
  const numbers = counts.map(({ name }) => sql`${table}.${sql.raw(name)}`)
  if (!combinations) return sql.join(numbers, sql`, `)
  const all = sql`${table}.${sql.raw(combinations)}`
  return sql.join([...numbers, sql`iif(${all} is null, null, ${storedNumbers(all)})`], sql`, `)
}

const valuesOf = (asked: ChosenFacets[number]): readonly string[] | undefined =>
  typeof asked === 'string' ? [asked] : asked

/** The values of the facet whose values code does not know. */
const namedValues = ({ facets, combinations }: IntervalList, asked: ChosenFacets): readonly string[] | undefined =>
  combinations ? valuesOf(asked[facets.length - 1]) : undefined

/** More make a statement too long. */
const mostNames = 320

/** Whether intervals know how many of their rows match some facets: by their columns, or by the numbers of combinations. */
export function waysToCount(list: IntervalList, asked: ChosenFacets): { canCount: boolean; isByCombinations: boolean } {
  const values = namedValues(list, asked)
  if (!values) return { canCount: true, isByCombinations: false }
  const areWritten = values.every((value) => /^\w+$/.test(value))
  return { canCount: areWritten && values.length * list.counts.length <= mostNames, isByCombinations: true }
}

/** Whether an interval knows all its numbers. */
export const isKnown = ({ combinations }: IntervalList): SQL =>
  combinations ? sql.raw(`${combinations} is not null`) : sql`1`

/** The number of rows of an interval that match some facets. */
export function numberOf(list: IntervalList, asked: ChosenFacets = []): SQL {
  const { counts, combinations } = list
  const matching = counts.filter(({ facets }) =>
    facets.every((word, index) => valuesOf(asked[index])?.includes(word) ?? true),
  )
  const values = namedValues(list, asked)
  const terms = values
    ? matching.flatMap(({ facets }) =>
        values.map((value) => sql.raw(`coalesce(${combinations} ->> '$."${[...facets, value].join(' ')}"', 0)`)),
      )
    : matching.map(({ name }) => sql.raw(name))
  return sumOfAll(terms)
}

/** Condition of rows that match some facets. */
export const isOfFacets = ({ facets }: IntervalList, asked: ChosenFacets): SQL =>
  and(
    facets.flatMap((column, index) => {
      const values = asked[index]
      if (values === undefined) return []
      return [typeof values === 'string' ? sql`${column} = ${values}` : inList(column, values)]
    }),
  )
