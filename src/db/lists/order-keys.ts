import { is, SQL, sql } from 'drizzle-orm'
import type { PageRequest } from '../../domain/page.ts'
import type { ListedKey, ListSource, NullableKey, OldSortKey } from './list-source.ts'

/** One key of an order as an expression. */
export interface OrderKey {
  by: SQL
  desc: boolean
}

/** The values of the keys of a row. */
export type KeyValues = readonly (string | number | null)[]

export const and = (conditions: readonly SQL[]): SQL =>
  conditions.length ? sql.join([...conditions], sql` and `) : sql`1`

export const runsOneWay = (sort: readonly OrderKey[]): boolean => sort.every(({ desc }) => desc === sort[0]?.desc)

/**
 * For each key the conditions of the rows that share the keys before it and come after its value. Rows that meet one of
 * these are all rows after the given keys.
 */
export const stepsBeyond = (sort: readonly OrderKey[], after: readonly unknown[]): SQL[][] =>
  sort.map(({ by, desc }, index) => [
    ...sort.slice(0, index).map((earlier, at) => sql`${earlier.by} = ${after[at]}`),
    sql`${by} ${desc ? sql`<` : sql`>`} ${after[index]}`,
  ])

/**
 * Rows that come after the given keys; one row comparison, which an index serves, when all keys run the same way. Keys that are
 * columns are compared as they are (`+`): SQLite would compare them by a type that is not that of an index.
 */
export function beyond(sort: readonly OrderKey[], after: readonly (string | number | SQL | null)[]): SQL {
  if (runsOneWay(sort)) {
    const values = after.map((value, at) => {
      const plain = is(value, SQL) ? sql`+${value}` : sql`${value}`
      // The rowid has no collation of its own. Without one SQLite compares no key of an index with it.
      return at === after.length - 1 ? sql`${plain} collate binary` : plain
    })
    return sql`(${sql.join(
      sort.map((key) => key.by),
      sql`, `,
    )}) ${sort[0]?.desc ? sql`<` : sql`>`} (${sql.join(values, sql`, `)})`
  }
  const alternatives = stepsBeyond(sort, after).map((conditions) => sql`(${and(conditions)})`)
  return sql`(${sql.join(alternatives, sql` or `)})`
}

export const isNullable = (by: OldSortKey['by']): by is NullableKey => 'column' in by
export const isListed = (by: OldSortKey['by']): by is ListedKey => 'listed' in by

/** A column that may be NULL makes two keys: whether it is NULL, and its value or 0. */
export const orderKeysOf = (sort: readonly OldSortKey[]): OrderKey[] =>
  sort.flatMap(({ by, desc }) =>
    isNullable(by)
      ? [
          { by: sql`(${by.column} is null)`, desc: false },
          { by: sql`coalesce(${by.column}, 0)`, desc },
        ]
      : [{ by: isListed(by) ? by.listed : by, desc }],
  )

export const keyName = (index: number): SQL => sql.raw(`k${index}`)

export const orderOf = (sort: readonly OrderKey[]): SQL =>
  sql.join(
    sort.map(({ by, desc }) => sql`${by} ${desc ? sql`desc` : sql`asc`}`),
    sql`, `,
  )

export const keyColumns = (shown: readonly SQL[]): SQL =>
  sql.join(
    shown.map((by, index) => sql`${by} as ${keyName(index)}`),
    sql`, `,
  )

export const reversedOrder = (sort: readonly OrderKey[]): OrderKey[] =>
  sort.map(({ by, desc }) => ({ by, desc: !desc }))

/** A source's sort, which its key ends. */
export function wholeSort({ sort, key }: Pick<ListSource, 'sort' | 'key'>): readonly OldSortKey[] {
  const last = sort.at(-1)
  return last?.by === key ? sort : [...sort, { by: key, desc: last?.desc ?? false }]
}

/** The keys of a list's order, and those of the row before the page that is asked for. */
export function keysOf(source: Pick<ListSource, 'sort' | 'key'>, request: PageRequest) {
  const keys = orderKeysOf(wholeSort(source))
  return { keys, after: request.after?.length === keys.length ? request.after : null }
}
