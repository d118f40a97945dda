import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { endInterruptedCalls } from '../../../src/modules/data-imports/jobs.ts'
import { callWith, get, patch, post, type Reply } from '../../support/api.ts'
import { failBatch, interruptDatabase } from '../../support/bindings.ts'
import { createContextAt } from '../../support/context.ts'
import { crashAt } from '../../support/crashes.ts'
import { countContents } from '../../support/orders.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { db } from '../../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { seedOpenEndpoint } from '../../support/seeding/webhooks.ts'
import { undoToEnd } from '../../support/undone-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const transient = 'D1_ERROR: Network connection lost'
const anyOrders = /insert into "orders"/

/** Builds a call that can be sent again with the same key. */
function buildCall(orders: unknown[], options: object = {}) {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const body = { ...shop, source: 'webshop', orders, ...options }
  return (bindings: object = {}): Promise<Reply> =>
    callWith(bindings, '/v1/data-imports/external-orders', { body, headers })
}

const someOrders = (count: number) => Array.from({ length: count }, () => anOrder())

const listImports = async () => (await get(`/v1/data-imports?edition_id=${shop.edition_id}`)).body.results

const countEntries = async (): Promise<number | undefined> =>
  (
    await db.first(
      sql<{ n: number }>`select count(*) as n from audit_log
        where edition_id = ${shop.edition_id} and action = 'importExternalOrders'`,
    )
  )?.n

const sweepAfter = (ms: number) => endInterruptedCalls(createContextAt(Date.now() + ms))
const hourMs = 3_600_000

