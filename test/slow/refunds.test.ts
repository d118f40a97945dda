import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError, type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { type FakeStripeServer, startFakeStripe } from '../../scripts/support/fake-stripe-server.ts'
import { type Server, startServer } from '../../scripts/support/server.ts'
import { listProcesses } from '../support/receiving.ts'

/** REFUNDS=2000 for a longer run. */
const count = Number(process.env['REFUNDS'] ?? 400)
const ordersACall = 100
const requestsAtOnce = 8
/** Time for server and provider to return, for claims of 90 seconds to end, and for calls to be repeated. */
const patienceMs = 600_000

interface CreatedResource {
  id: string
}

let stateDir: string
let fake: FakeStripeServer
let server: Server
const start = () => startServer({ port: 0, stateDir, env: { RATE_LIMIT_PER_MINUTE: '0', PAYMENT_API_BASE: fake.url } })
const client = (): Client => createClient(server.url, server.rootToken)

/** Kills every process of the server at once, as a power cut would, and starts another one on the same state. */
async function crash(): Promise<void> {
  for (const pid of listProcesses(stateDir)) process.kill(pid, 'SIGKILL')
  await server.ended
  server = await start()
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'slow-refunds-'))
  fake = await startFakeStripe()
  server = await start()
}, 600_000)
afterAll(async () => {
  await server?.stop()
  await fake?.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
}, 60_000)

/** Makes an edition whose refunds are approved at once and paid through Stripe. */
async function givenEdition() {
  const { id: organization_id } = await client().post<CreatedResource>('/v1/organizations', { name: 'Slow refunds' })
  await client().patch(`/v1/organizations/${organization_id}`, { refund_policy: { auto_approve_below: 100_000 } })
  const { id: event_id } = await client().post<CreatedResource>('/v1/events', { organization_id, name: 'Slow' })
  const { id: merchant_account_id } = await client().post<CreatedResource>('/v1/merchant-accounts', {
    organization_id,
    name: 'Stripe',
    type: 'stripe',
    supported_currencies: ['dkk'],
    api_key: 'rk_test_SlowRefunds1234',
  })
  const { id: edition_id } = await client().post<CreatedResource>('/v1/editions', {
    organization_id,
    event_id,
    name: 'Slow',
  })
  await client().patch(`/v1/editions/${edition_id}`, { merchant_account_id })
  return { organization_id, edition_id }
}

/** Imports paid orders with different amounts, and returns their ids. */
async function sell(place: { organization_id: string; edition_id: string }): Promise<string[]> {
  const ids: string[] = []
  for (let first = 0; first < count; first += ordersACall) {
    const orders = Array.from({ length: ordersACall }, (_, index) => {
      const number = first + index
      const amount = 10_000 + number
      return {
        external_id: `S-${number}`,
        currency: 'dkk',
        customer: { email: `slow-${number}@example.dk` },
        items: [{ product: 'Day ticket', quantity: 1, unit_price: amount / 100 }],
        payment: { service: 'stripe', reference: fake.store.pay({ amount, currency: 'dkk' }).id },
      }
    })
    const body = { ...place, source: 'webshop', orders }
    const { results } = await client().post<{ results: { order_id: string }[] }>(
      '/v1/data-imports/external-orders',
      body,
    )
    ids.push(...results.map(({ order_id }) => order_id))
  }
  return ids
}

/** Requests the refund of an order until there is an answer. The key makes it one request. */
async function requestRefund(order_id: string): Promise<void> {
  const body = { order_id, reason: 'event_cancelled', cancel_purchase: true }
  for (;;)
    try {
      return void (await client().post('/v1/refund-requests', body, `refund-${order_id}`))
    } catch (error) {
      if (error instanceof ApiError && error.problem.status < 500) throw error
      await wait(500)
    }
}

async function askForAll(orders: readonly string[]): Promise<void> {
  const waiting = [...orders]
  const worker = async () => {
    for (let order = waiting.shift(); order !== undefined; order = waiting.shift()) await requestRefund(order)
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, worker))
}

/** Waits until the condition holds, even while the server is down. */
async function until(what: string, holds: () => Promise<boolean>, everyMs = 250): Promise<void> {
  for (const deadline = Date.now() + patienceMs; !(await holds().catch(() => false)); await wait(everyMs))
    if (Date.now() > deadline) throw new Error(`It did not come to this: ${what}`)
}

async function everyPage<Item>(path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let next: string | null = path; next !== null;) {
    const page: Page<Item> = await client().get(next)
    items.push(...page.results)
    next = page.next
  }
  return items
}

const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0)

describe(`two crashes in the middle of ${count} refunds over a Stripe that cuts connections`, () => {
  it(
    'pay each order back exactly once, and the sums agree to the cent',
    async () => {
      const place = await givenEdition()
      const orders = await sell(place)
      // One of every twenty first calls is paid without an answer, and one is lost.
      let callCount = 0
      fake.respondWith((_, nth) => {
        if (nth > 1) return 'accept'
        callCount++
        return callCount % 20 === 0 ? 'accept and cut' : callCount % 20 === 10 ? 'cut' : 'accept'
      })
      fake.delay(5)
      const asking = askForAll(orders)
      for (const refundCount of [count / 5, count / 2]) {
        await until(`${refundCount} refunds are made`, async () => fake.store.refunds.length >= refundCount, 5)
        expect(fake.store.refunds.length).toBeLessThan(count)
        await crash()
      }
      await asking
      const completed = `/v1/refund-requests?edition_id=${place.edition_id}&status=completed`
      await until(
        'all refunds are completed',
        async () => (await client().get<Page<CreatedResource>>(`${completed}&page_size=1`)).count === count,
        5000,
      )
      const refunds = await everyPage<{ order: CreatedResource; refunded_amount: number }>(`${completed}&page_size=500`)
      const paid = orders.map((_, number) => 10_000 + number).reduce((sum, one) => sum + one, 0)
      expect(new Set(refunds.map(({ order }) => order.id)).size).toBe(count)
      expect(sumOf(refunds.map(({ refunded_amount }) => refunded_amount))).toBe(paid)
      expect(fake.store.refunds).toHaveLength(count)
      expect(fake.store.payments.every(({ id, amount }) => fake.store.paidBack(id) === amount)).toBe(true)
      const keys = fake.calls().map(({ key }) => key)
      // Calls that crashes and cuts repeat under their keys pay only once.
      expect(new Set(keys).size).toBe(count)
      expect(keys.length).toBeGreaterThan(count)
      const bought = await everyPage<{ max_available_refund_amount: number }>(
        `/v1/purchases?edition_id=${place.edition_id}&page_size=500`,
      )
      expect(sumOf(bought.map(({ max_available_refund_amount }) => max_available_refund_amount))).toBe(0)
      for (const [number, id] of orders.entries())
        if (number % 40 === 0)
          expect(await client().get<object>(`/v1/orders/${id}`)).toMatchObject({
            refunded_amount: (10_000 + number) / 100,
            pending_refund_amount: 0,
            max_available_refund_amount: 0,
            transactions: [{ status: 'refunded' }, { type: 'refund' }],
          })
      const cancelled = await client().get<Page<CreatedResource>>(
        `/v1/purchases?edition_id=${place.edition_id}&status=refunded`,
      )
      expect(cancelled.count).toBe(count)
    },
    patienceMs * 2,
  )
})
