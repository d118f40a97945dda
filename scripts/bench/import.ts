import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type ExternalOrder, ordersPerCall } from '../support/external-order.ts'
import { create, createPlace, type Place } from '../support/place.ts'
import { processorSeconds } from '../support/runtime-use.ts'
import { type Bench, measureRate, printRatio, readMemory, readSize, withBench } from './support.ts'

export const summary = 'Imports a CSV file of SIZE=100000 rows and undoes it'

const rowsPerOrder = 2.5
const orderCount = Math.floor(readSize(100_000) / rowsPerOrder)
const rowCount = orderCount * rowsPerOrder
const floorCalls = 20
const timeoutMs = 3_600_000

interface DataImport {
  id: string
  status: string
  created_orders: number
  error_message: string | null
  /** The time of the last change. Polling sees the end of a stage later than this. */
  modified: string
}

const products = ['Day ticket', 'Weekend ticket', 'Camping', 'Parking', 'Locker']

/** Builds orders of two and three rows in turns. Every fourth belongs to one of the first hundred customers. */
function buildOrder(number: number): ExternalOrder & { created: string; customer: { email: string } } {
  const customer = number % 4 === 3 ? (number % 100) - 3 : number
  return {
    external_id: `B-${number}`,
    status: 'completed',
    created: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
    currency: 'dkk',
    customer: { email: `guest-${customer}@example.dk`, first_name: 'Guest', last_name: `Number ${customer}` },
    items: Array.from({ length: number % 2 ? 3 : 2 }, (_, item) => ({
      product: products[(number + item) % products.length] ?? '',
      variant: number % 2 ? 'Child' : 'Adult',
      quantity: 1,
      unit_price: 100.5 + (number % 900),
    })),
  }
}

const header = 'Order ID,Order date,E-mail,First name,Last name,Product,Variant,Quantity,Unit price\r\n'

function buildTable(): Buffer {
  const lines = Array.from({ length: orderCount }, (_, number) => {
    const { external_id, created, customer, items } = buildOrder(number)
    const { email, first_name, last_name } = customer
    const start = [external_id, created, email, first_name, last_name].join(',')
    return items.map((item) => `${start},${item.product},${item.variant},1,${item.unit_price.toFixed(2)}\r\n`).join('')
  })
  return Buffer.from(header + lines.join(''))
}

async function uploadTable({ url, token, client, signal }: Bench, place: Place, table: Buffer): Promise<string> {
  const started = { ...place, name: 'orders.csv', size: table.length }
  const { id, part_size } = await client.post<{ id: string; part_size: number }>('/v1/files/uploads', started)
  for (let from = 0, number = 1; from < table.length; from += part_size, number++) {
    const body = new Uint8Array(table.subarray(from, from + part_size))
    const digest = createHash('sha256').update(body).digest('base64')
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/octet-stream',
      'content-digest': `sha-256=:${digest}:`,
    }
    const target = `${url}/v1/files/uploads/${id}/parts/${number}`
    const response = await fetch(target, { method: 'PUT', body, signal, headers })
    if (!response.ok) throw new Error(`Part ${number} answered ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }
  return create(client, `/v1/files/uploads/${id}/complete`, {})
}

let peakMemory = 0

async function waitForStatus({ client, signal }: Bench, id: string, ...statuses: string[]): Promise<DataImport> {
  for (const deadline = Date.now() + timeoutMs; ; await wait(250, undefined, { signal })) {
    const row = await client.get<DataImport>(`/v1/data-imports/${id}`)
    peakMemory = Math.max(peakMemory, readMemory())
    if (statuses.includes(row.status)) return row
    if (row.status === 'failed' || Date.now() > deadline) throw new Error(`${row.status}: ${row.error_message}`)
  }
}

/** Runs a stage, prints it and answers its rows a second. */
async function measureStage(name: string, work: () => Promise<DataImport | string>): Promise<number> {
  const startedAt = Date.now()
  const processorBefore = processorSeconds()
  const result = await work()
  const seconds = ((typeof result === 'string' ? Date.now() : Date.parse(result.modified)) - startedAt) / 1000
  const processor = processorSeconds() - processorBefore
  const rate = rowCount / seconds
  const columns = [name.padEnd(10), seconds.toFixed(1).padStart(7), 's', rate.toFixed(0).padStart(8), 'rows/s']
  console.log(`${columns.join(' ')} ${processor.toFixed(1).padStart(7)} s of a processor`)
  return rate
}

async function mapProducts({ client }: Bench, id: string): Promise<void> {
  const path = `/v1/data-imports/${id}/product-mappings`
  const { results } = await client.get<{ results: { id: string }[] }>(`${path}?page_size=100`)
  await client.patch(path, { mappings: results.map((product) => ({ id: product.id, action: 'create' })) })
}

/** Answers the rows a second of the import itself. */
async function importTable(bench: Bench, place: Place): Promise<number> {
  const { client } = bench
  const table = buildTable()
  console.log(`${rowCount} rows of ${orderCount} orders, ${(table.length / 1e6).toFixed(1)} MB\n`)
  const memoryAtRest = readMemory()
  let file_id = ''
  await measureStage('upload', async () => (file_id = await uploadTable(bench, place, table)))
  let id = ''
  await measureStage('parse', async () => {
    id = await create(client, '/v1/data-imports', { ...place, file_id, external_source: 'shop' })
    return waitForStatus(bench, id, 'mapping_columns')
  })
  await measureStage('stage', async () => {
    await client.post(`/v1/data-imports/${id}/column-mappings/process`, undefined)
    const { status } = await waitForStatus(bench, id, 'mapping_products', 'ready')
    if (status === 'mapping_products') await mapProducts(bench, id)
    return waitForStatus(bench, id, 'ready')
  })
  const rate = await measureStage('import', async () => {
    await client.post(`/v1/data-imports/${id}/start`, {})
    const row = await waitForStatus(bench, id, 'completed', 'completed_with_errors')
    if (row.created_orders !== orderCount)
      throw new Error(`${row.created_orders} of ${orderCount} orders were created.`)
    return row
  })
  await measureStage('undo', async () => {
    await client.post(`/v1/data-imports/${id}/undo`, {})
    return waitForStatus(bench, id, 'undone')
  })
  console.log(`memory     ${memoryAtRest.toFixed(0)} MB at rest, ${peakMemory.toFixed(0)} MB at most`)
  return rate
}

/** Runs the statements of calls with such orders by a bare route, and answers their rows a second. */
async function measureFloor({ client }: Bench, place: Place): Promise<number> {
  const path = '/v1/data-imports/external-orders'
  const buildCall = (call: number) => ({
    ...place,
    source: 'shop',
    orders: Array.from({ length: ordersPerCall }, (_, index) => buildOrder(call * ordersPerCall + index)),
  })
  // The first call creates the products, which the recorded calls refer to.
  await client.post(path, buildCall(0))
  for (let call = 1; call <= floorCalls; call++)
    await client.post('/bench/record', { method: 'POST', path, body: JSON.stringify(buildCall(call)) })
  const replay = () => client.post('/bench/replay', {})
  return ordersPerCall * rowsPerOrder * (await measureRate(Array(floorCalls).fill(replay), 1))
}

export const run = (): Promise<void> =>
  withBench({}, async (bench) => {
    const floor = await measureFloor(bench, await createPlace(bench.client, 'Floor'))
    await bench.restart()
    const service = await importTable(bench, await createPlace(bench.client, 'Bench'))
    console.log('\nThe floor runs the statements of imported calls with the same orders.')
    printRatio('import', 'rows/s', { service, floor })
  })
