import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { maxCounted } from '../../src/domain/system.ts'
import { createJobQueue } from '../../src/entry/job.ts'
import { findDeadMessage } from '../../src/modules/system/queries.ts'
import { retryDeadMessage } from '../../src/modules/system/retry.ts'
import { callWith, get, post, type Reply } from '../support/api.ts'
import { interruptBefore } from '../support/context.ts'
import { readCost } from '../support/cost.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedDeadMessages } from '../support/seeding/dead-messages.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { db, next, write } from '../support/seeding/rows.ts'
import { givenOrders, anOrder, seedShop } from '../support/seeding/sales/orders.ts'
import { seedDelivery, seedEndpoint } from '../support/seeding/webhooks.ts'

const status = async (): Promise<Reply['body']> => {
  const reply = await get('/v1/system/status')
  expect(reply.status).toBe(200)
  return reply.body
}

const findWork = (body: Reply['body'], kind: string) => body.work.find((work: { kind: string }) => work.kind === kind)

const givenAdmin = async () => {
  const shop = await seedShop()
  const account = await seedAccount()
  await seedMember(account, { organization: shop.organization_id, role: 'admin' })
  return (await seedToken(account)).token
}

const loadMessage = (id: string) =>
  db.first(sql<{ retried_at: number | null }>`select retried_at from dead_messages where id = ${id}`)

describe('getSystemStatus', () => {
  it('counts the work that is due and planned, and says since when the oldest is due', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const { id } = await seedEndpoint(place)
    const before = findWork(await status(), 'webhook_deliveries')
    const oldest = Date.parse('2020-01-01T00:00:00.000Z') - next() * 1000
    for (const next_retry_at of [oldest, oldest + 500, Date.now() + 3_600_000])
      await seedDelivery(place, id, { status: 'retrying', next_retry_at })
    expect(findWork(await status(), 'webhook_deliveries')).toEqual({
      kind: 'webhook_deliveries',
      due: before.due + 2,
      planned: before.planned + 1,
      oldest_due_at: new Date(oldest).toISOString(),
    })
  })

  it('reads at most the counted rows, however much waits', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const { id: endpoint } = await seedEndpoint(place)
    const { id, event_id } = await seedDelivery(place, endpoint, { status: 'retrying', next_retry_at: 1 })
    const before = readCost(await get('/v1/system/status')).rows_read
    await write(
      sql`insert into webhook_events (id, organization_id, kind, payload, created_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 12000)
        select 'evn_many_' || n, organization_id, kind, '{}', created_at from numbers, webhook_events where id = ${event_id}`,
      sql`insert into webhook_deliveries (id, endpoint_id, event_id, kind, status, next_retry_at, created_at, modified_at)
        select 'whd_many_' || substr(webhook_events.id, 10), endpoint_id, webhook_events.id, webhook_deliveries.kind, 'retrying', 1, 1, 1
        from webhook_events, webhook_deliveries
        where webhook_deliveries.id = ${id} and webhook_events.id glob 'evn_many_*'`,
    )
    const reply = await get('/v1/system/status')
    expect(findWork(reply.body, 'webhook_deliveries').due).toBe(maxCounted)
    expect(reply.body.counted_up_to).toBe(maxCounted)
    // Due deliveries are read once. The newest ones are read once more, and then sorted by their status.
    expect(readCost(reply).rows_read - before).toBeLessThan(3 * maxCounted + 1000)
    await write(
      sql`delete from webhook_deliveries where id glob 'whd_many_*'`,
      sql`delete from webhook_events where id glob 'evn_many_*'`,
    )
  })

  it('says how many orders were stored in the last hour, and how large the database is', async () => {
    const count = (body: Reply['body']) =>
      body.last_hour.find((row: Reply['body']) => row.kind === 'orders' && row.status === 'completed')?.count ?? 0
    const shop = await seedShop()
    const before = await status()
    await givenOrders(shop, [anOrder({ created: '2020-01-01T10:00:00Z' }), anOrder()])
    const after = await status()
    expect(count(after) - count(before)).toBe(2)
    const rows = (body: Reply['body']) => body.tables.find(({ name }: { name: string }) => name === 'orders').rows
    expect(rows(after) - rows(before)).toBe(2)
    expect(after.database_bytes).toBeGreaterThan(100_000)
  })

  it('shows dead messages by queue with the latest error', async () => {
    const queue = `queue-${next()}`
    await seedDeadMessages(2, { queue, error: 'first' })
    const [latest] = await seedDeadMessages(1, { queue, error: 'latest', created_at: Date.now() })
    await seedDeadMessages(1, { queue, error: 'retried', retried_at: 1 })
    const { dead_messages } = await status()
    expect(dead_messages.filter((group: { queue: string }) => group.queue === queue)).toEqual([
      { queue, count: 3, latest_at: new Date(latest?.created_at ?? 0).toISOString(), latest_error: 'latest' },
    ])
  })

  it('is refused to members of organisations', async () => {
    const token = await givenAdmin()
    for (const path of ['/v1/system/status', '/v1/system/dead-messages'])
      expect((await get(path, token)).body.code).toBe('permission_denied')
  })
})

