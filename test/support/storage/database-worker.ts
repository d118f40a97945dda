import { DurableObject } from 'cloudflare:workers'

interface Query {
  sql: string
  params?: (string | number | null | number[])[] | null
}

/** What the client of D1 asks for: `NONE`, `ROWS_AND_COLUMNS` or objects. */
type Format = string | null

const isStatement = ({ sql }: Query): boolean => sql.replaceAll(/^\s+--.*/gm, '').trim() !== ''

const bytesAsNumbers = (value: SqlStorageValue) =>
  value instanceof ArrayBuffer ? Array.from(new Uint8Array(value)) : value

/** The server of D1 for tests: it runs the statements of one request in one transaction. */
export class TestDatabase extends DurableObject {
  /** Answers as the server of the platform does, as JSON. */
  query(format: Format, body: string): string {
    const asked = JSON.parse(body) as Query | Query[]
    const queries = [asked].flat().filter(isStatement)
    const runAll = () => queries.map((query) => this.#run(format, query))
    try {
      if (queries.length === 0) throw new Error('No SQL statements detected.')
      // A statement by itself is one transaction already.
      return JSON.stringify(queries.length === 1 ? runAll() : this.ctx.storage.transactionSync(runAll))
    } catch (error) {
      return JSON.stringify({ success: false, error: error instanceof Error ? error.message : String(error) })
    }
  }

  bookmark(): Promise<string> {
    return this.ctx.storage.getCurrentBookmark()
  }

  #state() {
    const { sql } = this.ctx.storage
    const counters = 'select total_changes() as changes, last_insert_rowid() as last'
    return { ...sql.exec<{ changes: number; last: number }>(counters).one(), size: sql.databaseSize }
  }

  #run(format: Format, { sql, params }: Query) {
    const before = this.#state()
    const began = performance.now()
    const values = (params ?? []).map((value) => (Array.isArray(value) ? new Uint8Array(value).buffer : value))
    const cursor = this.ctx.storage.sql.exec(sql, ...values)
    const columns = cursor.columnNames
    const rows = Array.from(cursor.raw(), (row) => row.map(bytesAsNumbers))
    const duration = performance.now() - began
    const after = this.#state()
    return {
      success: true,
      results: inFormat(format, columns, rows),
      meta: {
        served_by: 'tests',
        served_by_primary: true,
        total_attempts: 1,
        timings: { sql_duration_ms: duration },
        duration,
        changes: after.changes - before.changes,
        last_row_id: after.last,
        changed_db: after.changes !== before.changes || after.last !== before.last || after.size !== before.size,
        size_after: after.size,
        rows_read: cursor.rowsRead,
        rows_written: cursor.rowsWritten,
      },
    }
  }
}

function inFormat(format: Format, columns: string[], rows: unknown[][]) {
  if (format === 'ROWS_AND_COLUMNS') return { columns, rows }
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])))
}

export default { fetch: () => new Response(null, { status: 404 }) }
