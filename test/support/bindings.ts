import { env } from 'cloudflare:workers'

/** Wraps the database with a callback for every prepared statement. */
export function watchDatabase(onStatement: (sql: string) => void): { DB: D1Database } {
  const watch = (session: D1DatabaseSession) => ({
    prepare: (sql: string) => {
      onStatement(sql)
      return session.prepare(sql)
    },
    batch: (statements: D1PreparedStatement[]) => session.batch(statements),
    getBookmark: () => session.getBookmark(),
  })
  const DB = {
    prepare: (sql: string) => {
      onStatement(sql)
      return env.DB.prepare(sql)
    },
    withSession: (constraint?: string) => watch(env.DB.withSession(constraint)),
  }
  return { DB: DB as unknown as D1Database }
}

/** Makes a database that answers every statement with this error. */
export function breakDatabase(message: string): { DB: D1Database } {
  const fail = () => Promise.reject(new Error(message))
  const statement = { bind: () => statement, all: fail, first: fail, run: fail, raw: fail }
  const session = { prepare: () => statement, batch: fail, getBookmark: () => null }
  return { DB: { ...session, withSession: () => session } as unknown as D1Database }
}

/** Makes a rate limiter that refuses every request, and records its keys. */
export function createRefusingLimiter(): { bindings: { RATE_LIMITER: RateLimit }; keys: string[] } {
  const keys: string[] = []
  const RATE_LIMITER: RateLimit = {
    limit: async ({ key }) => {
      keys.push(key)
      return { success: false }
    },
  }
  return { bindings: { RATE_LIMITER }, keys }
}

/** Makes a rate limiter that allows this many requests of each key, and records its keys. */
export function createCountingLimiter(most: number): RateLimit & { keys: string[] } {
  const keys: string[] = []
  return {
    keys,
    limit: async ({ key }) => {
      keys.push(key)
      return { success: keys.filter((one) => one === key).length <= most }
    },
  }
}

/** Wraps the database, and records the opened sessions. */
export function recordSessions(): { bindings: { DB: D1Database }; sessions: (string | undefined)[] } {
  const sessions: (string | undefined)[] = []
  const DB = {
    withSession: (constraint?: string) => {
      sessions.push(constraint)
      return env.DB.withSession(constraint)
    },
  }
  return { bindings: { DB: DB as unknown as D1Database }, sessions }
}

/** Wraps the database, and records the statements of every batch. */
export function recordBatches(): { bindings: { DB: D1Database }; batches: string[][] } {
  const batches: string[][] = []
  const texts = new WeakMap<D1PreparedStatement, string>()
  const record = (session: D1DatabaseSession) => ({
    prepare: (sql: string) => ({
      bind: (...values: unknown[]) => {
        const statement = session.prepare(sql).bind(...values)
        texts.set(statement, sql)
        return statement
      },
    }),
    batch: (statements: D1PreparedStatement[]) => {
      batches.push(statements.map((statement) => texts.get(statement) ?? ''))
      return session.batch(statements)
    },
    getBookmark: () => session.getBookmark(),
  })
  const DB = { withSession: (constraint?: string) => record(env.DB.withSession(constraint)) }
  return { bindings: { DB: DB as unknown as D1Database }, batches }
}

/** Wraps the database; `before` runs before each batch with a statement that `matches`. */
function watchBatches(matches: RegExp, before: () => Promise<unknown>): { DB: D1Database } {
  const texts = new WeakMap<D1PreparedStatement, string>()
  const watch = (session: D1DatabaseSession) => ({
    prepare: (sql: string) => ({
      bind: (...values: unknown[]) => {
        const statement = session.prepare(sql).bind(...values)
        texts.set(statement, sql)
        return statement
      },
    }),
    batch: async (statements: D1PreparedStatement[]) => {
      if (statements.some((statement) => matches.test(texts.get(statement) ?? ''))) await before()
      return session.batch(statements)
    },
    getBookmark: () => session.getBookmark(),
  })
  const DB = { withSession: (constraint?: string) => watch(env.DB.withSession(constraint)) }
  return { DB: DB as unknown as D1Database }
}

/** Wraps the database; `work` runs before the first batch with a statement that `matches`. */
export function interruptDatabase(matches: RegExp, work: () => Promise<unknown>): { DB: D1Database } {
  let isDone = false
  return watchBatches(matches, async () => {
    if (isDone) return
    isDone = true
    await work()
  })
}

/** Wraps the database; the batch with this number among those with a statement that `matches` fails. */
export function failBatch(matches: RegExp, number: number, message: string): { DB: D1Database } {
  let count = 0
  return watchBatches(matches, async () => {
    if (++count === number) throw new Error(message)
  })
}

/** Wraps a database, and records the text of every statement. */
export function recordStatements({ DB }: { DB: D1Database }): { DB: D1Database; statements: string[] } {
  const statements: string[] = []
  const record = (session: D1DatabaseSession) => ({
    prepare: (sql: string) => {
      statements.push(sql)
      return session.prepare(sql)
    },
    batch: (prepared: D1PreparedStatement[]) => session.batch(prepared),
    getBookmark: () => session.getBookmark(),
  })
  const recorded = { withSession: (constraint?: string) => record(DB.withSession(constraint)) }
  return { DB: recorded as unknown as D1Database, statements }
}

/** Wraps the database. Statements that `matches` selects work this many times, and then the database is gone. */
export function failStatements(matches: (sql: string) => boolean, successes: number): { DB: D1Database } {
  let count = 0
  const broken = { bind: () => ({ all: () => Promise.reject(new Error('The database is gone.')) }) }
  const watch = (session: D1DatabaseSession) => ({
    prepare: (sql: string) =>
      matches(sql) && count++ >= successes ? (broken as unknown as D1PreparedStatement) : session.prepare(sql),
    batch: (statements: D1PreparedStatement[]) => session.batch(statements),
    getBookmark: () => session.getBookmark(),
  })
  const DB = { withSession: (constraint?: string) => watch(env.DB.withSession(constraint)) }
  return { DB: DB as unknown as D1Database }
}
