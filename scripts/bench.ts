import { createClient } from './support/client.ts'
import { load, type Load, type Shot, summarise } from './bench/load.ts'
import { orderOf, readShop, startBenchServer } from './bench/shop.ts'

/**
 * What the service costs above its SQL: requests through the service beside a bare route that runs the same recorded
 * statements, in turns within one run, so that what slows the machine slows both.
 */
const rounds = 5
const seconds = Number(process.env['SECONDS'] ?? 2)
const concurrency = 8
const ordersPerImport = 10
const importsARound = 60

interface Cost {
  status: number
  bytes: number
  round_trips: number
  queries: number
  rows_read: number
  rows_written: number
}

const shop = await readShop()
if (!shop?.seeded) throw new Error('There are no orders to measure: run npm run bench:seed first.')
const server = await startBenchServer()
const url = new URL(server.url)
const client = createClient(server.url, shop.token)
const { organization_id, edition_id, token } = shop

const all = (loads: Load[], perSecondOf: (load: Load) => number): Load => {
  const latencies = loads.flatMap((one) => one.latencies)
  const time = loads.reduce((sum, one) => sum + one.latencies.length / perSecondOf(one), 0)
  return summarise(
    latencies,
    time,
    loads.reduce((sum, one) => sum + one.failed, 0),
  )
}

const merged = (loads: Load[]): Load => all(loads, (one) => one.per_second)

function print(name: string, service: Load, floor: Load, cost: Cost): void {
  const column = (one: Load) =>
    `${one.per_second.toFixed(0).padStart(6)}/s ${one.p50_ms.toFixed(1).padStart(6)} ${one.p99_ms.toFixed(1).padStart(6)}`
  const ratio = floor.per_second / service.per_second
  const failed = service.failed + floor.failed
  console.log(
    `${name.padEnd(26)} ${column(service)}  ${column(floor)}  ${ratio.toFixed(2).padStart(5)}  ${String(cost.rows_read).padStart(7)} ${String(cost.rows_written).padStart(5)} ${String(cost.queries).padStart(3)} ${String(cost.bytes).padStart(7)}${failed ? `  ${failed} FAILED` : ''}`,
  )
}

async function measureRead(name: string, path: string): Promise<void> {
  const key = encodeURIComponent(name)
  const cost = await client.post<Cost>(`/floor/read/${key}`, { path, token })
  if (cost.status !== 200) throw new Error(`${path} answered ${cost.status}`)
  const run = (at: string) => load(url, token, () => ({ method: 'GET', path: at }), { seconds, concurrency })
  await run(path)
  const service: Load[] = []
  const floor: Load[] = []
  for (let round = 0; round < rounds; round++) {
    floor.push(await run(`/floor/read/${key}`))
    service.push(await run(path))
  }
  print(name, merged(service), merged(floor), cost)
}

let made = Date.now()
const importBody = () => {
  const prefix = `N${made++}`
  const orders = Array.from({ length: ordersPerImport }, (_, at) => orderOf(at, prefix))
  return { organization_id, edition_id, source: 'bench', orders }
}

async function measureImport(): Promise<void> {
  const path = '/v1/data-imports/external-orders'
  const cost = await client.post<Cost>('/floor/cost', { path, token, body: importBody() })
  const service: Load[] = []
  const floor: Load[] = []
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < importsARound; at++) await client.post('/floor/write', { path, token, body: importBody() })
    const bodies = Array.from({ length: importsARound }, () => JSON.stringify(importBody()))
    let left = importsARound
    const nextFloor = (): Shot | undefined => (left-- > 0 ? { method: 'POST', path: '/floor/write/next' } : undefined)
    floor.push(await load(url, token, nextFloor, { seconds: 60, concurrency }))
    const nextService = (): Shot | undefined => {
      const body = bodies.pop()
      return body === undefined ? undefined : { method: 'POST', path, body }
    }
    service.push(await load(url, token, nextService, { seconds: 60, concurrency }))
  }
  print(`importExternalOrders x${ordersPerImport}`, merged(service), merged(floor), cost)
}

try {
  const list = `/v1/orders?edition_id=${edition_id}`
  const first = await client.get<{ results: { id: string }[]; next: string }>(list)
  console.log(`${shop.seeded} orders, ${concurrency} requests at a time, ${rounds} rounds of ${seconds} s in turns\n`)
  console.log(
    `${'operation'.padEnd(26)} ${'service  p50 ms p99 ms'.padStart(22)}  ${'floor  p50 ms p99 ms'.padStart(22)}  ratio  rows rd    wr   q   bytes`,
  )
  await measureRead('listOrders, first page', list)
  await measureRead('listOrders, by next', first.next.replace(server.url, ''))
  await measureRead('listOrders, 20 of them', `${list}&page_size=20`)
  await measureRead('listOrders, filtered', `${list}&status=confirmed&created_after=2026-02-01T00:00:00Z`)
  await measureRead('listOrders, searched', `${list}&search=1000777`)
  await measureRead('listPurchases, first page', `/v1/purchases?edition_id=${edition_id}`)
  await measureRead('listUsers, first page', `/v1/user?organization_id=${organization_id}`)
  await measureRead('getOrder', `/v1/orders/${first.results[0]?.id}`)
  await measureImport()
} finally {
  await server.stop()
}
