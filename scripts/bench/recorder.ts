interface Recorded {
  sql: string
  params: unknown[]
}

/** One round trip to the database, and what it cost. */
export interface Call {
  statements: Recorded[]
  rows_read: number
  rows_written: number
}

const noResult = { results: [], success: true, meta: { rows_read: 0, rows_written: 0 } }

const isWrite = ({ sql }: Recorded): boolean => /^\s*(insert|update|delete)/i.test(sql)

/** A database that notes every statement. With `swallowWrites` it answers transactions that write without doing them. */
export function recorder(real: D1Database, options: { swallowWrites: boolean }): { db: D1Database; calls: Call[] } {
  const calls: Call[] = []
  const noted = new WeakMap<object, Recorded>()

  function prepare(sql: string) {
    return {
      bind(...params: unknown[]) {
        const statement = {
          all: async () => {
            const result = await real
              .prepare(sql)
              .bind(...params)
              .all()
            calls.push({
              statements: [{ sql, params }],
              rows_read: result.meta.rows_read,
              rows_written: result.meta.rows_written,
            })
            return result
          },
        }
        noted.set(statement, { sql, params })
        return statement
      },
    }
  }

  async function batch(statements: object[]) {
    const recorded = statements.flatMap((statement) => noted.get(statement) ?? [])
    const call: Call = { statements: recorded, rows_read: 0, rows_written: 0 }
    calls.push(call)
    if (options.swallowWrites && recorded.some(isWrite)) return recorded.map(() => noResult)
    const results = await real.batch(recorded.map(({ sql, params }) => real.prepare(sql).bind(...params)))
    for (const { meta } of results) {
      call.rows_read += meta.rows_read
      call.rows_written += meta.rows_written
    }
    return results
  }

  const session = { prepare, batch, getBookmark: () => null }
  // The service uses nothing else of a database than these three methods, of sessions.
  return { db: { withSession: () => session } as unknown as D1Database, calls }
}
