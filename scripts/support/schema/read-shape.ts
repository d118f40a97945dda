import type { DatabaseSync } from 'node:sqlite'
import type { ColumnInfo } from './read-tables.ts'

/** A unique index, constraint or key. */
interface UniqueShape {
  /** The columns, or null for an index of expressions. */
  columns: string[] | null
  /** Its columns, expressions and condition as one text, by which two of them are compared. */
  text: string
}

export interface TableShape {
  columns: Map<string, ColumnInfo>
  /** The storage of rows: `without rowid`, `strict`, or as an index for searching. */
  storage: string
  checks: string[]
  foreignKeys: { columns: string[]; text: string }[]
  uniques: UniqueShape[]
}

/** The parts of a schema on which statements of a Worker can depend. */
export interface Shape {
  tables: Map<string, TableShape>
  views: Map<string, string[]>
  /** The declarations of indexes and triggers by their names. */
  indexes: Map<string, string>
  triggers: Map<string, string>
}

const simplify = (sql: string): string =>
  sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Returns the text between the parenthesis at a position and its partner. */
function readParentheses(text: string, start: number): string {
  let depth = 0
  let isQuoted = false
  for (let at = start; at < text.length; at++) {
    const letter = text[at]
    if (letter === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (depth === 0) return text.slice(start + 1, at)
  }
  return text.slice(start + 1)
}

const readChecks = (sql: string): string[] =>
  [...sql.matchAll(/\bcheck \(/gi)].map(({ 0: match, index }) => readParentheses(sql, index + match.length - 1).trim())

function readTable(database: DatabaseSync, name: string, storage: string, sql: string): TableShape {
  const list = (query: string, value: string) => database.prepare(query).all(value)
  const rows = list('select name, type, "notnull", dflt_value, pk, hidden from pragma_table_xinfo(?)', name)
  const columns = rows as unknown as ColumnInfo[]
  const keyColumns = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk)
  const uniqueIndexes = list('select name, origin from pragma_index_list(?) where "unique" = 1', name)
  const uniques = uniqueIndexes
    .filter(({ origin }) => origin !== 'pk')
    .map((index): UniqueShape => {
      const names = list('select name from pragma_index_info(?) order by seqno', String(index['name'])).map(
        (column) => column['name'],
      )
      const declaration = list('select sql from sqlite_schema where name = ?', String(index['name']))[0]?.['sql']
      const isPlain = names.every((column) => column !== null)
      const [, whole = names.join(', ')] = /^.*? on \w+ \((.*)$/i.exec(simplify(String(declaration ?? ''))) ?? []
      return { columns: isPlain ? names.map(String) : null, text: whole.replace(/\)$/, '') }
    })
  const keyNames = keyColumns.map((column) => column.name)
  if (keyNames.length > 0) uniques.push({ columns: keyNames, text: keyNames.join(', ') })
  const foreignKeyParts = list(
    `select id, "from" as column, "from" || ' to ' || "table" || ' (' || coalesce("to", '') || ') on delete ' || on_delete as text
      from pragma_foreign_key_list(?) order by id, seq`,
    name,
  )
  const foreignKeys = Map.groupBy(foreignKeyParts, ({ id }) => id)
  return {
    columns: new Map(columns.map((column) => [column.name, column])),
    storage,
    checks: readChecks(sql),
    foreignKeys: [...foreignKeys.values()].map((parts) => ({
      columns: parts.map(({ column }) => String(column)),
      text: parts.map(({ text }) => String(text)).join(', '),
    })),
    uniques,
  }
}

/** Asks SQLite what a database declares. Tables of the platform and those inside a search index are left out. */
export function readShape(database: DatabaseSync): Shape {
  const shape: Shape = { tables: new Map(), views: new Map(), indexes: new Map(), triggers: new Map() }
  const declarations = database
    .prepare(
      `select s.type, s.name, s.sql, t.type as kind, t.wr, t.strict from sqlite_schema s
        left join pragma_table_list t on t.schema = 'main' and t.name = s.name
        where s.sql is not null and s.name not like 'sqlite\\_%' escape '\\' and s.name not like '\\_cf\\_%' escape '\\'
          and s.name <> 'd1_migrations' and coalesce(t.type, '') <> 'shadow'`,
    )
    .all()
  for (const row of declarations) {
    const name = String(row['name'])
    const sql = simplify(String(row['sql']))
    if (row['type'] === 'index') shape.indexes.set(name, sql)
    if (row['type'] === 'trigger') shape.triggers.set(name, sql)
    const columnNames = () =>
      database
        .prepare('select name from pragma_table_xinfo(?)')
        .all(name)
        .map((column) => String(column['name']))
    if (row['type'] === 'view') shape.views.set(name, columnNames())
    const options = [
      row['kind'] === 'virtual' ? 'virtual' : '',
      row['wr'] ? 'without rowid' : '',
      row['strict'] ? 'strict' : '',
    ]
    if (row['type'] === 'table')
      shape.tables.set(name, readTable(database, name, options.filter(Boolean).join(', ') || 'plain', sql))
  }
  return shape
}
