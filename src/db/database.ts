import type { SQL, SQLWrapper } from 'drizzle-orm'
import { AppError } from '../domain/errors.ts'
import type { Meter } from '../domain/meter.ts'
import { isTransient } from './failures.ts'
import { render } from './render.ts'
import { decodeRows, type Query } from './select.ts'

/** A statement with the shape of the rows that it answers, as D1 gives them: column names, integers, text. */
export type Statement<Row = unknown> = (SQL<Row> | SQLWrapper) & { readonly _row?: Row }

/** A database, or a session of it that records how fresh its reads are. */
export type Client = Pick<D1DatabaseSession, 'prepare' | 'batch'> & Partial<Pick<D1DatabaseSession, 'getBookmark'>>

const overloaded = (error: unknown): never => {
  if (!isTransient(error)) throw error
  const headers = { 'retry-after': '1' }
  throw new AppError('overloaded', 'The database is busy. Try again in a moment.', { headers, cause: error })
}

type RowsOfOne<S extends Statement> = S extends SQL<infer Row> ? Row[] : S extends Query<infer Row> ? Row[] : unknown[]
export type NamedStatements = Readonly<Record<string, Statement | null | undefined>>
export type NamedRows<S extends NamedStatements> = { -readonly [K in keyof S]?: RowsOfOne<Extract<S[K], Statement>> }
type RowsOf<S extends readonly Statement[]> = { -readonly [K in keyof S]: RowsOfOne<S[K]> }

/** The statements that are not left out, with their names. */
export const listStatements = (statements: NamedStatements): { name: string; one: Statement }[] =>
  Object.entries(statements).flatMap(([name, one]) => (one ? [{ name, one }] : []))

/** D1 with a meter. One `batch` is one transaction and one round trip. */
export class Database {
  readonly #client: Client
  readonly meter: Meter

  constructor(client: Client, meter: Meter) {
    this.#client = client
    this.meter = meter
  }

  /** How far this session has read: a client that sends it back sees at least that state. */
  get bookmark(): string | null {
    return this.#client.getBookmark?.() ?? null
  }

  /** All rows of one statement. */
  async all<Row>(statement: SQL<Row> | Query<Row>): Promise<Row[]> {
    const result = await this.#prepare(statement).all<Row>().catch(overloaded)
    this.#count(result)
    this.meter.round_trips++
    return decodeRows(statement, result.results)
  }

  async first<Row>(statement: SQL<Row> | Query<Row>): Promise<Row | undefined> {
    return (await this.all(statement))[0]
  }

  /** Runs the statements in order in one transaction: all of them take effect, or none. */
  async batch<const S extends readonly Statement[]>(statements: S): Promise<RowsOf<S>> {
    const prepared = statements.map((statement) => this.#prepare(statement))
    const results = await this.#client.batch(prepared).catch(overloaded)
    this.meter.round_trips++
    for (const result of results) this.#count(result)
    const rows = statements.map((statement, index) => decodeRows(statement, results[index]?.results ?? []))
    return rows as RowsOf<S>
  }

  /** As `batch`, of the statements of each group. Their rows come by group. */
  async batchGroups<const S extends readonly Statement[]>(groups: readonly S[]): Promise<RowsOf<S>[]> {
    const rows = await this.batch(groups.flat())
    let next = 0
    return groups.map(({ length }) => rows.slice(next, (next += length)) as RowsOf<S>)
  }

  /** As `batch`, by names. A statement that is null is left out. */
  async batchNamed<const S extends NamedStatements>(statements: S): Promise<NamedRows<S>> {
    const given = listStatements(statements)
    const rows = await this.batch(given.map(({ one }) => one))
    return Object.fromEntries(given.map(({ name }, index) => [name, rows[index]])) as NamedRows<S>
  }

  #prepare(statement: Statement): D1PreparedStatement {
    const { text, values } = render(statement)
    return this.#client.prepare(text).bind(...values)
  }

  #count({ meta }: D1Result): void {
    this.meter.queries++
    this.meter.rows_read += meta.rows_read
    this.meter.rows_written += meta.rows_written
  }
}
