import { setTimeout as wait } from 'node:timers/promises'
import { create, createPlace, type Place } from '../support/place.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Bench, compare, median, printHead, printRatio, quantile, rounds, withBench } from './support.ts'

export const summary = 'Delivers events to four and to ten endpoints of each organisation'

const organizationCount = 5
/** Units whose events each organisation announces at once. */
const unitsAtOnce = 100
const eventEveryMs = 50
const eventsOfDelay = 200
/** Posts that the floor has under way. */
const postsAtOnce = 8
const timeoutMs = 120_000

interface Shop extends Place {
  /** Units that can be used any number of times: each use is an event. */
  purchaseIds: string[]
  /** Paths of the endpoints that answer. */
  paths: string[]
}

interface Load {
  name: string
  endpoints: number
  /** This many of them take requests and never answer. */
  hanging: number
}

let nextOrder = 0

/** Imports an order of so many units, each of which is an event. */
async function importOrder(
  { client }: Bench,
  { organization_id, edition_id }: Place,
  item: { quantity: number; is_unlimited_use?: boolean },
  emit_webhooks: boolean,
): Promise<void> {
  const order = {
    external_id: `B-${++nextOrder}`,
    currency: 'dkk',
    status: 'completed',
    customer: { email: `guest-${nextOrder}@example.com` },
    items: [{ product: 'Day ticket', unit_price: 225, ...item }],
  }
  const call = { organization_id, edition_id, source: 'bench', orders: [order], emit_webhooks }
  await client.post('/v1/data-imports/external-orders', call)
}

async function createShop(bench: Bench, receiver: Receiver, load: Load, number: number): Promise<Shop> {
  const { client } = bench
  const place = await createPlace(client, `${load.name} ${number}`)
  await importOrder(bench, place, { quantity: eventsOfDelay / organizationCount, is_unlimited_use: true }, false)
  const path = `/v1/purchases?edition_id=${place.edition_id}&page_size=500`
  const { results } = await client.get<{ results: { id: string }[] }>(path)
  const paths = Array.from({ length: load.endpoints }, (_, at) => `/${load.name.replaceAll(' ', '-')}/${number}/${at}`)
  for (const [at, endpoint] of paths.entries()) {
    if (at < load.hanging) receiver.respondWith(endpoint, 'hang')
    const fields = { name: 'Bench', url: receiver.url(endpoint), events: ['purchase.action'], timeout_seconds: 2 }
    await create(client, '/v1/webhooks', { organization_id: place.organization_id, ...fields })
  }
  return { ...place, purchaseIds: results.map(({ id }) => id), paths: paths.slice(load.hanging) }
}

const countPosts = (receiver: Receiver, shops: readonly Shop[]): number =>
  shops.flatMap(({ paths }) => paths).reduce((sum, path) => sum + receiver.posts(path).length, 0)

async function waitForPosts(receiver: Receiver, shops: readonly Shop[], count: number): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; countPosts(receiver, shops) < count; await wait(20))
    if (Date.now() > deadline) throw new Error(`${countPosts(receiver, shops)} of ${count} deliveries arrived.`)
}

const countPaths = (shops: readonly Shop[]): number => shops.flatMap(({ paths }) => paths).length

/** Imports a hundred units into each shop at once, and answers deliveries a second. */
async function measureDeliveries(bench: Bench, receiver: Receiver, shops: readonly Shop[]): Promise<number> {
  const before = countPosts(receiver, shops)
  const count = unitsAtOnce * countPaths(shops)
  const startedAt = performance.timeOrigin + performance.now()
  await Promise.all(shops.map((shop) => importOrder(bench, shop, { quantity: unitsAtOnce }, true)))
  await waitForPosts(receiver, shops, before + count)
  const times = shops.flatMap(({ paths }) => paths.flatMap((path) => receiver.posts(path).map(({ at }) => at)))
  const lastAt = times.reduce((last, at) => Math.max(last, at), 0)
  // Finished deliveries have to be recorded before the floor is measured.
  await wait(1000)
  return (1000 * count) / (lastAt - startedAt)
}

