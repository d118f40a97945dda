import { env as bindings } from 'cloudflare:workers'
import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import service from '../../src/index.ts'

/** The service, and under `/bench/` the floors that it is measured against. */
export * from '../../src/index.ts'

// The simulator sends `fetch` through a Worker of its own, which would be measured too.
const { INTERNET } = bindings as { INTERNET?: Fetcher }
if (INTERNET) globalThis.fetch = (input: RequestInfo | URL, init?: RequestInit) => INTERNET.fetch(input, init)

interface Statement {
  sql: string
  params: unknown[]
}

/** One round trip to the database. */
interface Call {
  statements: Statement[]
  isWrite: boolean
  endedAt: number
}

const isWrite = ({ sql }: Statement): boolean => /^\s*(insert|update|delete)/i.test(sql)

const emptyResult = { results: [], success: true, meta: { rows_read: 0, rows_written: 0 } }

/** A database that notes its round trips. With `skipWrites` it answers writing transactions without running them. */
function recordDatabase(real: D1Database, { skipWrites }: { skipWrites: boolean }) {
  const calls: Call[] = []
  const statementsOf = new WeakMap<object, Statement>()
  async function run<Result>(statements: Statement[], work: () => Promise<Result>): Promise<Result> {
    const result = await work()
    calls.push({ statements, isWrite: statements.some(isWrite), endedAt: Date.now() })
    return result
  }
  const prepare = (sql: string) => ({
    bind(...params: unknown[]) {
      const bound = real.prepare(sql).bind(...params)
      const statement = { all: () => run([{ sql, params }], () => bound.all()) }
      statementsOf.set(statement, { sql, params })
      return statement
    },
  })
  const batch = (prepared: object[]) => {
    const statements = prepared.flatMap((one) => statementsOf.get(one) ?? [])
    const isSkipped = skipWrites && statements.some(isWrite)
    return run(statements, async () => (isSkipped ? statements.map(() => emptyResult) : runBatch(real, statements)))
  }
  const session = { prepare, batch, getBookmark: () => null }
  return { db: { withSession: () => session } as unknown as D1Database, calls }
}

const runBatch = (db: D1Database, statements: readonly Statement[]) =>
  db.batch(statements.map(({ sql, params }) => db.prepare(sql).bind(...params)))

/** Runs recorded round trips again and answers the rows of the last one. */
async function replay(db: D1Database, calls: readonly Call[]): Promise<unknown> {
  let results: D1Result[] = []
  for (const { statements } of calls) results = await runBatch(db, statements)
  return results.map((result) => result.results)
}

const floor = new Hono<{ Bindings: Bindings }>()
const reads = new Map<string, Call[]>()
const writes: Call[][] = []

/** Runs statements in one transaction. `ms` is what the whole transaction took. */
floor.post('/bench/sql', async (c) => {
  const statements = await c.req.json<Statement[]>()
  const startedAt = Date.now()
  const results = await runBatch(c.env.DB, statements)
  return c.json({ ms: Date.now() - startedAt, rows: results.at(-1)?.results ?? [] })
})

/** Records the statements of a GET under its path, and those of a POST in a queue, without running its writes. */
floor.post('/bench/record', async (c) => {
  const { method, path, body } = await c.req.json<{ method: string; path: string; body?: string }>()
  const { db, calls } = recordDatabase(c.env.DB, { skipWrites: method !== 'GET' })
  const headers = { authorization: c.req.header('authorization') ?? '', 'content-type': 'application/json' }
  const request = new Request(new URL(path, c.req.url), { method, headers, ...(body === undefined ? {} : { body }) })
  const response = await service.fetch(request, { ...c.env, DB: db }, c.executionCtx)
  await response.text()
  if (method === 'GET') reads.set(path, calls)
  else writes.push(calls)
  return c.json({ status: response.status })
})

floor.get('/bench/replay', async (c) => c.json(await replay(c.env.DB, reads.get(c.req.query('path') ?? '') ?? [])))

floor.post('/bench/replay', async (c) => c.json(await replay(c.env.DB, writes.shift() ?? []), 201))

/** Posts the same body `count` times, `atOnce` at a time, to the URLs in turn. */
floor.post('/bench/fetch', async (c) => {
  const { urls, count, atOnce, headers, body } = await c.req.json<{
    urls: string[]
    count: number
    atOnce: number
    headers: Record<string, string>
    body: string
  }>()
  let sent = 0
  const startedAt = Date.now()
  const runner = async () => {
    for (let at = sent++; at < count; at = sent++) {
      const response = await fetch(urls[at % urls.length] ?? '', {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': `bench-${at}`, 'webhook-id': `bench-${at}` },
        body,
      })
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runner))
  return c.json({ ms: Date.now() - startedAt })
})

floor.put('/bench/files/:key', async (c) => {
  const httpMetadata = { contentType: c.req.header('content-type') ?? '' }
  const object = await c.env.FILES.put(`bench/${c.req.param('key')}`, c.req.raw.body, { httpMetadata })
  return c.json({ size: object?.size }, 201)
})

floor.get('/bench/files/:key', async (c) => {
  const object = await c.env.FILES.get(`bench/${c.req.param('key')}`)
  if (!object) return c.notFound()
  const headers = { 'content-length': String(object.size), 'content-type': object.httpMetadata?.contentType ?? '' }
  return new Response(object.body, { headers })
})

/** Answers as the service does, with the time of its last commit in `bench-committed-at`. */
async function timeCommit(request: Request, env: Bindings, context: ExecutionContext): Promise<Response> {
  const { db, calls } = recordDatabase(env.DB, { skipWrites: false })
  const response = await service.fetch(request, { ...env, DB: db }, context)
  const headers = new Headers(response.headers)
  headers.set('bench-committed-at', String(calls.findLast((call) => call.isWrite)?.endedAt ?? 0))
  return new Response(response.body, { status: response.status, headers })
}

function handle(request: Request, env: Bindings, context: ExecutionContext): Response | Promise<Response> {
  if (new URL(request.url).pathname.startsWith('/bench/')) return floor.fetch(request, env, context)
  if (request.headers.has('bench-time-commit')) return timeCommit(request, env, context)
  return service.fetch(request, env, context)
}

export default { ...service, fetch: handle } satisfies ExportedHandler<Bindings>
