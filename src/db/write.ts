import { type Column, getTableColumns, type InferInsertModel, is, SQL, sql, type Table } from 'drizzle-orm'
import { changedOne } from './commit.ts'
import { sameJson } from '../domain/text/json.ts'
import type { Statement } from './database.ts'

type InsertModel<T extends Table> = InferInsertModel<T>

export const columnName = (name: string): SQL => sql.raw(`"${name}"`)

interface Written {
  name: string
  column: Column
}

/** Only columns of the table are written; keys that the row does not have keep the table's default. */
const columnsIn = (table: Table, row: object): Written[] =>
  Object.entries(getTableColumns(table))
    .filter(([name]) => row[name as keyof typeof row] !== undefined)
    .map(([name, column]) => ({ name, column }))

const namesOf = (written: readonly Written[]): SQL =>
  sql.join(
    written.map(({ name }) => columnName(name)),
    sql`, `,
  )

/** Bound values, stored as the modes of their columns say. An expression stays as it is. */
const valuesOf = (written: readonly Written[], row: object): SQL[] =>
  written.map(({ name, column }) => {
    const value: unknown = row[name as keyof typeof row]
    return is(value, SQL) ? value : sql`${sql.param(value, column)}`
  })

export function insert<T extends Table>(table: T, row: InsertModel<T>): SQL {
  const written = columnsIn(table, row)
  return sql`insert into ${table} (${namesOf(written)}) values (${sql.join(valuesOf(written, row), sql`, `)})`
}

/** Below D1's limit of 2 MB for one bound value, with any characters. */
const maxParameterLength = 500_000

/** Parts of a JSON array that fit into one bound value each. */
export function slices(items: readonly string[], maxLength = maxParameterLength): string[][] {
  const parts: string[][] = []
  let length = maxLength
  for (const item of items) {
    length += item.length + 1
    if (length > maxLength) {
      parts.push([])
      length = item.length
    }
    parts.at(-1)?.push(item)
  }
  return parts
}

/** Any number of rows in few statements, each with one bound parameter. All rows have the columns of the first. */
export function insertAll<T extends Table>(table: T, rows: readonly InsertModel<T>[]): SQL[] {
  const [first] = rows
  if (!first) return []
  const written = columnsIn(table, first)
  const columns = namesOf(written)
  const fields = sql.join(
    written.map((_, index) => sql`value ->> ${sql.raw(String(index))}`),
    sql`, `,
  )
  const stored = (row: InsertModel<T>, { name, column }: Written): unknown => {
    const value: unknown = row[name as keyof InsertModel<T>]
    return value === null || value === undefined ? null : column.mapToDriverValue(value)
  }
  const data = rows.map((row) => JSON.stringify(written.map((one) => stored(row, one))))
  return slices(data).map(
    (part) =>
      sql`insert into ${table} (${columns}) select ${fields} from json_each(${`[${part.join(',')}]`}) where true`,
  )
}

type Changes<T extends Table> = { [Name in keyof InsertModel<T>]?: InsertModel<T>[Name] | SQL }

/** Changes the given columns of the rows that `where` names. Expressions read the row as it was. */
export function update<T extends Table>(table: T, changes: Changes<T>, where: SQL | undefined): SQL {
  const written = columnsIn(table, changes)
  const values = valuesOf(written, changes)
  const sets = written.map(({ name }, index) => sql`${columnName(name)} = ${values[index]}`)
  return sql`update ${table} set ${sql.join(sets, sql`, `)} where ${where ?? sql`0`}`
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** What of `changes` the row does not have already. JSON that says the same is the same: of objects, and of texts in `json`. */
export function changesIn<Row extends object>(
  row: Row,
  changes: Partial<Row>,
  json: readonly (keyof Row)[] = [],
): Partial<Row> {
  const isSame = (name: keyof Row) => {
    const [before, after] = [row[name], changes[name]]
    if (before === after || after === undefined) return true
    if (isObject(before) && isObject(after)) return sameJson(JSON.stringify(before), JSON.stringify(after))
    return json.includes(name) && typeof before === 'string' && typeof after === 'string' && sameJson(before, after)
  }
  const names = (Object.keys(changes) as (keyof Row)[]).filter((name) => !isSame(name))
  return Object.fromEntries(names.map((name) => [name, changes[name]])) as Partial<Row>
}

export const isEmpty = (changes: object): boolean => Object.keys(changes).length === 0

/** A change of the one row that was decided on: when it has changed since, the whole batch is aborted. */
export function updateVersion<T extends Table>(
  table: T,
  row: { id: string; version: number },
  changes: Partial<InsertModel<T>>,
): [change: Statement, ...guards: Statement[]] {
  const next = { ...changes, version: row.version + 1 }
  return [update(table, next, sql`id = ${row.id} and version = ${row.version}`), changedOne()]
}

/** Removes the rows that `where` names. */
export const remove = (table: Table, where: SQL | undefined): SQL => sql`delete from ${table} where ${where ?? sql`0`}`

/** As `insert`, if the condition holds when the statement runs. */
export function insertWhere<T extends Table>(table: T, row: InsertModel<T>, condition: SQL): SQL {
  const written = columnsIn(table, row)
  return sql`insert into ${table} (${namesOf(written)})
    select ${sql.join(valuesOf(written, row), sql`, `)} where ${condition}`
}
