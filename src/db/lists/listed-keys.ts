import { type SQL, sql } from 'drizzle-orm'

/** A key as it is written into a statement. */
export const quoted = (key: string | number): string =>
  typeof key === 'number' ? `${key}` : `'${key.replaceAll("'", "''")}'`

const tableOf = (rows: readonly string[], columns: number): SQL => {
  const empty = Array.from({ length: columns }, (_, index) => `null as column${index + 1}`).join(', ')
  return sql.raw(rows.length > 0 ? `(values ${rows.join(', ')})` : `(select ${empty} limit 0)`)
}

/**
 * Keys as a table of one column, `column1`, each once. D1 counts values that are written as no rows, and a statement has any number
 * of them.
 */
export const listedKeys = (keys: readonly (string | number)[]): SQL =>
  tableOf(
    [...new Set(keys)].map((key) => `(${quoted(key)})`),
    1,
  )

/** As `listedKeys`, with a number of each as `column2`. */
export const listedPairs = (pairs: ReadonlyMap<string | number, number | null>): SQL =>
  tableOf(
    [...pairs].map(([key, number]) => `(${quoted(key)}, ${number})`),
    2,
  )
