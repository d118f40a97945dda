import { Column, Name, Param, SQL, type SQLWrapper, StringChunk, sql, Table } from 'drizzle-orm'
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

/** What drizzle renders otherwise than by its parts: queries of its builder, lists, aliases. */
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
  else if (chunk instanceof Name) to.text += dialect.escapeName(chunk.value)
  else if (typeof chunk === 'object' ? chunk !== null : chunk === undefined) addOther(chunk, to)
  else {
    to.text += '?'
    to.values.push(chunk)
  }
}

function addSql(statement: SQL, to: RenderedStatement): void {
  for (const chunk of statement.queryChunks) addChunk(chunk, to)
}

/** D1 takes so many values with a statement. */
const mostValues = 100

/** The same statement with each value once. Where a value comes again, its number stands for it. */
function withSharedValues({ text, values }: RenderedStatement): RenderedStatement {
  const shared = [...new Set(values)]
  const numbers = new Map(shared.map((value, index) => [value, index + 1]))
  let next = 0
  // Question marks in texts of SQL stand between quotation marks.
  const numbered = text.replaceAll(/'[^']*'|"[^"]*"|\?/g, (part) =>
    part === '?' ? `?${numbers.get(values[next++])}` : part,
  )
  return { text: numbered, values: shared }
}

/**
 * The text and the values of a statement, as drizzle's dialect makes them. drizzle copies both for each part of a
 * statement, which takes several times as long. A union of ranges of an index names the same values often: they are shared
 * where they were too many otherwise.
 */
export function render(statement: SQLWrapper): RenderedStatement {
  const rendered: RenderedStatement = { text: '', values: [] }
  addSql(statement.getSQL(), rendered)
  return rendered.values.length > mostValues ? withSharedValues(rendered) : rendered
}
