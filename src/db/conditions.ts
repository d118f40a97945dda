import { type SQL, sql } from 'drizzle-orm'

/** True if the column holds one of the values. The list is one bound value, however long it is. */
export const inList = (column: SQL, values: readonly (string | number)[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`

/**
 * True if the column holds one of these words, which come from code and never from a client. They are written into the
 * text, because SQLite uses no partial index for a bound value.
 */
export const inWords = (column: SQL, words: readonly string[]): SQL => {
  const quotedWords = words.map((word) => `'${word.replaceAll("'", "''")}'`).join(', ')
  return words.length === 1 ? sql`${column} = ${sql.raw(quotedWords)}` : sql`${column} in (${sql.raw(quotedWords)})`
}