describe('a call whose second group fails', () => {
  it('has stored the import with the counts of the first group, and its audit entry', async () => {
    const send = buildCall(someOrders(30))
    expect((await send(failBatch(anyOrders, 2, transient))).status).toBe(503)
    expect(await listImports()).toMatchObject([
      { status: 'importing', total_rows: 30, created_orders: 25, progress: 0.83, allowed_actions: [] },
    ])
    expect(await countEntries()).toBe(1)
  })

  it('is resumed by the same key, which reports what both requests have stored', async () => {
    const orders = [...someOrders(28), anOrder({ currency: 'jpy' }), anOrder({ customer: { email: 'x' } })]
    const send = buildCall(orders)
    await send(failBatch(anyOrders, 2, transient))
    const [interrupted] = await listImports()
    const reply = await send()
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({
      id: interrupted.id,
      status: 'completed_with_errors',
      created: interrupted.created,
      total_rows: 30,
      created_orders: 28,
      skipped_orders: 0,
      failed_orders: 2,
    })
    expect(reply.body.results.map(({ index }: { index: number }) => index)).toEqual(orders.map((_, index) => index))
    expect(reply.body.results[0]).toMatchObject({ action: 'created', external_id: orders[0]?.external_id })
    expect(await listImports()).toMatchObject([{ id: interrupted.id, status: 'completed_with_errors' }])
    expect([await countContents(shop), await countEntries()]).toMatchObject([{ orders: 28, data_imports: 1 }, 1])
    expect((await send()).text).toBe(reply.text)
  })

  it('keeps warnings of the first group in the report of the second request', async () => {
    const first = anOrder({ customer: { email: 'warned@example.dk', phone_number: 'n/a' } })
    const send = buildCall([first, ...someOrders(29)])
    await send(failBatch(anyOrders, 2, transient))
    const { body } = await send()
    expect(body.results[0].warnings).toMatchObject([{ code: 'phone_not_taken' }])
  })

  it('is another import when it is sent with another key', async () => {
    const orders = someOrders(30)
    await buildCall(orders)(failBatch(anyOrders, 2, transient))
    const reply = await buildCall(orders)()
    expect(reply.body).toMatchObject({ created_orders: 5, skipped_orders: 25 })
    expect((await listImports()).map(({ status }: { status: string }) => status).toSorted()).toEqual([
      'completed',
      'importing',
    ])
  })

  it('is ended after an hour, and its rest is still stored in it', async () => {
    const first = anOrder({ customer: { email: 'warned@example.dk', phone_number: 'n/a' } })
    const send = buildCall([first, ...someOrders(29)])
    await send(failBatch(anyOrders, 2, transient))
    await sweepAfter(hourMs - 60_000)
    expect(await listImports()).toMatchObject([{ status: 'importing' }])
    await sweepAfter(hourMs + 60_000)
    const [ended] = await listImports()
    expect(ended).toMatchObject({
      status: 'completed_with_errors',
      error_code: 'import_interrupted',
      created_orders: 25,
      failed_orders: 0,
    })
    const stored = await db.first(
      sql<{ stored_results: string }>`select stored_results from data_imports where id = ${ended.id}`,
    )
    expect(stored?.stored_results).not.toContain('n/a')
    const reply = await send()
    expect(reply.body).toMatchObject({ id: ended.id, status: 'completed', created_orders: 30 })
    expect(await listImports()).toMatchObject([{ id: ended.id, status: 'completed', error_code: null }])
    await sweepAfter(2 * hourMs)
    expect(await listImports()).toMatchObject([{ status: 'completed' }])
  })

  it('has no text about a customer who is erased, and is still resumed', async () => {
    const first = anOrder({ customer: { email: 'erased@example.dk', phone_number: 'erased-number' } })
    const send = buildCall([first, ...someOrders(29)])
    await send(failBatch(anyOrders, 2, transient))
    const loadStored = () =>
      db.first(
        sql<{ id: string; results: string }>`select orders.user_id as id, stored_results as results from data_imports
          join orders on orders.edition_id = data_imports.edition_id and orders.external_id = ${first.external_id}
          where data_imports.edition_id = ${shop.edition_id}`,
      )
    const before = await loadStored()
    expect(before?.results).toContain('erased-number')
    const erasure = await post(`/v1/user/${before?.id}/erase`, {})
    expect(erasure.status).toBeLessThan(300)
    expect((await loadStored())?.results).not.toContain('erased')
    expect((await send()).body).toMatchObject({ created_orders: 30, skipped_orders: 0 })
  })

  it('has the webhooks of the first group enqueued, although it answers an error', async () => {
    const { id } = await seedOpenEndpoint({ organization_id: shop.organization_id })
    const enqueued: string[] = []
    const sendBatch = async (messages: readonly { body: { endpoint_id: string } }[]) =>
      void enqueued.push(...messages.map(({ body }) => body.endpoint_id))
    const send = buildCall(someOrders(30), { emit_webhooks: true })
    expect((await send({ ...failBatch(anyOrders, 2, transient), WEBHOOKS: { sendBatch } })).status).toBe(503)
    expect(enqueued).toEqual([id])
  })

  it('announces no purchase twice when it is resumed', async () => {
    await seedOpenEndpoint({ organization_id: shop.organization_id })
    const send = buildCall(someOrders(30), { emit_webhooks: true })
    await send(failBatch(anyOrders, 2, transient))
    await send()
    const events = await db.first(
      sql<{ n: number }>`select count(*) as n from webhook_events
            where edition_id = ${shop.edition_id} and kind = 'purchase.action'`,
    )
    expect(events?.n).toBe(60)
  })

  it('is not resumed by another caller, who has an import of their own', async () => {
    const orders = someOrders(30)
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { ...shop, source: 'webshop', orders }
    const [mine, theirs] = await Promise.all(
      ['manager', 'manager'].map(() => givenMember({ id: shop.organization_id }, 'manager')),
    )
    const send = (token = '', bindings: object = {}) =>
      callWith(bindings, '/v1/data-imports/external-orders', { body, headers, token })
    expect((await send(mine?.token, failBatch(anyOrders, 2, transient))).status).toBe(503)
    const [interrupted] = await listImports()
    const reply = await send(theirs?.token)
    expect(reply.body).toMatchObject({ status: 'completed', created_orders: 5, skipped_orders: 25 })
    expect(reply.body.id).not.toBe(interrupted.id)
    expect((await get(`/v1/data-imports/${interrupted.id}`)).body).toMatchObject({ status: 'importing' })
    const own = await send(mine?.token)
    expect(own.body).toMatchObject({ id: interrupted.id, created_orders: 25, skipped_orders: 5 })
    expect(await countContents(shop)).toMatchObject({ orders: 30, data_imports: 2 })
  })

  it('is not resumed for another body', async () => {
    const orders = someOrders(30)
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const send = (body: object, bindings: object = {}) =>
      callWith(bindings, '/v1/data-imports/external-orders', { body: { ...shop, source: 'webshop', ...body }, headers })
    await send({ orders }, failBatch(anyOrders, 2, transient))
    const [interrupted] = await listImports()
    const reply = await send({ orders: orders.slice(0, 29) })
    expect(reply.body.id).not.toBe(interrupted.id)
    expect(reply.body).toMatchObject({ created_orders: 4, skipped_orders: 25 })
  })

  it('answers as one call when all of its groups lose a race', async () => {
    const [, ...rest] = await givenOrders(shop, [anOrder()])
    expect(rest).toEqual([])
    const orders = someOrders(30)
    const bindings = interruptDatabase(anyOrders, async () => {
      await givenOrders(shop, orders.slice(3, 5))
    })
    const reply = await buildCall(orders)(bindings)
    expect(reply.body).toMatchObject({ status: 'completed', created_orders: 28, skipped_orders: 2, total_rows: 30 })
    expect(await countEntries()).toBe(3)
  })

  it('stores each order once when a repetition takes over while it still runs', async () => {
    const send = buildCall(someOrders(30))
    let number = 0
    const statuses: number[] = []
    const bindings = interruptDatabase(/update "data_imports"/, async () => {
      number++
      await db.batch([sql`update idempotency_keys set claimed_until = 0 where status is null`])
      statuses.push((await send()).status)
    })
    const slow = await send(bindings)
    expect([number, statuses, slow.status]).toEqual([1, [201], 409])
    expect([await countContents(shop), await countEntries()]).toMatchObject([{ orders: 30, data_imports: 1 }, 1])
    expect(await listImports()).toMatchObject([{ status: 'completed', created_orders: 30, skipped_orders: 0 }])
  })

  it('is refused like any call after the edition is archived', async () => {
    const send = buildCall(someOrders(30))
    await send(failBatch(anyOrders, 2, transient))
    expect((await patch(`/v1/editions/${shop.edition_id}`, { is_archived: true })).status).toBe(200)
    const reply = await send()
    expect(describeRefusal(reply)).toBe('409 edition_archived')
    expect(await countContents(shop)).toMatchObject({ orders: 25 })
  })
})