describe('listDeadMessages', () => {
  it('filters by queue, by retry and by time, newest first', async () => {
    const queue = `queue-${next()}`
    const [old] = await seedDeadMessages(1, { queue, created_at: Date.parse('2026-01-01T00:00:00Z') })
    const [retried] = await seedDeadMessages(1, {
      queue,
      created_at: Date.parse('2026-01-02T00:00:00Z'),
      retried_at: Date.parse('2026-01-03T00:00:00Z'),
    })
    const list = async (query: string) =>
      (await get(`/v1/system/dead-messages?queue=${queue}${query}`)).body.results.map(({ id }: { id: string }) => id)
    expect(await list('')).toEqual([retried?.id, old?.id])
    expect(await list('&ordering=created')).toEqual([old?.id, retried?.id])
    expect(await list('&is_retried=false')).toEqual([old?.id])
    expect(await list('&is_retried=true')).toEqual([retried?.id])
    expect(await list('&created_after=2026-01-02T00:00:00Z')).toEqual([retried?.id])
    expect(await list('&created_before=2026-01-02T00:00:00Z')).toEqual([old?.id])
  })

  it('shows the message and the error of its consumer, and the beginning of a long message', async () => {
    const queue = `queue-${next()}`
    await seedDeadMessages(1, { queue, body: JSON.stringify({ text: 'x'.repeat(100_000) }), error: null })
    const { body } = await get(`/v1/system/dead-messages?queue=${queue}`)
    expect(body.results[0].body).toHaveLength(2000)
    expect(body.results[0]).toMatchObject({ queue, error: null, retried_at: null })
  })
})

