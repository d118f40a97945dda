import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sweepDeliveries } from '../../src/modules/webhooks/jobs.ts'
import { callWith, type Reply } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { anOrder, givenTicket, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { listAttempts, loadDeliveries, engine, answers } from '../support/webhooks.ts'

interface Message {
  body: { endpoint_id: string }
  delaySeconds: number
}

/** Messages of the queue, which has no consumer here. */
let messages: Message[]
let posted: { url: string; id: string | null }[]
let receiver: (url: string) => Promise<Response>

const bindings = { WEBHOOKS: { sendBatch: async (some: readonly Message[]) => void messages.push(...some) } }
const listEnqueued = () => messages.map(({ body }) => body.endpoint_id).toSorted()
const listPosted = () => posted.map(({ url }) => url).toSorted()
const listUrls = (endpoints: readonly { url: string }[]) => endpoints.map(({ url }) => url).toSorted()

beforeEach(() => {
  messages = []
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

const seedEndpoints = async (shop: Shop, count: number, columns: object = {}) => {
  const endpoints = []
  for (let index = 0; index < count; index++)
    endpoints.push(await seedOpenEndpoint({ organization_id: shop.organization_id, ...columns }))
  return endpoints
}
const newest = async (endpointId: string) => (await loadDeliveries(endpointId)).at(-1)

describe('a request, after its answer', () => {
  it('posts to the endpoints of its organisation, without a queue message', async () => {
    const shop = await seedShop()
    const endpoints = await seedEndpoints(shop, 4)
    await use(shop)
    expect(listPosted()).toEqual(listUrls(endpoints))
    for (const { id } of endpoints) {
      const delivery = await newest(id)
      expect(delivery).toMatchObject({ status: 'success', attempts: 1, claimed_until: null })
      expect(await listAttempts(delivery?.id ?? '')).toMatchObject([{ number: 1, status_code: 200 }])
    }
    expect(messages).toEqual([])
  })

  it('posts to ten endpoints without a queue message, although five of them hang', async () => {
    const shop = await seedShop()
    const endpoints = await seedEndpoints(shop, 10)
    const hanging = new Set(endpoints.slice(0, 5).map(({ url }) => url))
    const released = Promise.withResolvers<void>()
    receiver = async (url) => {
      if (hanging.has(url)) await released.promise
      return new Response('', { status: 200 })
    }
    const replied = use(shop)
    for (const { id } of endpoints.slice(5)) await expect.poll(() => newest(id)).toMatchObject({ status: 'success' })
    expect(listPosted()).toEqual(listUrls(endpoints))
    released.resolve()
    await replied
    for (const { id } of endpoints)
      await expect.poll(() => newest(id)).toMatchObject({ status: 'success', attempts: 1 })
    expect(messages).toEqual([])
  })

  it('posts fifty deliveries, and leaves the rest to the queue', async () => {
    const shop = await seedShop()
    const endpoints = await seedEndpoints(shop, 53)
    await use(shop)
    await expect.poll(() => posted).toHaveLength(50)
    const urls = listPosted()
    expect(listEnqueued()).toEqual(endpoints.flatMap(({ id, url }) => (urls.includes(url) ? [] : id)).toSorted())
    expect(messages).toHaveLength(3)
  })

  it('leaves slow endpoints and endpoints with a long timeout to the queue', async () => {
    const shop = await seedShop()
    const [quick] = await seedEndpoints(shop, 1, { timeout_seconds: 17 })
    const [slow] = await seedEndpoints(shop, 1, { is_slow: true })
    const [patient] = await seedEndpoints(shop, 1, { timeout_seconds: 18 })
    await use(shop)
    expect(listPosted()).toEqual([quick?.url])
    expect(listEnqueued()).toEqual([slow?.id, patient?.id].toSorted())
  })

  it('leaves more than twenty events to the queue', async () => {
    const shop = await seedShop()
    const [endpoint] = await seedEndpoints(shop, 1)
    const items = [{ product: 'Day ticket', quantity: 21, unit_price: 225 }]
    const { organization_id, edition_id } = shop
    const body = { organization_id, edition_id, source: 'webshop', orders: [anOrder({ items })], emit_webhooks: true }
    const reply = await callWith(bindings, '/v1/data-imports/external-orders', { body })
    expect(reply.status, reply.text).toBe(201)
    expect([posted, listEnqueued()]).toEqual([[], [endpoint?.id]])
    expect(await loadDeliveries(endpoint?.id ?? '')).toHaveLength(21)
  })

  it('posts nothing to another organisation or another edition', async () => {
    const [shop, stranger] = [await seedShop(), await seedShop()]
    const [ownEndpoint] = await seedEndpoints(shop, 1)
    const [foreign] = await seedEndpoints(stranger, 1)
    const [elsewhere] = await seedEndpoints(shop, 1, { edition_id: stranger.edition_id })
    await use(shop)
    expect(posted.map(({ url }) => url)).toEqual([ownEndpoint?.url])
    expect([await newest(foreign?.id ?? ''), await newest(elsewhere?.id ?? '')]).toEqual([undefined, undefined])
  })

  it('stores a failure and enqueues the retry', async () => {
    const shop = await seedShop()
    const [endpoint] = await seedEndpoints(shop, 1)
    receiver = async () => new Response('no', { status: 500 })
    await use(shop)
    expect(await newest(endpoint?.id ?? '')).toMatchObject({ status: 'retrying', attempts: 1, claimed_until: null })
    expect(messages).toMatchObject([{ body: { endpoint_id: endpoint?.id } }])
    expect(messages[0]?.delaySeconds).toBeGreaterThan(0)
  })

  it('loses nothing when it fails before its posts, because the sweep finds the delivery after the claim', async () => {
    const shop = await seedShop()
    const [endpoint] = await seedEndpoints(shop, 1)
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const signing = vi.spyOn(crypto.subtle, 'sign').mockRejectedValue(new Error('the machine stopped'))
    await use(shop)
    signing.mockRestore()
    expect([posted, messages]).toEqual([[], []])
    const claimed = await newest(endpoint?.id ?? '')
    expect(claimed).toMatchObject({ status: 'pending', attempts: 1 })
    const { job, run, sent, enqueued } = engine(() => answers(200), { now: (claimed?.claimed_until ?? 0) + 1 })
    await sweepDeliveries(job)
    expect(enqueued.map(({ endpoint_id }) => endpoint_id)).toContain(endpoint?.id)
    await run([endpoint?.id ?? ''])
    expect(sent.map(({ headers }) => headers['webhook-id'])).toEqual([claimed?.event_id])
  })

  it('loses nothing when it crashes during a post, because the next attempt follows after the claim', async () => {
    const shop = await seedShop()
    const [endpoint] = await seedEndpoints(shop, 1)
    const dying = interruptDatabase(/^update webhook_deliveries set \(status/, () =>
      Promise.reject(new Error('the machine stopped')),
    )
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await use(shop, dying)
    expect(posted).toHaveLength(1)
    const claimed = await newest(endpoint?.id ?? '')
    expect(claimed).toMatchObject({ status: 'pending', attempts: 1 })
    const { job, run, sent } = engine(() => answers(200), { now: (claimed?.claimed_until ?? 0) + 1 })
    await sweepDeliveries(job)
    await run([endpoint?.id ?? ''])
    expect(sent.map(({ headers }) => headers['webhook-id'])).toEqual([posted[0]?.id])
    expect(await newest(endpoint?.id ?? '')).toMatchObject({ status: 'success', attempts: 2 })
  })

  it('leaves an endpoint to other requests that have four posts to it under way, and these go on', async () => {
    const shop = await seedShop()
    const [endpoint] = await seedEndpoints(shop, 1)
    const tickets = []
    for (let index = 0; index < 8; index++) tickets.push(await givenTicket(shop))
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
    const deliveries = await loadDeliveries(endpoint?.id ?? '')
    expect(deliveries.map(({ status }) => status)).toEqual(deliveries.map(() => 'success'))
    expect(new Set(posted.map(({ id }) => id)).size).toBe(posted.length)
    expect(messages).toEqual([])
  })
})
