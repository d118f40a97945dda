import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sweepDeliveries } from '../../src/modules/webhooks/jobs.ts'
import { callWith, type Reply } from '../support/api.ts'
import { interruptedDatabase } from '../support/bindings.ts'
import { anOrder, givenTicket, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { attemptsOf, deliveriesOf, engine, answers } from '../support/webhooks.ts'

interface Message {
  body: { endpoint_id: string }
  delaySeconds: number
}

/** Messages of the queues, without consumers. */
let fast: Message[]
let slow: Message[]
let posted: { url: string; id: string | null }[]
let receiver: (url: string) => Promise<Response>

const queueInto = (messages: () => Message[]) => ({
  sendBatch: async (some: readonly Message[]) => void messages().push(...some),
})
const bindings = { WEBHOOKS: queueInto(() => fast), WEBHOOKS_SLOW: queueInto(() => slow) }
const received = (messages: readonly Message[]) => messages.map(({ body }) => body.endpoint_id)

beforeEach(() => {
  fast = []
  slow = []
  posted = []
  receiver = async () => new Response('', { status: 200 })
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const { url, headers } = new Request(input, init)
    posted.push({ url, id: headers.get('webhook-id') })
    return receiver(url)
  })
})
afterEach(() => vi.restoreAllMocks())

async function use(shop: Shop, more: object = {}): Promise<Reply> {
  const { id } = await givenTicket(shop)
  posted = []
  const reply = await callWith({ ...bindings, ...more }, `/v1/purchases/${id}/uses`, { body: {} })
  expect(reply.status, reply.text).toBe(201)
  return reply
}

const endpointsOf = async (shop: Shop, count: number, columns: object = {}) => {
  const endpoints = []
  for (let made = 0; made < count; made++)
    endpoints.push(await seedOpenEndpoint({ organization_id: shop.organization_id, ...columns }))
  return endpoints
}
const newest = async (endpointId: string) => (await deliveriesOf(endpointId)).at(-1)

