import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import { commitPart } from '../../src/db/commit.ts'
import { webhookEndpoints } from '../../src/db/schema/messaging/webhooks.ts'
import { inList } from '../../src/db/visibility.ts'
import { insertAll } from '../../src/db/write.ts'
import { mintSecret } from '../../src/domain/webhooks/webhook-signature.ts'
import { openJob } from '../../src/entry/job.ts'
import { randomBytes } from '../../src/entry/random.ts'
import { announceAll } from '../../src/modules/webhooks/index.ts'
import { selectOpenDeliveries } from '../../src/modules/webhooks/delivery/claim.ts'
import { switchOff } from '../../src/modules/webhooks/delivery/record.ts'
import { isTracing, traceFor, tracedJob } from './delays/tracing.ts'
import { databaseCosts, meteredJob } from './metered.ts'

/** What the bench of webhooks asks of the Worker: the engine without the API around it, and the floor beside it. */
export const webhooksBench = new Hono<{ Bindings: Bindings }>()

const purchase = {
  action: 'activated' as const,
  purchase: {
    id: 'pur_01JX0000000000000000000000',
    vendor_code: null,
    status: 'active',
    product: { api_id: 'prd_01JX0000000000000000000000', name: 'Day ticket' },
    variant: null,
  },
  order: { id: 'ord_01JX0000000000000000000000', order_number: '1000001' },
  user: { api_id: 'usr_01JX0000000000000000000000', email: 'guest@example.com' },
  refund_request: null,
  occurred_at: '2026-06-01T08:00:00.000Z',
}

/** Endpoints of one organisation, one for each URL. */
webhooksBench.post('/floor/webhooks/endpoints', async (c) => {
  const { organization_id, urls, timeout_seconds } = await c.req.json<{
    organization_id: string
    urls: string[]
    timeout_seconds: number
  }>()
  const job = openJob(c.env)
  const rows = urls.map((url) => ({
    id: job.newId('webhook_endpoint'),
    organization_id,
    name: 'Bench',
    url,
    events: ['purchase.action' as const],
    timeout_seconds,
    secret: mintSecret(randomBytes),
    created_at: job.now(),
    modified_at: job.now(),
  }))
  await job.db.batch([...insertAll(webhookEndpoints, rows)])
  return c.json({ made: rows.length }, 201)
})

/** Announces so many events in one transaction, as the verbs of a request do, and says when it was committed. */
webhooksBench.post('/floor/webhooks/announce', async (c) => {
  const { organization_id, count } = await c.req.json<{ organization_id: string; count: number }>()
  const open = () => (isTracing() ? tracedJob(c.env, 'request') : meteredJob(c.env))
  const job = open()
  const ids: string[] = []
  const newId: typeof job.newId = (kind) => {
    const id = job.newId(kind)
    ids.push(id)
    return id
  }
  const announcement = { kind: 'purchase.action' as const, organization_id, edition_id: null, data: purchase }
  const statements = announceAll(
    { ...job, newId, afterAnswer: open },
    Array.from({ length: count }, () => announcement),
  )
  const enqueue: (() => Promise<unknown>)[] = []
  await commitPart({ db: job.db, afterCommit: (work) => void enqueue.push(work) }, statements)
  const committed_at = Date.now()
  for (const work of enqueue) c.executionCtx.waitUntil(work())
  return c.json({ ids, committed_at }, 201)
})

/** Traces deliveries for so long, and answers what happened. */
webhooksBench.post('/floor/webhooks/trace', async (c) =>
  c.json(await traceFor((await c.req.json<{ ms: number }>()).ms)),
)

/**
 * Whether deliveries of these organisations are still under way, not counting endpoints that hang. By the indexes of open
 * deliveries: a question that read the finished ones would take the time that is measured.
 */
webhooksBench.post('/floor/webhooks/open', async (c) => {
  const { organization_ids } = await c.req.json<{ organization_ids: string[] }>()
  const row = await openJob(c.env).db.first(
    sql<{ open: number }>`select exists (select 1 from webhook_endpoints
      where ${inList(sql`organization_id`, organization_ids)} and instr(url, '/hang/') = 0
        and exists (${selectOpenDeliveries(sql`endpoint_id = webhook_endpoints.id`)})) as open`,
  )
  return c.json({ open: row?.open === 1 })
})

/** What announcing and delivering has cost at the database since the Worker began. */
webhooksBench.get('/floor/webhooks/costs', (c) => c.json(databaseCosts()))

/** Switches the endpoints of these organisations off and ends what waits for them. */
webhooksBench.post('/floor/webhooks/dismiss', async (c) => {
  const { organization_ids } = await c.req.json<{ organization_ids: string[] }>()
  const { db, now } = openJob(c.env)
  const ids = await db.all(
    sql<{ id: string }>`select id from webhook_endpoints where ${inList(sql`organization_id`, organization_ids)}`,
  )
  await db.batch(ids.flatMap(({ id }) => switchOff(id, 'gone', now())))
  return c.json({ dismissed: ids.length })
})

/** The floor: nothing but `fetch` in a loop, with the same bytes. */
webhooksBench.post('/floor/webhooks/fetch', async (c) => {
  const { urls, count, concurrency } = await c.req.json<{ urls: string[]; count: number; concurrency: number }>()
  const body = JSON.stringify({ id: openJob(c.env).newId('webhook_event'), type: 'purchase.action', data: purchase })
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'event-commerce-webhooks/1',
    'webhook-timestamp': '1780300800',
    'webhook-signature': 'v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  }
  let next = 0
  const started = Date.now()
  const runner = async () => {
    for (let at = next++; at < count; at = next++) {
      const response = await fetch(urls[at % urls.length] ?? '', {
        method: 'POST',
        headers: { ...headers, 'webhook-id': `floor-${at}` },
        body,
      })
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, runner))
  return c.json({ ms: Date.now() - started })
})
