import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Database } from '../../../src/db/database.ts'
import { newMeter } from '../../../src/domain/meter.ts'
import { get } from '../../support/api.ts'
import {
  actOnBatch,
  loadBatch,
  consume,
  expectTotalsToBeSums,
  expireLeases,
  createQuietJob,
  importPaidOrders,
  sweep,
  countRequestsPerPurchase,
  workUntilDone,
} from '../../support/refund-batches.ts'
import {
  actOnRefund,
  requestRefund,
  expectCountersToBeSums,
  payDueRefunds,
  loadRefundRows,
} from '../../support/refunds.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedShop, type Shop, givenOrder, seedShopWithAccount } from '../../support/seeding/sales/orders.ts'
import { makeBatch } from '../../support/seeding/sales/refund-batches.ts'

/** Runs a consumer that crashes before or after this round trip to the database. */
function mortal(trip: number, isBefore: boolean) {
  let trips = 0
  let isDead = false
  const die = () => {
    isDead = true
    throw new Error('the consumer dies')
  }
  async function through<Result>(call: () => Promise<Result>): Promise<Result> {
    if (isDead) die()
    const isLast = ++trips === trip
    if (isLast && isBefore) die()
    const result = await call()
    if (isLast) die()
    return result
  }
  class Mortal extends Database {
    override all<Row>(statement: Parameters<Database['all']>[0]): Promise<Row[]> {
      return through(() => super.all(statement) as Promise<Row[]>)
    }
    override batch<const S extends Parameters<Database['batch']>[0]>(statements: S) {
      return through(() => super.batch(statements))
    }
  }
  return { job: createQuietJob({ db: new Mortal(env.DB, newMeter()) }), hasDied: () => isDead }
}

const seedDryRun = async (orders: number, change: Record<string, unknown> = {}) => {
  const shop = await seedShopWithAccount('test')
  await importPaidOrders(shop, orders)
  const { body } = await makeBatch(shop, change)
  return { shop, id: body.id as string }
}

async function expectEachOnce(shop: Shop, id: string, orders: number): Promise<void> {
  expect(await loadBatch(id)).toMatchObject({
    status: 'finished',
    requested: { orders, purchases: 2 * orders, amounts: [{ currency: 'dkk', amount: 450 * orders }], left_out: [] },
    requests: [{ open: orders, open_amount: 450 * orders }],
  })
  expect(await countRequestsPerPurchase(id)).toEqual({ 1: 2 * orders })
  expect(await loadRefundRows(shop)).toHaveLength(orders)
  await expectCountersToBeSums(shop)
  await expectTotalsToBeSums(id)
}

