import { getTableColumns, type SQL, sql, type Table } from 'drizzle-orm'
import { quoteColumn, splitIntoParameters } from './write.ts'

/** A row to copy: its id, the id of its copy, and the ids to which the copy refers. */
export interface CopiedRow {
  from: string
  to: string
  parent: string | null
}

/** The most characters of one bound value. Ids are ASCII, so this is below D1's limit of 2 MB. */
const maxParameterLength = 1_500_000

/** The parent of a `CopiedRow` inside the columns given to `copyRows`. */
export const copiedParent: SQL = sql`copied.value ->> 2`

/**
 * Copies rows of a table as they are when the statement runs, but for their ids and the given columns. Columns that are
 * added to the table later are copied too. Many rows take few statements.
 */
export function copyRows(table: Table, rows: readonly CopiedRow[], columns: Readonly<Record<string, SQL>>): SQL[] {
  if (rows.length === 0) return []
  const names = Object.keys(getTableColumns(table))
  const values = names.map((name) => {
    if (name === 'id') return sql`copied.value ->> 1`
    return columns[name] ?? sql`source.${quoteColumn(name)}`
  })
  // The list is walked and each row found by its key; the planner may not reverse that.
  const ids = rows.map(({ from, to, parent }) => JSON.stringify([from, to, parent]))
  return splitIntoParameters(ids, maxParameterLength).map(
    (part) => sql`insert into ${table} (${sql.join(names.map(quoteColumn), sql`, `)})
      select ${sql.join(values, sql`, `)} from json_each(${`[${part.join(',')}]`}) as copied
        cross join ${table} as source on source.id = copied.value ->> 0`,
  )
}
