import { env as bound } from 'cloudflare:workers'
import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import service from '../../src/index.ts'
import { continueInBackground } from '../../src/entry/job.ts'
import { handleBatch } from '../../src/entry/queue.ts'
import { webhookSender } from '../../src/objects/webhook-sender.ts'
import { isTracing, traceBatch, tracedJob } from './delays/tracing.ts'
import { campaignsBench, MeteredSender, meteredQueue } from './campaigns-worker.ts'
import { consentsBench } from './consents-worker.ts'
import { emailsBench } from './emails-worker.ts'
import { filesBench } from './files-worker.ts'
import { meteredJob } from './metered.ts'
import { type Call, recorder } from './recorder.ts'
import { segmentsBench } from './segments-worker.ts'
import { webhooksBench } from './webhooks-worker.ts'

// Straight to the network, and not through the simulator's Worker (scripts/support/dev-worker.ts).
const { INTERNET } = bound as { INTERNET?: Fetcher }
if (INTERNET) globalThis.fetch = (input: RequestInfo | URL, init?: RequestInit) => INTERNET.fetch(input, init)

/**
 * The service and, beside it, the floor that it is measured against: a bare route that runs the very statements of a
 * request of the service, recorded before, through the same database, and returns the rows.
 */
const floor = new Hono<{ Bindings: Bindings }>()

floor.route('/', webhooksBench)
floor.route('/', segmentsBench)
floor.route('/', consentsBench)
floor.route('/', emailsBench)
floor.route('/', filesBench)
floor.route('/', campaignsBench)

const reads = new Map<string, Call[]>()
const writes: Call[][] = []

async function record(request: Request, env: Bindings, context: ExecutionContext, options: { swallowWrites: boolean }) {
  const { db, calls } = recorder(env.DB, options)
  const response = await service.fetch(request, { ...env, DB: db }, context)
  return { calls, status: response.status, bytes: (await response.text()).length }
}

const costOf = (calls: readonly Call[]) => ({
  round_trips: calls.length,
  queries: calls.reduce((sum, call) => sum + call.statements.length, 0),
  rows_read: calls.reduce((sum, call) => sum + call.rows_read, 0),
  rows_written: calls.reduce((sum, call) => sum + call.rows_written, 0),
})

/** Records a request of the service under a name; its bearer token is the caller's. */
floor.post('/floor/read/:name', async (c) => {
  const { path, token } = await c.req.json<{ path: string; token: string }>()
  const request = new Request(new URL(path, c.req.url), { headers: { authorization: `Bearer ${token}` } })
  const { calls, status, bytes } = await record(request, c.env, c.executionCtx as ExecutionContext, {
    swallowWrites: false,
  })
  reads.set(c.req.param('name'), calls)
  return c.json({ status, bytes, ...costOf(calls) })
})

/** Records a writing request without its writes, so that the floor can do them once. */
floor.post('/floor/write', async (c) => {
  const { path, token, body } = await c.req.json<{ path: string; token: string; body: unknown }>()
  const request = new Request(new URL(path, c.req.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { calls, status } = await record(request, c.env, c.executionCtx as ExecutionContext, { swallowWrites: true })
  writes.push(calls)
  return c.json({ status })
})

/** What a writing request of the service costs, by really doing it. */
floor.post('/floor/cost', async (c) => {
  const { path, token, body } = await c.req.json<{ path: string; token: string; body: unknown }>()
  const request = new Request(new URL(path, c.req.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { calls, status, bytes } = await record(request, c.env, c.executionCtx as ExecutionContext, {
    swallowWrites: false,
  })
  return c.json({ status, bytes, ...costOf(calls) })
})

async function replay(db: D1Database, calls: readonly Call[]): Promise<unknown[]> {
  let rows: unknown[] = []
  for (const { statements } of calls) {
    const results = await db.batch(statements.map(({ sql, params }) => db.prepare(sql).bind(...params)))
    rows = results.map((result) => result.results)
  }
  return rows
}

floor.get('/floor/read/:name', async (c) => c.json(await replay(c.env.DB, reads.get(c.req.param('name')) ?? [])))

floor.post('/floor/write/next', async (c) => {
  const calls = writes.shift()
  return calls ? c.json(await replay(c.env.DB, calls), 201) : c.json({}, 404)
})

class WebhookSender extends webhookSender<Bindings>(
  (env) => (isTracing() ? tracedJob(env, 'object') : meteredJob(env)),
  continueInBackground,
) {}

const queue: typeof meteredQueue = (batch, env) =>
  isTracing() ? traceBatch(batch, () => handleBatch(tracedJob(env, batch.queue), batch)) : meteredQueue(batch, env)

export { MeteredSender as CampaignSender, WebhookSender }

export default {
  fetch: (request: Request, env: Bindings, context: ExecutionContext) =>
    new URL(request.url).pathname.startsWith('/floor/')
      ? floor.fetch(request, env, context)
      : service.fetch(request, env, context),
  queue,
  scheduled: service.scheduled,
} satisfies ExportedHandler<Bindings>
