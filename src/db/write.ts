import { type Column, getTableColumns, type InferInsertModel, is, SQL, sql, type Table } from 'drizzle-orm'
import { isSameJson } from '../domain/text/json.ts'
import { requireOneChange } from './commit.ts'
import type { Statement } from './database.ts'

type InsertModel<T extends Table> = InferInsertModel<T>

const quoteColumn = (name: string): SQL => sql.raw(`"${name}"`)

interface NamedColumn {
  name: string
  column: Column
}

/** The columns of the table that the row sets. Columns that it leaves out keep the table's default. */
const listColumns = (table: Table, row: object): NamedColumn[] =>
  Object.entries(getTableColumns(table))
    .map(([name, column]) => ({ name, column }))
    .filter(({ name }) => row[name as keyof typeof row] !== undefined)

const listNames = (columns: readonly NamedColumn[]): SQL =>
  sql.join(
    columns.map(({ name }) => quoteColumn(name)),
    sql`, `,
  )

/** The values of a row, encoded by their columns. SQL expressions are inserted as they are. */
const listValues = (columns: readonly NamedColumn[], row: object): SQL[] =>
  columns.map(({ name, column }) => {
    const value: unknown = row[name as keyof typeof row]
    return is(value, SQL) ? value : sql`${sql.param(value, column)}`
  })

/** A row to insert, whose values can be SQL expressions. */
type NewRow<T extends Table> = { [Name in keyof InsertModel<T>]: InsertModel<T>[Name] | SQL }

export function insert<T extends Table>(table: T, row: NewRow<T>): SQL {
  const columns = listColumns(table, row)
  return sql`insert into ${table} (${listNames(columns)}) values (${sql.join(listValues(columns, row), sql`, `)})`
}

/** `insert` that writes the row only if the condition holds when the statement runs. */
export function insertWhere<T extends Table>(table: T, row: NewRow<T>, condition: SQL): SQL {
  const columns = listColumns(table, row)
  return sql`insert into ${table} (${listNames(columns)})
    select ${sql.join(listValues(columns, row), sql`, `)} where ${condition}`
}

/** D1 takes 2 MB in one bound value, and a character takes up to four bytes. */
const maxParameterLength = 500_000

