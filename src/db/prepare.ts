import { fillPlaceholders } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { Query } from './select.ts'

const dialect = new SQLiteSyncDialect()

/** A query whose text stands, with the values of one use. */
export interface PreparedQuery<Row> extends Query<Row> {
  readonly renderedStatement: { text: string; values: unknown[] }
}

/**
 * Renders a query once an isolate, at its first use. Each use gives the values of its placeholders, which `sql.placeholder`
 * makes. A query whose text depends on the caller cannot be prepared.
 */
export function prepare<Row>(query: Query<Row>): (values: Record<string, unknown>) => PreparedQuery<Row> {
  let renderedQuery: ReturnType<typeof dialect.sqlToQuery> | undefined
  return (values) => {
    renderedQuery ??= dialect.sqlToQuery(query.getSQL())
    const renderedStatement = { text: renderedQuery.sql, values: fillPlaceholders(renderedQuery.params, values) }
    return { _: query._, getSQL: () => query.getSQL(), renderedStatement: renderedStatement }
  }
}

export const isPrepared = (statement: object): statement is PreparedQuery<unknown> => 'renderedStatement' in statement