describe('after its answer, a request', () => {
  it('posts to four endpoints itself, without a queue message', async () => {
    const shop = await seedShop()
    const endpoints = await endpointsOf(shop, 4)
    await use(shop)
    expect(posted.map(({ url }) => url).toSorted()).toEqual(endpoints.map(({ url }) => url).toSorted())
    for (const { id } of endpoints) {
      const delivery = await newest(id)
      expect(delivery).toMatchObject({ status: 'success', attempts: 1, lease_until: null })
      expect(await attemptsOf(delivery?.id ?? '')).toMatchObject([{ number: 1, status_code: 200 }])
    }
    expect([fast, slow]).toEqual([[], []])
  })

  it('leaves five endpoints to the queue, and slow endpoints to the slow queue', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const five = await endpointsOf(shop, 5)
    await use(shop)
    expect([posted, received(fast).toSorted()]).toEqual([[], five.map(({ id }) => id).toSorted()])
    fast = []
    const [[quick], [late]] = [await endpointsOf(other, 1), await endpointsOf(other, 1, { is_slow: true })]
    await use(other)
    expect(posted.map(({ url }) => url)).toEqual([quick?.url])
    expect([received(fast), received(slow)]).toEqual([[], [late?.id]])
  })

  it('leaves more than twenty events to the queue', async () => {
    const shop = await seedShop()
    const [endpoint] = await endpointsOf(shop, 1)
    const items = [{ product: 'Day ticket', quantity: 21, unit_price: 225 }]
    const { organization_id, edition_id } = shop
    const body = { organization_id, edition_id, source: 'webshop', orders: [anOrder({ items })], emit_webhooks: true }
    const reply = await callWith(bindings, '/v1/data-imports/external-orders', { body })
    expect(reply.status, reply.text).toBe(201)
    expect([posted, received(fast)]).toEqual([[], [endpoint?.id]])
    expect(await deliveriesOf(endpoint?.id ?? '')).toHaveLength(21)
  })

  it('announces nothing to another organisation or another edition', async () => {
    const [shop, stranger] = [await seedShop(), await seedShop()]
    const [own] = await endpointsOf(shop, 1)
    const [foreign] = await endpointsOf(stranger, 1)
    const [elsewhere] = await endpointsOf(shop, 1, { edition_id: stranger.edition_id })
    await use(shop)
    expect(posted.map(({ url }) => url)).toEqual([own?.url])
    expect([await newest(foreign?.id ?? ''), await newest(elsewhere?.id ?? '')]).toEqual([undefined, undefined])
  })

  it('records a failure as a consumer does, and enqueues the retry', async () => {
    const shop = await seedShop()
    const [endpoint] = await endpointsOf(shop, 1)
    receiver = async () => new Response('no', { status: 500 })
    await use(shop)
    expect(await newest(endpoint?.id ?? '')).toMatchObject({ status: 'retrying', attempts: 1, lease_until: null })
    expect(fast).toMatchObject([{ body: { endpoint_id: endpoint?.id } }])
    expect(fast[0]?.delaySeconds).toBeGreaterThan(0)
  })

  it('loses nothing when it fails before its posts: after the lease, the sweep finds the delivery', async () => {
    const shop = await seedShop()
    const [endpoint] = await endpointsOf(shop, 1)
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const signing = vi.spyOn(crypto.subtle, 'sign').mockRejectedValue(new Error('the machine stopped'))
    await use(shop)
    signing.mockRestore()
    expect([posted, fast]).toEqual([[], []])
    const claimed = await newest(endpoint?.id ?? '')
    expect(claimed).toMatchObject({ status: 'pending', attempts: 1 })
    const { job, run, sent, enqueued } = engine(() => answers(200), { now: (claimed?.lease_until ?? 0) + 1 })
    await sweepDeliveries(job)
    expect(enqueued.map(({ endpoint_id }) => endpoint_id)).toContain(endpoint?.id)
    await run([endpoint?.id ?? ''])
    expect(sent.map(({ headers }) => headers['webhook-id'])).toEqual([claimed?.event_id])
  })

  it('loses nothing when it crashes during a post: after the lease, the next attempt is made', async () => {
    const shop = await seedShop()
    const [endpoint] = await endpointsOf(shop, 1)
    const dying = interruptedDatabase(/^update webhook_deliveries set \(status/, () =>
      Promise.reject(new Error('the machine stopped')),
    )
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await use(shop, dying)
    expect(posted).toHaveLength(1)
    const claimed = await newest(endpoint?.id ?? '')
    expect(claimed).toMatchObject({ status: 'pending', attempts: 1 })
    const { job, run, sent } = engine(() => answers(200), { now: (claimed?.lease_until ?? 0) + 1 })
    await sweepDeliveries(job)
    await run([endpoint?.id ?? ''])
    expect(sent.map(({ headers }) => headers['webhook-id'])).toEqual([posted[0]?.id])
    expect(await newest(endpoint?.id ?? '')).toMatchObject({ status: 'success', attempts: 2 })
  })

  it('leaves an endpoint to the requests that have four posts under way there, and these post the rest', async () => {
    const shop = await seedShop()
    const [endpoint] = await endpointsOf(shop, 1)
    const tickets = []
    for (let made = 0; made < 8; made++) tickets.push(await givenTicket(shop))
    posted = []
    let underWay = 0
    let most = 0
    receiver = async () => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setTimeout(resolve, 50))
      underWay--
      return new Response('', { status: 200 })
    }
    await Promise.all(tickets.map(({ id }) => callWith(bindings, `/v1/purchases/${id}/uses`, { body: {} })))
    expect(most).toBeLessThanOrEqual(4)
    const deliveries = await deliveriesOf(endpoint?.id ?? '')
    expect(deliveries.map(({ status }) => status)).toEqual(deliveries.map(() => 'success'))
    expect(new Set(posted.map(({ id }) => id)).size).toBe(posted.length)
    expect(fast).toEqual([])
  })
})
