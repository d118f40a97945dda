import type { SQL, SQLWrapper } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { AppError } from '../domain/errors.ts'
import type { Meter } from '../domain/meter.ts'
import { isTransient } from './failures.ts'
import { isPrepared } from './prepare.ts'
import { decodeRows, type Query } from './select.ts'

/** A statement and the type of its rows as D1 returns them. */
export type Statement<Row = unknown> = (SQL<Row> | SQLWrapper) & { readonly _row?: Row }

/** A database, or a session of it that records how fresh its reads are. */
export type Client = Pick<D1DatabaseSession, 'prepare' | 'batch'> & Partial<Pick<D1DatabaseSession, 'getBookmark'>>

const throwOverloaded = (error: unknown): never => {
  if (!isTransient(error)) throw error
  const headers = { 'retry-after': '1' }
  throw new AppError('overloaded', 'The database is busy. Try again in a moment.', { headers, cause: error })
}

type RowsOfOne<S extends Statement> = S extends SQL<infer Row> ? Row[] : S extends Query<infer Row> ? Row[] : unknown[]
export type NamedStatements = Readonly<Record<string, Statement | null | undefined>>
export type NamedRows<S extends NamedStatements> = { -readonly [K in keyof S]?: RowsOfOne<Extract<S[K], Statement>> }
type RowsOf<S extends readonly Statement[]> = { -readonly [K in keyof S]: RowsOfOne<S[K]> }

/** The statements with their names, without the null ones. */
export const listStatements = (statements: NamedStatements): { name: string; statement: Statement }[] =>
  Object.entries(statements).flatMap(([name, statement]) => (statement ? [{ name, statement }] : []))

const dialect = new SQLiteSyncDialect()

/** D1 binds at most this many values to one statement. */
const maxValues = 100

/**
 * The text and the values of a statement. A statement with more values than D1 binds repeats some of them, so each
 * distinct value is bound once and named by its number.
 */
export function renderStatement(statement: SQLWrapper): { text: string; values: unknown[] } {
  if (isPrepared(statement)) return statement.renderedStatement
  const { sql: text, params: values } = dialect.sqlToQuery(statement.getSQL())
  if (values.length <= maxValues) return { text, values }
  const distinctValues = [...new Set(values)]
  const numbers = new Map(distinctValues.map((value, index) => [value, index + 1]))
  let next = 0
  // Quoted texts and names are matched too, so that their question marks are left alone.
  const numberedText = text.replaceAll(/'[^']*'|"[^"]*"|\?/g, (part) =>
    part === '?' ? `?${numbers.get(values[next++])}` : part,
  )
  return { text: numberedText, values: distinctValues }
}

/** D1 with a meter. One `batch` is one transaction and one round trip. */
export class Database {
  readonly #client: Client
  readonly meter: Meter
  /** The size of the database after the last statement. Null before the first one. */
  sizeBytes: number | null = null

  constructor(client: Client, meter: Meter) {
    this.#client = client
    this.meter = meter
  }

  /** The state that this session has seen. A client that sends it back reads at least that state. */
  get bookmark(): string | null {
    return this.#client.getBookmark?.() ?? null
  }

  /** All rows of one statement. */
  async all<Row>(statement: SQL<Row> | Query<Row>): Promise<Row[]> {
    const result = await this.#prepare(statement).all<Row>().catch(throwOverloaded)
    this.#count(result)
    this.meter.round_trips++
    return decodeRows(statement, result.results)
  }

  async first<Row>(statement: SQL<Row> | Query<Row>): Promise<Row | undefined> {
    return (await this.all(statement))[0]
  }

  /** Runs the statements in order in one transaction: all of them take effect, or none. */
  async batch<const S extends readonly Statement[]>(statements: S): Promise<RowsOf<S>> {
    const preparedStatements = statements.map((statement) => this.#prepare(statement))
    const results = await this.#client.batch(preparedStatements).catch(throwOverloaded)
    this.meter.round_trips++
    for (const result of results) this.#count(result)
    const rows = statements.map((statement, index) => decodeRows(statement, results[index]?.results ?? []))
    return rows as RowsOf<S>
  }

  /** Runs the statements of all groups as one batch and returns their rows by group. */
  async batchGroups<const S extends readonly Statement[]>(groups: readonly S[]): Promise<RowsOf<S>[]> {
    const rows = await this.batch(groups.flat())
    let next = 0
    return groups.map(({ length }) => rows.slice(next, (next += length)) as RowsOf<S>)
  }

  /** Runs a batch of named statements and returns their rows by name. Null statements are left out. */
  async batchNamed<const S extends NamedStatements>(statements: S): Promise<NamedRows<S>> {
    const entries = listStatements(statements)
    const rows = await this.batch(entries.map(({ statement }) => statement))
    return Object.fromEntries(entries.map(({ name }, index) => [name, rows[index]])) as NamedRows<S>
  }

  #prepare(statement: Statement): D1PreparedStatement {
    const { text, values } = renderStatement(statement)
    return this.#client.prepare(text).bind(...values)
  }

  #count({ meta }: D1Result): void {
    this.meter.queries++
    this.meter.rows_read += meta.rows_read
    this.meter.rows_written += meta.rows_written
    this.sizeBytes = meta.size_after ?? this.sizeBytes
  }
}