describe('a call that was undone', () => {
  it('stores nothing again when it is sent again with its key, which has the first answer', async () => {
    const send = buildCall(someOrders(3))
    const first = await send()
    expect(await undoToEnd(first.body.id)).toMatchObject({ status: 'undone', undone_orders: 3 })
    const repetition = await send()
    expect([repetition.status, repetition.text]).toEqual([201, first.text])
    expect(repetition.headers.get('idempotency-replayed')).toBe('true')
    expect(await countContents(shop)).toMatchObject({ orders: 0, data_imports: 1 })
    expect((await buildCall([anOrder()])()).body.created_orders).toBe(1)
  })

  it('is stored again as another import when it was interrupted and its key has no answer yet', async () => {
    const send = buildCall(someOrders(30))
    await send(failBatch(anyOrders, 2, transient))
    await sweepAfter(hourMs + 60_000)
    const [interrupted] = await listImports()
    expect(await undoToEnd(interrupted.id)).toMatchObject({ status: 'undone', undone_orders: 25 })
    const reply = await send()
    expect(reply.body).toMatchObject({ status: 'completed', created_orders: 30, skipped_orders: 0 })
    expect(reply.body.id).not.toBe(interrupted.id)
    expect((await get(`/v1/data-imports/${interrupted.id}`)).body).toMatchObject({
      status: 'undone',
      undone_orders: 25,
    })
    expect([await countContents(shop), await countEntries()]).toMatchObject([{ orders: 30, data_imports: 2 }, 2])
    expect((await send()).text).toBe(reply.text)
  })
})

describe('a call during which the machine stops at any step', () => {
  it('loses nothing and makes nothing twice when it is sent again with its key', async () => {
    const countEvents = async () =>
      (
        await db.first(
          sql<{ n: number }>`select count(*) as n from webhook_events
            where edition_id = ${shop.edition_id} and kind = 'purchase.action'`,
        )
      )?.n
    for (let step = 1; ; step++) {
      shop = await seedShop()
      const send = buildCall([...someOrders(51), anOrder({ currency: 'jpy' })], { emit_webhooks: true })
      const { bindings, hasCrashed } = crashAt(step)
      const first = await send(bindings)
      if (!hasCrashed()) {
        expect(first.status).toBe(201)
        expect(step, 'steps at which the machine stopped').toBeGreaterThan(12)
        break
      }
      // The claim of the key ends a minute after the machine stopped.
      await db.batch([sql`update idempotency_keys set claimed_until = 0 where status is null`])
      const reply = await send()
      expect([step, reply.status, reply.body.status]).toEqual([step, 201, 'completed_with_errors'])
      expect(reply.body).toMatchObject({ created_orders: 51, skipped_orders: 0, failed_orders: 1 })
      expect([step, await countContents(shop), await countEntries(), await countEvents()]).toMatchObject([
        step,
        { orders: 51, purchases: 102, data_imports: 1 },
        1,
        102,
      ])
      expect((await send()).text).toBe(reply.text)
    }
  })
})