describe('the consumer of refund batches', () => {
  it('requests each purchase once after a crash before or after any call of the database', async () => {
    const { shop, id } = await seedDryRun(23)
    await actOnBatch(id, 'start')
    let deaths = 0
    for (let trip = 1; trip < 44; trip++) {
      const { job, hasDied } = mortal(Math.ceil(trip / 2), trip % 2 === 1)
      await consume(id, job).catch(() => undefined)
      if (hasDied()) deaths++
      const batch = await loadBatch(id)
      expect((await loadRefundRows(shop)).length).toBe(batch.requested.orders)
      await expireLeases()
    }
    expect(deaths).toBeGreaterThan(10)
    await workUntilDone(id)
    await expectEachOnce(shop, id, 23)
  })

  it('counts each purchase once after a crash at any call of the database', async () => {
    const { id } = await seedDryRun(310)
    for (let trip = 1; trip < 16; trip++) {
      await consume(id, mortal(Math.ceil(trip / 2), trip % 2 === 1).job).catch(() => undefined)
      await expireLeases()
    }
    expect((await workUntilDone(id)).dry_run).toMatchObject({ orders: 310, purchases: 620, customers: 310 })
  })

  it('requests each purchase once when twenty consumers work at the same time', async () => {
    const { shop, id } = await seedDryRun(35)
    await actOnBatch(id, 'start')
    const intrude = async () => {
      await expireLeases()
      await consume(id)
    }
    await Promise.all(Array.from({ length: 20 }, intrude))
    await workUntilDone(id)
    await expectEachOnce(shop, id, 35)
  })

  it('requests each purchase once when two batches include it', async () => {
    const { shop, id } = await seedDryRun(12)
    const other = (await makeBatch(shop)).body.id
    await Promise.all([actOnBatch(id, 'start'), actOnBatch(other, 'start')])
    await Promise.all([workUntilDone(id), workUntilDone(other)])
    const requested = [await loadBatch(id), await loadBatch(other)].map((batch) => batch.requested.purchases)
    expect(requested.reduce((one, another) => one + another, 0)).toBe(24)
    await expectCountersToBeSums(shop)
  })

  it('is started by the sweep when its message is lost, and not for finished batches', async () => {
    const { id } = await seedDryRun(1)
    const enqueued: unknown[] = []
    const job = createQuietJob({ jobQueue: { enqueue: async (_, messages) => void enqueued.push(...messages) } })
    await actOnBatch(id, 'start')
    await sweep(job)
    expect(enqueued).toContainEqual({ type: 'refund-batch.work', batch_id: id })
    await workUntilDone(id)
    enqueued.length = 0
    await sweep(job)
    expect(enqueued).not.toContainEqual({ type: 'refund-batch.work', batch_id: id })
    await consume(id)
    expect((await loadBatch(id)).requested.orders).toBe(1)
  })

  it('fails the health check of an edition when a batch has made no progress for an hour', async () => {
    const { shop, id } = await seedDryRun(1)
    const passes = async () => {
      const { body } = await get(`/v1/editions/${shop.edition_id}/healthcheck`)
      const checks = body.checks as { check_id: string; passed: boolean }[]
      return checks.find(({ check_id }) => check_id === 'payments.refund_batches_proceed')?.passed
    }
    const ageBatch = () => db.all(sql`update refund_batches set modified_at = modified_at - 3600001 where id = ${id}`)
    await ageBatch()
    expect((await loadBatch(id)).status).toBe('draft')
    expect(await passes()).toBe(true)
    await actOnBatch(id, 'start')
    expect(await passes()).toBe(true)
    await ageBatch()
    expect(await passes()).toBe(false)
    await workUntilDone(id)
    expect(await passes()).toBe(true)
  })

  it('requests no order twice when it starts again from the first order', async () => {
    const { shop, id } = await seedDryRun(1, { amount: 'percent', percent: 50 })
    await actOnBatch(id, 'start')
    await consume(id, mortal(7, false).job).catch(() => undefined)
    await db.all(sql`update refund_batches set status = 'running', due_at = 0, claimed_until = null,
      cursor_created_at = null, cursor_seq = null where id = ${id}`)
    await workUntilDone(id)
    expect(await loadRefundRows(shop)).toHaveLength(1)
    expect((await loadBatch(id)).requested.amounts).toEqual([{ currency: 'dkk', amount: 225 }])
  })
})

describe('the cost of a refund batch', () => {
  it('is the same for each order, for any number of orders', async () => {
    const measureCost = async (orders: number) => {
      const { id } = await seedDryRun(orders)
      await actOnBatch(id, 'start')
      const meter = newMeter()
      await consume(id, createQuietJob({ db: new Database(env.DB, meter) }))
      return meter
    }
    const [ten, thirty, fifty] = [await measureCost(10), await measureCost(30), await measureCost(50)]
    const between = (more: typeof ten, less: typeof ten) => ({
      written: (more.rows_written - less.rows_written) / 20,
      trips: (more.round_trips - less.round_trips) / 2,
    })
    // Each order has two purchases, and each step takes ten orders.
    expect(between(fifty, thirty)).toEqual({ written: 28.1, trips: 6 })
    expect(between(thirty, ten)).toEqual(between(fifty, thirty))
  })
})

