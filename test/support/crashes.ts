import { env } from 'cloudflare:workers'
import { watchStore } from './files.ts'

/**
 * Wraps the database and the store so that they fail from this call on. Every other crash comes after the call is done.
 */
export function crashAt(number: number): { bindings: object; hasCrashed: () => boolean } {
  const isBefore = number % 2 === 1
  const target = Math.ceil(number / 2)
  let calls = 0
  let isDown = false
  const crash = () => {
    isDown = true
    throw new Error('The machine is gone.')
  }
  const before = () => {
    if (isDown) crash()
    calls++
    if (isBefore && calls === target) crash()
  }
  const after = () => {
    if (!isBefore && calls === target) crash()
  }
  const session = (real: D1DatabaseSession) => ({
    prepare: (sql: string) => wrapped(real.prepare(sql)),
    async batch(statements: D1PreparedStatement[]) {
      before()
      const result = await real.batch(statements.map((statement) => originals.get(statement) ?? statement))
      after()
      return result
    },
    getBookmark: () => real.getBookmark(),
  })
  const originals = new WeakMap<object, D1PreparedStatement>()
  const wrapped = (statement: D1PreparedStatement): D1PreparedStatement => {
    const crashingStatement = {
      bind: (...values: unknown[]) => wrapped(statement.bind(...values)),
      async all() {
        before()
        const result = await statement.all()
        after()
        return result
      },
    } as unknown as D1PreparedStatement
    originals.set(crashingStatement, statement)
    return crashingStatement
  }
  const DB = { withSession: (constraint?: string) => session(env.DB.withSession(constraint)) }
  return { bindings: { DB, ...watchStore(before, after) }, hasCrashed: () => isDown }
}
