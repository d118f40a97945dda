import { getTableColumns, type InferInsertModel, type SQL, sql, type Table } from 'drizzle-orm'
import { changedOne } from './commit.ts'
import type { Statement } from './database.ts'

type Insert<T extends Table> = InferInsertModel<T>

const columnName = (name: string): SQL => sql.raw(`"${name}"`)

/** Only columns of the table are written; keys that the row does not have keep the table's default. */
const columnsIn = (table: Table, row: object): string[] =>
  Object.keys(getTableColumns(table)).filter((name) => row[name as keyof typeof row] !== undefined)

export function insert<T extends Table>(table: T, row: Insert<T>): SQL {
  const names = columnsIn(table, row)
  const values = names.map((name) => sql`${row[name as keyof Insert<T>]}`)
  return sql`insert into ${table} (${sql.join(names.map(columnName), sql`, `)}) values (${sql.join(values, sql`, `)})`
}

/** Any number of rows with one bound parameter. All rows have the columns of the first. */
export function insertAll<T extends Table>(table: T, rows: readonly Insert<T>[]): SQL[] {
  const [first] = rows
  if (!first) return []
  const names = columnsIn(table, first)
  const fields = names.map((_, index) => sql`value ->> ${sql.raw(String(index))}`)
  const data = rows.map((row) => names.map((name) => row[name as keyof Insert<T>] ?? null))
  return [
    sql`insert into ${table} (${sql.join(names.map(columnName), sql`, `)})
      select ${sql.join(fields, sql`, `)} from json_each(${JSON.stringify(data)}) where true`,
  ]
}

/** Changes the given columns of the rows that `where` names. */
export function update<T extends Table>(table: T, changes: Partial<Insert<T>>, where: SQL): SQL {
  const sets = columnsIn(table, changes).map((name) => sql`${columnName(name)} = ${changes[name as keyof Insert<T>]}`)
  return sql`update ${table} set ${sql.join(sets, sql`, `)} where ${where}`
}

/** A change of the one row that was decided on: when somebody changed it since, the whole batch is aborted. */
export function updateVersion<T extends Table>(
  table: T,
  row: { id: string; version: number },
  changes: Partial<Insert<T>>,
): Statement[] {
  const next = { ...changes, version: row.version + 1 }
  return [update(table, next, sql`id = ${row.id} and version = ${row.version}`), changedOne()]
}
