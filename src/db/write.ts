import { type Column, getTableColumns, type InferInsertModel, is, SQL, sql, type Table } from 'drizzle-orm'
import { requireOneChange } from './commit.ts'
import { isSameJson } from '../domain/text/json.ts'
import type { Statement } from './database.ts'

type InsertModel<T extends Table> = InferInsertModel<T>

export const quoteColumn = (name: string): SQL => sql.raw(`"${name}"`)

interface Written {
  name: string
  column: Column
}

const columns = new WeakMap<Table, readonly Written[]>()

function columnsOf(table: Table): readonly Written[] {
  const known = columns.get(table)
  if (known) return known
  const made = Object.entries(getTableColumns(table)).map(([name, column]) => ({ name, column }))
  columns.set(table, made)
  return made
}

/** Only columns of the table are written; keys that the row does not have keep the table's default. */
const columnsIn = (table: Table, row: object): Written[] =>
  columnsOf(table).filter(({ name }) => row[name as keyof typeof row] !== undefined)

const namesOf = (written: readonly Written[]): SQL =>
  sql.join(
    written.map(({ name }) => quoteColumn(name)),
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

/** As its column stores it, for SQLite as well as for JSON. */
const storedValue = ({ name, column }: Written, row: object): unknown => {
  const value: unknown = row[name as keyof typeof row]
  return value === null || value === undefined ? null : column.mapToDriverValue(value)
}

/** In the text of a statement: values that are so few, and so common, that there are not more texts to prepare. */
const literals = new Map<unknown, SQL>(
  [null, 0, 1, ''].map((value) => [value, sql.raw(value === '' ? `''` : String(value))]),
)

/** Values that are bound by themselves: fewer than the 100 parameters that D1 takes. */
const maxShared = 90

/** The columns with one value in all rows, and the others. */
function splitByValues(rows: readonly (readonly unknown[])[]): { shared: number[]; own: number[] } {
  const [first = []] = rows
  const shared: number[] = []
  const own: number[] = []
  for (const [index, value] of first.entries()) {
    const isShared = shared.length < maxShared && rows.every((values) => values[index] === value)
    ;(isShared ? shared : own).push(index)
  }
  return { shared, own }
}

type LookUps<Name extends string> = Readonly<Record<Name, (text: SQL) => SQL>>

/**
 * Any number of rows in few statements. All rows have the columns of the first. A value that all rows have stands once,
 * the others are one parameter of JSON. `offset 0` keeps SQLite from joining the two queries: it would write out the JSON
 * of a row again for each of its columns.
 */
function insertRows(table: Table, rows: readonly object[], found: LookUps<string>): SQL[] {
  const [first] = rows
  if (!first) return []
  const written = columnsIn(table, first)
  const stored = rows.map((row) => written.map((one) => storedValue(one, row)))
  const { shared, own } = splitByValues(stored)
  const names = [...shared, ...own].map((index) => `"${written[index]?.name}"`).join(', ')
  const made = (index: number, value: SQL): SQL => found[written[index]?.name ?? '']?.(value) ?? value
  const selected = sql.join(
    [
      ...shared.map((index) => made(index, literals.get(stored[0]?.[index]) ?? sql`${stored[0]?.[index]}`)),
      ...own.map((index, place) => made(index, sql.raw(`value ->> ${place}`))),
    ],
    sql`, `,
  )
  return splitIntoParameters(stored.map((values) => JSON.stringify(own.map((index) => values[index])))).map(
    (part) => sql`insert into ${table} (${sql.raw(names)}) select ${selected}
      from (select value from json_each(${`[${part.join(',')}]`}) limit -1 offset 0) where true`,
  )
}

export const insertAll = <T extends Table>(table: T, rows: readonly InsertModel<T>[]): SQL[] =>
  insertRows(table, rows, {})

/** As `insertAll`. Columns of `found` are looked up by the texts that the rows have in their place. */
export const insertWithLookups = <T extends Table, Name extends string>(
  table: T,
  rows: readonly (Omit<InsertModel<T>, NoInfer<Name>> & Record<NoInfer<Name>, string | null>)[],
  found: LookUps<Name>,
): SQL[] => insertRows(table, rows, found)

type Changes<T extends Table> = { [Name in keyof InsertModel<T>]?: InsertModel<T>[Name] | SQL }

/** Changes the given columns of the rows that `where` names. Expressions read the row as it was. */
export function update<T extends Table>(table: T, changes: Changes<T>, where: SQL | undefined): SQL {
  const written = columnsIn(table, changes)
  const values = valuesOf(written, changes)
  const sets = written.map(({ name }, index) => sql`${quoteColumn(name)} = ${values[index]}`)
  return sql`update ${table} set ${sql.join(sets, sql`, `)} where ${where ?? sql`0`}`
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The changes that differ from the row. Equal JSON is no change, as objects and as texts in `json`. */
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

/** A change of the one row that was decided on: when it has changed since, the whole batch is aborted. */
export function updateVersion<T extends Table>(
  table: T,
  row: { id: string; version: number },
  changes: Changes<T>,
): [change: Statement, ...guards: Statement[]] {
  const next = { ...changes, version: row.version + 1 }
  return [update(table, next, sql`id = ${row.id} and version = ${row.version}`), requireOneChange()]
}

/** Removes the rows that `where` names. */
export const remove = (table: Table, where: SQL | undefined): SQL => sql`delete from ${table} where ${where ?? sql`0`}`

/** As `insert`, if the condition holds when the statement runs. */
export function insertWhere<T extends Table>(table: T, row: InsertModel<T>, condition: SQL): SQL {
  const written = columnsIn(table, row)
  return sql`insert into ${table} (${namesOf(written)})
    select ${sql.join(valuesOf(written, row), sql`, `)} where ${condition}`
}

/** A row to copy: its id, the id of its copy, and the ids to which the copy refers. */
export interface CopiedRow {
  from: string
  to: string
  parent: string | null
}

/** The most characters of one bound value. Ids are ASCII, so this is below D1's limit of 2 MB. */
const maxIdListLength = 1_500_000

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
  return splitIntoParameters(ids, maxIdListLength).map(
    (part) => sql`insert into ${table} (${sql.join(names.map(quoteColumn), sql`, `)})
      select ${sql.join(values, sql`, `)} from json_each(${`[${part.join(',')}]`}) as copied
        cross join ${table} as source on source.id = copied.value ->> 0`,
  )
}
