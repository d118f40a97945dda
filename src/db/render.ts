import { Column, Param, SQL, type SQLWrapper, StringChunk, sql, Table } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'

const dialect = new SQLiteSyncDialect()

interface RenderedStatement {
  text: string
  values: unknown[]
}

/** Names of tables and columns are rendered once. */
const names = new WeakMap<object, string>()

function nameOf(named: Table | Column): string {
  const known = names.get(named)
  if (known !== undefined) return known
  const { sql: text } = dialect.sqlToQuery(sql`${named}`)
  names.set(named, text)
  return text
}

function addParam(param: Param, to: RenderedStatement): void {
  const { value, encoder } = param
  const stored: unknown = value === null ? null : encoder.mapToDriverValue(value)
  if (stored instanceof SQL) return addSql(stored, to)
  to.text += '?'
  to.values.push(stored)
}

/** What drizzle renders otherwise than by its parts: queries of its builder, lists, names, aliases. */
function addOther(chunk: unknown, to: RenderedStatement): void {
  const { sql: text, params } = dialect.sqlToQuery(sql`${chunk}`)
  to.text += text
  to.values.push(...params)
}

function addChunk(chunk: unknown, to: RenderedStatement): void {
  if (chunk instanceof StringChunk) for (const part of chunk.value) to.text += part
  else if (chunk instanceof SQL) addSql(chunk, to)
  else if (chunk instanceof Param) addParam(chunk, to)
  else if (chunk instanceof Column || chunk instanceof Table) to.text += nameOf(chunk)
  else if (typeof chunk === 'object' ? chunk !== null : chunk === undefined) addOther(chunk, to)
  else {
    to.text += '?'
    to.values.push(chunk)
  }
}

function addSql(statement: SQL, to: RenderedStatement): void {
  for (const chunk of statement.queryChunks) addChunk(chunk, to)
}

/**
 * The text and the values of a statement, as drizzle's dialect makes them. drizzle copies both for each part of a
 * statement, which takes several times as long.
 */
export function render(statement: SQLWrapper): RenderedStatement {
  const rendered: RenderedStatement = { text: '', values: [] }
  addSql(statement.getSQL(), rendered)
  return rendered
}
