import type { Client } from '../../src/db/database.ts'

interface Longest {
  statement: string
  ms: number
}

/** A database that keeps which of its statements took longest, as the database itself measures it. */
export function timed(real: Client): { client: Client; longest: Longest } {
  const longest: Longest = { statement: '', ms: 0 }
  const texts = new WeakMap<D1PreparedStatement, string>()

  function note(statement: string, ms: number): void {
    if (ms > longest.ms) Object.assign(longest, { statement, ms })
  }

  function bind(text: string, values: unknown[]): D1PreparedStatement {
    const statement = real.prepare(text).bind(...values)
    const all = statement.all.bind(statement)
    texts.set(statement, text)
    return Object.assign(statement, {
      all: async <Row>() => {
        const result = await all<Row>()
        note(text, result.meta.duration)
        return result
      },
    })
  }

  async function batch<Row>(statements: D1PreparedStatement[]): Promise<D1Result<Row>[]> {
    const results = await real.batch<Row>(statements)
    for (const [index, statement] of statements.entries())
      note(texts.get(statement) ?? '', results[index]?.meta.duration ?? 0)
    return results
  }

  // The service prepares no statement without binding its values.
  const prepare = (text: string) => ({ bind: (...values: unknown[]) => bind(text, values) }) as D1PreparedStatement
  return { client: { prepare, batch }, longest }
}