/** Uses a purchase each 50 ms, and answers the milliseconds from each commit to the first byte at each endpoint. */
async function measureDelays(bench: Bench, receiver: Receiver, shops: readonly Shop[]): Promise<number[]> {
  const before = new Map(shops.flatMap(({ paths }) => paths.map((path) => [path, receiver.posts(path).length])))
  const count = countPosts(receiver, shops) + (eventsOfDelay / shops.length) * countPaths(shops)
  const committedAt = new Map<string, number>()
  const headers = {
    authorization: `Bearer ${bench.token}`,
    'content-type': 'application/json',
    'bench-time-commit': '1',
  }
  const calls: Promise<void>[] = []
  const startedAt = performance.now()
  for (let event = 0; event < eventsOfDelay; event++) {
    await wait(Math.max(0, startedAt + event * eventEveryMs - performance.now()))
    const purchase = shops[event % shops.length]?.purchaseIds[Math.floor(event / shops.length)] ?? ''
    const note = async () => {
      const url = `${bench.url}/v1/purchases/${purchase}/uses`
      const response = await fetch(url, { method: 'POST', headers, body: '{}' })
      if (!response.ok) throw new Error(`A use answered ${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
      committedAt.set(purchase, Number(response.headers.get('bench-committed-at')))
    }
    calls.push(note())
  }
  await Promise.all(calls)
  await waitForPosts(receiver, shops, count)
  return [...before].flatMap(([path, known]) =>
    receiver
      .posts(path)
      .slice(known)
      .map(({ body, at }) => {
        const { data } = JSON.parse(body) as { data: { purchase: { id: string } } }
        return at - (committedAt.get(data.purchase.id) ?? at)
      }),
  )
}

/** Posts the bytes of a delivery with a bare `fetch`, and answers the milliseconds of all of them. */
async function postFloor(
  { client }: Bench,
  receiver: Receiver,
  shops: readonly Shop[],
  { count, atOnce }: { count: number; atOnce: number },
): Promise<number> {
  const [path = ''] = shops[0]?.paths ?? []
  const post = receiver.posts(path)[0]
  const signed = ['content-type', 'user-agent', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(signed.map((name) => [name, String(post?.headers[name] ?? '')]))
  const urls = shops.flatMap(({ paths }) => paths).map((one) => receiver.url(`/floor${one}`))
  const posts = { urls, count, atOnce, headers, body: post?.body ?? '' }
  return (await client.post<{ ms: number }>('/bench/fetch', posts)).ms
}

async function measureLoad(bench: Bench, receiver: Receiver, load: Load): Promise<void> {
  const shops: Shop[] = []
  for (let number = 0; number < organizationCount; number++) shops.push(await createShop(bench, receiver, load, number))
  const count = unitsAtOnce * countPaths(shops)
  const rates = await compare(
    () => measureDeliveries(bench, receiver, shops),
    async () => (1000 * count) / (await postFloor(bench, receiver, shops, { count, atOnce: postsAtOnce })),
  )
  printRatio(`${load.name}, deliveries`, 'deliveries/s', rates)
  const delays: number[] = []
  for (let round = 0; round < rounds; round++) delays.push(...(await measureDelays(bench, receiver, shops)))
  const floor = (await postFloor(bench, receiver, shops, { count: 200, atOnce: 1 })) / 200
  printRatio(`${load.name}, delay: median`, 'ms', { service: median(delays), floor })
  printRatio(`${load.name}, delay: p95`, 'ms', { service: quantile(delays, 0.95), floor })
}

const loads: readonly Load[] = [
  { name: '4 endpoints', endpoints: 4, hanging: 0 },
  { name: '10 endpoints', endpoints: 10, hanging: 0 },
  { name: '10 endpoints, 2 of them hang', endpoints: 10, hanging: 2 },
]

export async function run(): Promise<void> {
  const receiver = await startReceiver()
  try {
    await withBench({ ALLOW_INSECURE_WEBHOOKS: '1' }, async (bench) => {
      printHead(
        [
          `${organizationCount} organisations announce ${unitsAtOnce} events at once,`,
          `then one event each ${eventEveryMs} ms. Delays are from the commit to the first byte.`,
          `The floor posts the same bytes with a bare fetch, ${postsAtOnce} at a time; for the delays one by one.`,
        ].join('\n'),
      )
      for (const load of loads) await measureLoad(bench, receiver, load)
    })
  } finally {
    await receiver.stop()
  }
}
