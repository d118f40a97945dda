import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { root } from '../paths.ts'

export interface Migration {
  name: string
  text: string
}

/** The rows of `pragma table_xinfo`. */
export interface ColumnInfo {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  /** The place of the column in the primary key, from 1. 0 for a column that is not in the key. */
  pk: number
  /** 0 for an ordinary column. */
  hidden: number
}

export interface Column extends ColumnInfo {
  comment: string
  /** True if its `check` allows 0 and 1 alone. */
  isFlag: boolean
  /** The column that a foreign key of this column alone refers to, as SQL. */
  reference: string | null
}

export interface Table {
  name: string
  comment: string
  columns: Column[]
  /** The columns of each `unique` constraint. */
  uniqueKeys: string[][]
}

/** Tables that one migration file, or several of the same name, create. */
export interface Room {
  name: string
  migration: string
  comment: string[]
  tables: Table[]
}

const folder = join(root, 'migrations')

export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })))
}

/** Lets a table have the comments of the one that takes its place. What that one does not describe anew stays. */
function renameTable(comments: Map<string, string>, oldTable: string, newTable: string): void {
  for (const [key, comment] of new Map(comments)) {
    if (key !== oldTable && !key.startsWith(`${oldTable}.`)) continue
    comments.delete(key)
    comments.set(`${newTable}${key.slice(oldTable.length)}`, comment)
  }
}

/**
 * Finds the comments above tables and columns. Their keys are `table` and `table.column`. A comment stands directly above
 * the line that creates the table or begins with the column.
 */
function readComments(text: string): Map<string, string> {
  const comments = new Map<string, string>()
  let lines: string[] = []
  let table = ''
  for (const line of text.split('\n').map((untrimmed) => untrimmed.trim())) {
    if (line.startsWith('--')) {
      lines.push(line.slice(2).trim())
      continue
    }
    const [, createdTable] = /^create table (\w+)/.exec(line) ?? []
    const [, changedTable, addedColumn] = /^alter table (\w+) add column (\w+)/.exec(line) ?? []
    const [, oldTable, newTable] = /^alter table (\w+) rename to (\w+)/.exec(line) ?? []
    if (oldTable && newTable) renameTable(comments, oldTable, newTable)
    const [, firstWord] = /^(\w+)/.exec(line) ?? []
    table = createdTable ?? (line.startsWith(')') ? '' : table)
    const key = createdTable ?? (addedColumn ? `${changedTable}.${addedColumn}` : `${table}.${firstWord}`)
    if (lines.length > 0) comments.set(key, lines.join(' '))
    lines = []
  }
  return comments
}

function readTable(database: DatabaseSync, name: string, comments: ReadonlyMap<string, string>): Table {
  const list = (query: string, ...values: string[]) => database.prepare(query).all(...values)
  const declaration = String(list('select sql from sqlite_schema where name = ?', name)[0]?.['sql'])
  const flags = new Set([...declaration.matchAll(/check \((\w+) in \(0, 1\)\)/g)].map(([, column]) => column))
  const references = list('select "from", "table", "to", id, seq from pragma_foreign_key_list(?)', name)
  const readReference = (column: string): string | null => {
    const reference = references.find(({ from }) => from === column)
    const isSingle = references.filter(({ id }) => id === reference?.['id']).length === 1
    return reference && isSingle ? `${String(reference['table'])} (${String(reference['to'])})` : null
  }
  const columns = list('select name, type, "notnull", dflt_value, pk, hidden from pragma_table_xinfo(?)', name)
  const uniqueIndexes = list(`select name from pragma_index_list(?) where origin = 'u' order by seq desc`, name)
  return {
    name,
    comment: comments.get(name) ?? '',
    columns: (columns as unknown as ColumnInfo[]).map((column) => ({
      ...column,
      comment: comments.get(`${name}.${column.name}`) ?? '',
      isFlag: flags.has(column.name),
      reference: readReference(column.name),
    })),
    uniqueKeys: uniqueIndexes.map((index) =>
      list('select name from pragma_index_info(?) order by seqno', String(index['name'])).map((column) =>
        String(column['name']),
      ),
    ),
  }
}

/** The comment at the top of a file, which a blank line ends. */
const readHead = (text: string): string[] => {
  const lines = text.split('\n')
  return lines.slice(0, lines.indexOf('')).filter((line) => line.startsWith('--'))
}

/** Creates the tables in an empty database, and asks SQLite what they are. Only comments are read from the text. */
export function readRooms(migrations: readonly Migration[]): Room[] {
  const database = new DatabaseSync(':memory:')
  for (const { text } of migrations) database.exec(text)
  const comments = readComments(migrations.map(({ text }) => text).join('\n'))
  const rooms = new Map<string, Room>()
  const remainingTables = new Set(
    database
      .prepare(
        `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite%'`,
      )
      .all()
      .map(({ name }) => String(name)),
  )
  for (const { name: migration, text } of migrations) {
    const name = migration.replace(/^\d+_/, '').replace(/\.sql$/, '')
    for (const [, table = ''] of text.matchAll(/^create table (\w+)/gm)) {
      if (!remainingTables.delete(table)) continue
      const room = rooms.get(name) ?? { name, migration, comment: readHead(text), tables: [] }
      rooms.set(name, room)
      room.tables.push(readTable(database, table, comments))
    }
  }
  database.close()
  if (remainingTables.size > 0)
    throw new Error(`No line of the migrations begins with: create table ${[...remainingTables].join(', ')}`)
  return [...rooms.values()]
}