/** Splits the items of a JSON array so that each part fits into one bound value. */
export function splitIntoParameters(items: readonly string[], maxLength = maxParameterLength): string[][] {
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

const encodeValue = ({ name, column }: NamedColumn, row: object): unknown => {
  const value: unknown = row[name as keyof typeof row]
  return value === null || value === undefined ? null : column.mapToDriverValue(value)
}

/** Frequent values that are written into the text of the statement, which leaves more of the 100 bound values. */
const literals = new Map<unknown, SQL>(
  [null, 0, 1, ''].map((value) => [value, sql.raw(value === '' ? `''` : String(value))]),
)

/** Columns whose value is bound once for all rows: fewer than the 100 values that D1 binds. */
const maxSharedColumns = 90

/** The indexes of columns that have one value in all rows, and of those that vary. */
function splitByValues(rows: readonly (readonly unknown[])[]): { sharedIndexes: number[]; varyingIndexes: number[] } {
  const [first = []] = rows
  const sharedIndexes: number[] = []
  const varyingIndexes: number[] = []
  for (const [index, value] of first.entries()) {
    const isShared = sharedIndexes.length < maxSharedColumns && rows.every((values) => values[index] === value)
    ;(isShared ? sharedIndexes : varyingIndexes).push(index)
  }
  return { sharedIndexes, varyingIndexes }
}

type LookUps<Name extends string> = Readonly<Record<Name, (text: SQL) => SQL>>

/**
 * Inserts any number of rows with few statements. All rows have the columns of the first one. A value that all rows
 * share is bound once, and the others are bound together as JSON. `limit -1 offset 0` stops SQLite from flattening the
 * subquery, which would parse the JSON of a row again for each column.
 */
function insertRows(table: Table, rows: readonly object[], lookUps: LookUps<string>): SQL[] {
  const [first] = rows
  if (!first) return []
  const columns = listColumns(table, first)
  const encodedRows = rows.map((row) => columns.map((column) => encodeValue(column, row)))
  const { sharedIndexes, varyingIndexes } = splitByValues(encodedRows)
  const names = [...sharedIndexes, ...varyingIndexes].map((index) => `"${columns[index]?.name}"`).join(', ')
  const lookUp = (index: number, value: SQL): SQL => lookUps[columns[index]?.name ?? '']?.(value) ?? value
  const values = sql.join(
    [
      ...sharedIndexes.map((index) =>
        lookUp(index, literals.get(encodedRows[0]?.[index]) ?? sql`${encodedRows[0]?.[index]}`),
      ),
      ...varyingIndexes.map((index, place) => lookUp(index, sql.raw(`value ->> ${place}`))),
    ],
    sql`, `,
  )
  return splitIntoParameters(encodedRows.map((row) => JSON.stringify(varyingIndexes.map((index) => row[index])))).map(
    (part) => sql`insert into ${table} (${sql.raw(names)}) select ${values}
      from (select value from json_each(${`[${part.join(',')}]`}) limit -1 offset 0) where true`,
  )
}

export const insertAll = <T extends Table>(table: T, rows: readonly InsertModel<T>[]): SQL[] =>
  insertRows(table, rows, {})

/** `insertAll` for rows that hold a text in place of a column's value: `lookUps` turns the text into the value. */
export const insertWithLookups = <T extends Table, Name extends string>(
  table: T,
  rows: readonly (Omit<InsertModel<T>, NoInfer<Name>> & Record<NoInfer<Name>, string | null>)[],
  lookUps: LookUps<Name>,
): SQL[] => insertRows(table, rows, lookUps)

type Changes<T extends Table> = { [Name in keyof InsertModel<T>]?: InsertModel<T>[Name] | SQL }

/** Changes columns of the rows that `where` matches. Expressions read the row as it was before. */
export function update<T extends Table>(table: T, changes: Changes<T>, where: SQL | undefined): SQL {
  const columns = listColumns(table, changes)
  const values = listValues(columns, changes)
  const assignments = columns.map(({ name }, index) => sql`${quoteColumn(name)} = ${values[index]}`)
  return sql`update ${table} set ${sql.join(assignments, sql`, `)} where ${where ?? sql`0`}`
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The changes that differ from the row. Equal JSON is no change, whether it is an object or a text named in `json`. */
export function pickChanges<Row extends object>(
  row: Row,
  changes: Partial<Row>,
  json: readonly (keyof Row)[] = [],
): Partial<Row> {
  const isSame = (name: keyof Row) => {
    const [before, after] = [row[name], changes[name]]
    if (before === after || after === undefined) return true
    if (isObject(before) && isObject(after)) return isSameJson(JSON.stringify(before), JSON.stringify(after))
    return json.includes(name) && typeof before === 'string' && typeof after === 'string' && isSameJson(before, after)
  }
  const names = (Object.keys(changes) as (keyof Row)[]).filter((name) => !isSame(name))
  return Object.fromEntries(names.map((name) => [name, changes[name]])) as Partial<Row>
}

export const isEmpty = (changes: object): boolean => Object.keys(changes).length === 0

/** Changes one row and aborts the batch if the row has changed since it was read. */
export function updateVersion<T extends Table>(
  table: T,
  row: { id: string; version: number },
  changes: Changes<T>,
): [change: Statement, ...guards: Statement[]] {
  const next = { ...changes, version: row.version + 1 }
  return [update(table, next, sql`id = ${row.id} and version = ${row.version}`), requireOneChange()]
}

/** Deletes the rows that `where` matches. */
export const remove = (table: Table, where: SQL | undefined): SQL => sql`delete from ${table} where ${where ?? sql`0`}`

/** A row to copy: its id, the id of its copy, and the id of the row that the copy belongs to. */
export interface CopiedRow {
  from: string
  to: string
  parent: string | null
}

/** Ids are ASCII, so this many characters stay below D1's limit of 2 MB. */
const maxIdListLength = 1_500_000

/** The `parent` of a copied row, for the `columns` of `copyRows`. */
export const copiedParent: SQL = sql`copied.value ->> 2`

/**
 * Copies rows as they are when the statement runs, except for their ids and the given columns. Columns that are added to
 * the table later are copied too.
 */
export function copyRows(table: Table, rows: readonly CopiedRow[], columns: Readonly<Record<string, SQL>>): SQL[] {
  if (rows.length === 0) return []
  const names = Object.keys(getTableColumns(table))
  const values = names.map((name) => {
    if (name === 'id') return sql`copied.value ->> 1`
    return columns[name] ?? sql`source.${quoteColumn(name)}`
  })
  const ids = rows.map(({ from, to, parent }) => JSON.stringify([from, to, parent]))
  // `cross join` makes SQLite walk the list and find each row by its key, never the other way round.
  return splitIntoParameters(ids, maxIdListLength).map(
    (part) => sql`insert into ${table} (${sql.join(names.map(quoteColumn), sql`, `)})
      select ${sql.join(values, sql`, `)} from json_each(${`[${part.join(',')}]`}) as copied
        cross join ${table} as source on source.id = copied.value ->> 0`,
  )
}
