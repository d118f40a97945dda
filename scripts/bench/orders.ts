import { type ExternalOrder, ordersPerCall } from '../support/external-order.ts'
import { createPlace, type Place } from '../support/place.ts'
import { type Bench, compare, measureRate, printHead, printRatio, readSize, timeRequest, withBench } from './support.ts'

export const summary = 'Lists orders among SIZE=100000, and creates orders by calls'

const size = readSize(100_000)
const atOnce = 8
const readsARound = 200
const callsARound = 40
const ordersInACall = 10
const importPath = '/v1/data-imports/external-orders'

const firstNames = ['Ægir', 'Łucja', 'Søren', 'Ingrid', 'Jan', 'Ada', 'Björn', 'Zoë']
const statuses = ['completed', 'completed', 'completed', 'confirmed', 'pending', 'cancelled'] as const

/** A third of the orders belong to returning customers. */
function buildOrder(index: number): ExternalOrder {
  const customer = index % 3 === 0 ? Math.floor(index / 2) : index
  return {
    external_id: `B-${index}`,
    order_number: String(1_000_000 + index),
    status: statuses[index % statuses.length] ?? 'completed',
    created: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
    currency: 'dkk',
    customer: {
      email: `customer-${customer}@example.com`,
      first_name: firstNames[customer % firstNames.length] ?? '',
      last_name: `Holm ${customer}`,
    },
    items: [{ product: `Ticket ${index % 12}`, quantity: 1 + (index % 2), unit_price: 100 + (index % 50) }],
  }
}

let nextOrder = 0

/** Builds the body of a call with new orders. */
function buildCall(place: Place, count: number): object {
  const orders = Array.from({ length: count }, () => buildOrder(nextOrder++))
  return { ...place, source: 'bench', orders }
}

async function seedOrders({ client }: Bench, place: Place): Promise<void> {
  const calls = Array.from({ length: Math.ceil(size / ordersPerCall) }, () => async () => {
    await client.post(importPath, buildCall(place, ordersPerCall))
  })
  const rate = await measureRate(calls, 4)
  console.log(`Seeded ${nextOrder} orders by calls, ${Math.round(rate * ordersPerCall)} a second.\n`)
}

/** A page by the API beside a bare route that runs the statements of that request. */
async function compareRead(bench: Bench, name: string, path: string): Promise<void> {
  const { status } = await bench.client.post<{ status: number }>('/bench/record', { method: 'GET', path })
  if (status !== 200) throw new Error(`${path} answered ${status}`)
  const read = (target: string) => () => {
    const headers = { authorization: `Bearer ${bench.token}` }
    return timeRequest(bench.url + target, { headers })
  }
  const measure = (target: string) => () => measureRate(Array(readsARound).fill(read(target)), atOnce)
  const comparison = await compare(measure(path), measure(`/bench/replay?path=${encodeURIComponent(path)}`))
  printRatio(name, 'requests/s', comparison)
}

/** Calls that create orders beside a bare route that runs the statements of such calls. */
async function compareCreate(bench: Bench, place: Place): Promise<void> {
  const headers = { authorization: `Bearer ${bench.token}`, 'content-type': 'application/json' }
  const post = (path: string, body?: string) => () =>
    timeRequest(bench.url + path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) })
  const buildBodies = () => Array.from({ length: callsARound }, () => JSON.stringify(buildCall(place, ordersInACall)))
  const comparison = await compare(
    () =>
      measureRate(
        buildBodies().map((body) => post(importPath, body)),
        atOnce,
      ),
    async () => {
      for (const body of buildBodies())
        await bench.client.post('/bench/record', { method: 'POST', path: importPath, body })
      return measureRate(Array(callsARound).fill(post('/bench/replay')), atOnce)
    },
  )
  printRatio(`importExternalOrders, ${ordersInACall} in a call`, 'calls/s', comparison)
}

export const run = (): Promise<void> =>
  withBench({}, async (bench) => {
    const place = await createPlace(bench.client, 'Bench')
    await seedOrders(bench, place)
    const list = `/v1/orders?edition_id=${place.edition_id}`
    const page = await bench.client.get<{ results: { id: string }[]; next: string }>(list)
    printHead(`${atOnce} requests at a time; the floor runs the same statements without the service around them`)
    await compareRead(bench, 'listOrders', list)
    await compareRead(bench, 'listOrders by next', page.next.replace(bench.url, ''))
    await compareRead(bench, 'listOrders of a status', `${list}&status=confirmed`)
    await compareRead(bench, 'listOrders by amount', `${list}&ordering=-amount`)
    await compareRead(bench, 'listOrders searched', `${list}&search=${1_000_000 + Math.floor(size / 2)}`)
    await compareRead(bench, 'listPurchases', `/v1/purchases?edition_id=${place.edition_id}`)
    await compareRead(bench, 'listUsers', `/v1/user?organization_id=${place.organization_id}`)
    await compareRead(bench, 'getEditionStats', `/v1/editions/${place.edition_id}/stats`)
    await compareRead(bench, 'getOrder', `/v1/orders/${page.results[0]?.id}`)
    await compareCreate(bench, place)
  })