type Step =
  | { do: 'sell' | 'batch' | 'pay' | 'work' | 'single' }
  | { do: 'start' | 'cancel' | 'die' | 'reject'; which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('sell' as const, 'batch' as const, 'pay' as const, 'work' as const, 'single' as const),
  }),
  fc.record({
    do: fc.constantFrom('start' as const, 'start' as const, 'cancel' as const, 'die' as const, 'reject' as const),
    which: fc.nat({ max: 20 }),
  }),
)

/** The model knows the state of each batch, without its requests. */
interface ModelBatch {
  id: string
  counted: number
  status: string
}

async function take(shop: Shop, batches: ModelBatch[], what: Step): Promise<void> {
  if (what.do === 'sell') return importPaidOrders(shop, 3)
  if (what.do === 'pay') return payDueRefunds()
  if (what.do === 'single') {
    const { order } = await givenOrder(shop)
    await requestRefund({ order_id: order })
    return
  }
  if (what.do === 'batch') {
    const { body } = await makeBatch(shop, { amount: 'percent', percent: 40 })
    batches.push({ id: body.id, counted: body.dry_run.amounts[0]?.amount ?? 0, status: 'draft' })
    return
  }
  if (what.do === 'work') {
    for (const batch of batches.filter(({ status }) => status === 'running'))
      batch.status = (await workUntilDone(batch.id)).status
    return
  }
  if (!('which' in what)) return
  if (what.do === 'reject') {
    const open = (await loadRefundRows(shop)).filter(({ status }) => status === 'pending')
    const batch = open[what.which % Math.max(1, open.length)]
    if (batch) expect((await actOnRefund(batch.id, 'reject')).status).toBe(200)
    return
  }
  const batch = batches[what.which % Math.max(1, batches.length)]
  if (!batch) return
  if (what.do === 'die') {
    await consume(batch.id, mortal(1 + (what.which % 7), what.which % 2 === 0).job).catch(() => undefined)
    await expireLeases()
    const { status } = await loadBatch(batch.id)
    expect(status === batch.status || (batch.status === 'running' && status === 'finished')).toBe(true)
    batch.status = status
    return
  }
  const allowed =
    what.do === 'start' ? batch.status === 'draft' && batch.counted > 0 : ['draft', 'running'].includes(batch.status)
  const { status, body } = await actOnBatch(batch.id, what.do)
  expect(status).toBe(allowed ? 200 : 409)
  if (allowed) batch.status = body.status
}

describe('random refund batches', () => {
  it('agree with the model, request no purchase twice, and never request more than they counted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
        const shop = await seedShopWithAccount('test')
        const batches: ModelBatch[] = []
        const all: Step[] = [{ do: 'sell' }, { do: 'batch' }, { do: 'start', which: 0 }, ...steps, { do: 'work' }]
        for (const what of all) {
          await take(shop, batches, what)
          await expectCountersToBeSums(shop)
        }
        for (const { id, counted, status } of batches) {
          const batch = await loadBatch(id)
          expect(batch.status).toBe(status)
          expect(batch.requested.amounts[0]?.amount ?? 0).toBeLessThanOrEqual(counted)
          expect(Object.keys(await countRequestsPerPurchase(id)).every((times) => Number(times) <= 1)).toBe(true)
          await expectTotalsToBeSums(id)
        }
        const list = await get(`/v1/editions/${shop.edition_id}/refund-batches`)
        expect(list.body.count).toBe(batches.length)
      }),
      { numRuns: 2 },
    )
  })
})

it('a batch finds nothing to pay back in a shop without orders', async () => {
  const { body } = await makeBatch(await seedShop())
  expect(await workUntilDone(body.id)).toMatchObject({ status: 'draft', dry_run: { orders: 0 } })
})
