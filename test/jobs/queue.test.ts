import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { queue } from '../../src/entry/queue.ts'
import worker from '../../src/index.ts'
import { db } from '../support/seeding/rows.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { loadDeliveries, happen } from '../support/webhooks.ts'

const message = (body: unknown, attempts = 1) => ({ id: crypto.randomUUID(), timestamp: new Date(), attempts, body })

async function take(name: string, bodies: unknown[]) {
  const batch = createMessageBatch(name, bodies.map(message))
  const context = createExecutionContext()
  await worker.queue(batch, env)
  await waitOnExecutionContext(context)
  return { batch, result: await getQueueResult(batch, context) }
}

const deadBodies = async (mark: string) =>
  (
    await db.all(
      sql<{ body: string; queue: string; error: string | null }>`select body, queue, error from dead_messages`,
    )
  ).filter((row) => row.body.includes(mark))

/** A database that fails all statements whose text matches. */
const failStatements = (pattern: RegExp): D1Database => {
  const withSession = (constraint?: string) => {
    const session = env.DB.withSession(constraint)
    const texts = new WeakMap<object, string>()
    return {
      prepare: (text: string) => ({
        bind: (...values: unknown[]) => {
          const statement = session.prepare(text).bind(...values)
          texts.set(statement, text)
          if (pattern.test(text)) statement.all = () => Promise.reject(new Error('D1_ERROR: the disk is gone'))
          return statement
        },
      }),
      batch: (statements: D1PreparedStatement[]) =>
        statements.some((statement) => pattern.test(texts.get(statement) ?? ''))
          ? Promise.reject(new Error('D1_ERROR: the disk is gone'))
          : session.batch(statements),
      getBookmark: () => session.getBookmark(),
    }
  }
  return { withSession } as unknown as D1Database
}

async function failAt(attempts: number, pattern: RegExp, mark: string) {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const batch = createMessageBatch('webhooks', [message({ type: 'webhook.deliver', endpoint_id: mark }, attempts)])
  await queue(batch, { ...env, DB: failStatements(pattern) })
  vi.restoreAllMocks()
  return getQueueResult(batch, createExecutionContext())
}

describe('the queue consumer', () => {
  it('posts the deliveries of a message, and acknowledges it', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const posted = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('thanks'))
    const { batch, result } = await take('webhooks', [{ type: 'webhook.deliver', endpoint_id: endpoint.id }])
    expect(result.explicitAcks).toEqual(batch.messages.map(({ id }) => id))
    expect(posted).toHaveBeenCalledTimes(1)
    const [url, init] = posted.mock.calls[0] ?? []
    expect(url).toBe(endpoint.url)
    expect(init).toMatchObject({ method: 'POST', redirect: 'manual', headers: { 'content-type': 'application/json' } })
    await expect
      .poll(() => loadDeliveries(endpoint.id))
      .toMatchObject([{ status: 'success', attempts: 1, response_status_code: 200 }])
    posted.mockRestore()
  })

  it('acknowledges its messages while a post hangs, and records the result in the background', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    let answer = () => {}
    const answered = new Promise<Response>((resolve) => (answer = () => resolve(new Response(null, { status: 503 }))))
    const posted = vi.spyOn(globalThis, 'fetch').mockImplementation(() => answered)
    const { batch, result } = await take('webhooks', [{ type: 'webhook.deliver', endpoint_id: endpoint.id }])
    expect(result.explicitAcks).toEqual(batch.messages.map(({ id }) => id))
    expect(posted).toHaveBeenCalledTimes(1)
    expect(await loadDeliveries(endpoint.id)).toMatchObject([{ status: 'pending', attempts: 1 }])
    answer()
    await expect
      .poll(() => loadDeliveries(endpoint.id))
      .toMatchObject([{ status: 'retrying', attempts: 1, response_status_code: 503, claimed_until: null }])
    posted.mockRestore()
  })

  it('acknowledges messages of an unknown kind, and stores them as dead letters', async () => {
    const mark = crypto.randomUUID()
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const bodies = [{ type: 'unheard-of', mark }, mark, null]
    const { batch, result } = await take('webhooks', bodies)
    expect(result.explicitAcks).toEqual(batch.messages.map(({ id }) => id))
    expect(result.retryMessages).toEqual([])
    expect(await deadBodies(mark)).toHaveLength(2)
    vi.restoreAllMocks()
  })

  it('retries its messages when the database fails, and loses no delivery', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const batch = createMessageBatch('webhooks', [message({ type: 'webhook.deliver', endpoint_id: endpoint.id })])
    const broken = {
      withSession: () => ({ prepare: () => ({ bind: () => ({}) }), batch: () => Promise.reject(new Error('down')) }),
    }
    await queue(batch, { ...env, DB: broken as unknown as D1Database })
    const result = await getQueueResult(batch, createExecutionContext())
    expect(result.retryMessages).toHaveLength(1)
    expect(await loadDeliveries(endpoint.id)).toMatchObject([{ status: 'pending', attempts: 0 }])
    vi.restoreAllMocks()
  })

  it('stores dead letters', async () => {
    const mark = crypto.randomUUID()
    const { result } = await take('webhooks-dead', [{ type: 'webhook.deliver', endpoint_id: mark }])
    expect(result.ackAll).toBe(true)
    expect(await deadBodies(mark)).toMatchObject([{ queue: 'webhooks', error: null }])
  })

  it('consumes the queues of an installation beside the first, and stores their dead letters', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const posted = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('thanks'))
    const { batch, result } = await take('webhooks-staging', [{ type: 'webhook.deliver', endpoint_id: endpoint.id }])
    expect(result.explicitAcks).toEqual(batch.messages.map(({ id }) => id))
    expect(posted).toHaveBeenCalledTimes(1)
    posted.mockRestore()
    const mark = crypto.randomUUID()
    await take('campaign-events-dead-staging', [{ mark }])
    expect(await deadBodies(mark)).toMatchObject([{ queue: 'campaign-events', error: null }])
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const other = crypto.randomUUID()
    await take('webhooks-staging', [{ mark: other }])
    expect(await deadBodies(other)).toMatchObject([{ queue: 'webhooks' }])
    vi.restoreAllMocks()
  })

  it('stores a message with the error of its consumer at the last attempt', async () => {
    const mark = crypto.randomUUID()
    const third = await failAt(3, /webhook_deliveries/, mark)
    expect([third.explicitAcks.length, third.retryMessages.length]).toEqual([0, 1])
    expect(await deadBodies(mark)).toEqual([])
    const fourth = await failAt(4, /webhook_deliveries/, mark)
    expect([fourth.explicitAcks.length, fourth.retryMessages.length]).toEqual([1, 0])
    expect(await deadBodies(mark)).toEqual([
      {
        queue: 'webhooks',
        body: JSON.stringify({ type: 'webhook.deliver', endpoint_id: mark }),
        error: expect.stringContaining('the disk is gone'),
      },
    ])
  })

  it('leaves a message to the dead-letter queue when it cannot be stored', async () => {
    const mark = crypto.randomUUID()
    const fourth = await failAt(4, /webhook_deliveries|dead_messages/, mark)
    expect([fourth.explicitAcks.length, fourth.retryMessages.length]).toEqual([0, 1])
    expect(await deadBodies(mark)).toEqual([])
  })
})