describe('retryDeadMessage', () => {
  it('puts the message back into its queue, once', async () => {
    const [message] = await seedDeadMessages(1)
    const path = `/v1/system/dead-messages/${message?.id}/retry`
    const enqueued: unknown[] = []
    const REFUNDS = { sendBatch: async (batch: { body: unknown }[]) => enqueued.push(...batch.map(({ body }) => body)) }
    const first = await callWith({ REFUNDS }, path, { method: 'POST' })
    expect(first.body).toMatchObject({ id: message?.id, retried_at: expect.any(String) })
    expect(enqueued).toEqual([{ type: 'refund.pay' }])
    const second = await callWith({ REFUNDS }, path, { method: 'POST' })
    expect(second.body).toEqual(first.body)
    expect(enqueued).toHaveLength(1)
    const entries = await db.all(sql`select action from audit_log where resource_id = ${message?.id}`)
    expect(entries).toEqual([{ action: 'retryDeadMessage' }])
  })

  it('leaves the message as it is when the queue does not take it', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const [message] = await seedDeadMessages(1)
    const path = `/v1/system/dead-messages/${message?.id}/retry`
    const REFUNDS = { sendBatch: () => Promise.reject(new Error('The queue is gone.')) }
    expect((await callWith({ REFUNDS }, path, { method: 'POST' })).body).toMatchObject({ code: 'overloaded' })
    vi.restoreAllMocks()
    expect(await loadMessage(message?.id ?? '')).toEqual({ retried_at: null })
    expect((await post(path, {})).body.retried_at).not.toBeNull()
  })

  it('puts the message back again after a crash before it was marked', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const body = { type: 'refund-batch.work', batch_id: `rfb_${'x'.repeat(3000)}` }
    const [message] = await seedDeadMessages(1, { body: JSON.stringify(body) })
    const enqueued: unknown[] = []
    const REFUNDS = {
      sendBatch: async (batch: { body: unknown }[]) => enqueued.push(...batch.map((sent) => sent.body)),
    }
    const end = () => Promise.reject(new Error('The Worker ended.'))
    const ctx = { ...interruptBefore(end), jobQueue: createJobQueue({ ...env, REFUNDS } as unknown as Env) }
    const loadedMessage = await findDeadMessage(ctx, message?.id ?? '')
    await expect(retryDeadMessage(ctx, loadedMessage)).rejects.toThrow('The Worker ended.')
    vi.restoreAllMocks()
    expect(await loadMessage(message?.id ?? '')).toEqual({ retried_at: null })
    await callWith({ REFUNDS }, `/v1/system/dead-messages/${message?.id}/retry`, { method: 'POST' })
    expect(enqueued).toEqual([body, body])
  })

  it('is refused for a queue that no longer exists, and to members of organisations', async () => {
    const [message] = await seedDeadMessages(1, { queue: 'invoices' })
    const path = `/v1/system/dead-messages/${message?.id}/retry`
    expect((await post(path, {})).body).toMatchObject({ status: 409, code: 'queue_missing' })
    expect((await post(path, {}, await givenAdmin())).body.code).toBe('permission_denied')
    expect(await loadMessage(message?.id ?? '')).toEqual({ retried_at: null })
  })
})

describe('GET /metrics', () => {
  const ask = (token: string | null, bindings: object) => callWith(bindings, '/metrics', { token })

  it('does not exist without METRICS_TOKEN', async () => {
    for (const bindings of [{}, { METRICS_TOKEN: '' }, { METRICS_TOKEN_PREVIOUS: 'old' }])
      for (const token of [null, 'old', ''])
        expect((await ask(token, bindings)).body).toMatchObject({ status: 404, code: 'not_found' })
  })

  it('accepts METRICS_TOKEN and METRICS_TOKEN_PREVIOUS, and nothing else', async () => {
    const bindings = { METRICS_TOKEN: 'the-token', METRICS_TOKEN_PREVIOUS: 'the-previous' }
    for (const token of ['the-token', 'the-previous']) expect((await ask(token, bindings)).status).toBe(200)
    for (const token of [null, 'the-tokem', 'root-token-of-the-tests', 'undefined']) {
      const reply = await ask(token, bindings)
      expect(describeRefusal(reply)).toBe('401 not_authenticated')
      expect(reply.headers.get('www-authenticate')).toContain('Bearer')
    }
  })

  it('has the numbers of the status as text for Prometheus', async () => {
    const queue = `we"ird\\queue\n${next()}`
    await seedDeadMessages(2, { queue })
    const { text, headers } = await ask('the-token', { METRICS_TOKEN: 'the-token' })
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const label = queue.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    expect(text).toContain(`\necms_dead_messages{queue="${label}"} 2\n`)
    const { work, database_bytes } = await status()
    for (const { kind, due, planned } of work) {
      expect(text).toContain(`\necms_work_due{kind="${kind}"} ${due}\n`)
      expect(text).toContain(`\necms_work_planned{kind="${kind}"} ${planned}\n`)
    }
    expect(text).toContain(`\necms_database_size_bytes ${database_bytes}\n`)
  })
})
