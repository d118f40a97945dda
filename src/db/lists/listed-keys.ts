import { type SQL, sql } from 'drizzle-orm'

const written = (key: string | number): string =>
  typeof key === 'number' ? `${key}` : `'${key.replaceAll("'", "''")}'`

/**
 * Keys as a table of one column, `column1`, each once. D1 counts values that are written as no rows, and a statement has any number
 * of them.
 */
export const listedKeys = (keys: readonly (string | number)[]): SQL => {
  const rows = [...new Set(keys)].map((key) => `(${written(key)})`)
  return sql.raw(rows.length > 0 ? `(values ${rows.join(', ')})` : '(select null as column1 limit 0)')
}
