import { createClient } from './support/client.ts'
import { load, type Load, type Shot, summarise } from './bench/load.ts'
import { nameFunctions, type PartsOfFiles, profiled, type Samples, showProfiles } from './bench/profile.ts'
import { orderOf, readShop, startBenchServer } from './bench/shop.ts'
import { processorSeconds } from './support/runtime-use.ts'

/**
 * What the service costs above its SQL: requests through the service beside a bare route that runs the same recorded
 * statements, in turns within one run, so that what slows the machine slows both. Arguments choose the cases whose names
 * begin with one of them; without any, all run. With PROFILE=1 it prints what requests spend time on; `perf` makes all
 * slower.
 */
const rounds = 5
const seconds = Number(process.env['SECONDS'] ?? 2)
const concurrency = 8
const ordersPerImport = 10
const importsARound = 60
const chosen = process.argv.slice(2)
const isChosen = (name: string): boolean => chosen.length === 0 || chosen.some((begin) => name.startsWith(begin))

const isProfiled = process.env['PROFILE'] === '1'
if (isProfiled) nameFunctions()

/** The first that matches says what a file belongs to. */
const partsOfFiles: PartsOfFiles = [
  [/src\/(http|entry|context|app|index)/, 'JavaScript of every request'],
  [/hono|zod/, 'Hono and Zod'],
  [/src\/modules\/auth/, 'JavaScript of the caller'],
  [/src\/db|drizzle/, 'making statements of D1'],
  [/src\/(modules|domain)/, 'JavaScript of the operation'],
  [/scripts\/bench/, 'JavaScript of the bench'],
]

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

/** Rounds of the service, or of the floor. */
class Rounds {
  readonly samples: Samples = new Map()
  readonly #loads: Load[] = []
  #seconds = 0

  async add(work: () => Promise<Load>): Promise<void> {
    await profiled(isProfiled ? this.samples : null, partsOfFiles, async () => {
      const before = processorSeconds()
      this.#loads.push(await work())
      this.#seconds += processorSeconds() - before
    })
  }

  get load(): Load {
    return merged(this.#loads)
  }

  /** Of processor, of one request. */
  get milliseconds(): number {
    return (this.#seconds * 1000) / this.load.latencies.length
  }
}

function print(name: string, { service, floor }: { service: Rounds; floor: Rounds }, cost: Cost): void {
  const column = ({ load: one, milliseconds }: Rounds) =>
    `${one.per_second.toFixed(0).padStart(6)}/s ${one.p50_ms.toFixed(1).padStart(6)} ${one.p99_ms.toFixed(1).padStart(6)} ${milliseconds.toFixed(2).padStart(6)}`
  const ratio = floor.load.per_second / service.load.per_second
  const failed = service.load.failed + floor.load.failed
  console.log(
    `${name.padEnd(26)} ${column(service)}  ${column(floor)}  ${ratio.toFixed(2).padStart(5)} ${(service.milliseconds / floor.milliseconds).toFixed(2).padStart(5)}  ${String(cost.rows_read).padStart(7)} ${String(cost.rows_written).padStart(5)} ${String(cost.queries).padStart(3)} ${String(cost.bytes).padStart(7)}${failed ? `  ${failed} FAILED` : ''}`,
  )
  if (isProfiled)
    showProfiles([
      { name: 'Floor', milliseconds: floor.milliseconds, samples: floor.samples },
      { name: 'Service', milliseconds: service.milliseconds, samples: service.samples },
    ])
}

async function measureRead(name: string, path: string): Promise<void> {
  if (!isChosen(name)) return
  const key = encodeURIComponent(name)
  const cost = await client.post<Cost>(`/floor/read/${key}`, { path, token })
  if (cost.status !== 200) throw new Error(`${path} answered ${cost.status}`)
  const run = (at: string) => load(url, token, () => ({ method: 'GET', path: at }), { seconds, concurrency })
  await run(path)
  const [service, floor] = [new Rounds(), new Rounds()]
  for (let round = 0; round < rounds; round++) {
    await floor.add(() => run(`/floor/read/${key}`))
    await service.add(() => run(path))
  }
  print(name, { service, floor }, cost)
}

let made = Date.now()
const importBody = () => {
  const prefix = `N${made++}`
  const orders = Array.from({ length: ordersPerImport }, (_, at) => orderOf(at, prefix))
  return { organization_id, edition_id, source: 'bench', orders }
}

async function measureImport(): Promise<void> {
  const name = `importExternalOrders x${ordersPerImport}`
  if (!isChosen(name)) return
  const path = '/v1/data-imports/external-orders'
  const cost = await client.post<Cost>('/floor/cost', { path, token, body: importBody() })
  const [service, floor] = [new Rounds(), new Rounds()]
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < importsARound; at++) await client.post('/floor/write', { path, token, body: importBody() })
    const bodies = Array.from({ length: importsARound }, () => JSON.stringify(importBody()))
    let left = importsARound
    const nextFloor = (): Shot | undefined => (left-- > 0 ? { method: 'POST', path: '/floor/write/next' } : undefined)
    await floor.add(() => load(url, token, nextFloor, { seconds: 60, concurrency }))
    const nextService = (): Shot | undefined => {
      const body = bodies.pop()
      return body === undefined ? undefined : { method: 'POST', path, body }
    }
    await service.add(() => load(url, token, nextService, { seconds: 60, concurrency }))
  }
  print(name, { service, floor }, cost)
}

try {
  const list = `/v1/orders?edition_id=${edition_id}`
  const first = await client.get<{ results: { id: string }[]; next: string }>(list)
  console.log(`${shop.seeded} orders, ${concurrency} requests at a time, ${rounds} rounds of ${seconds} s in turns\n`)
  console.log(
    `${'operation'.padEnd(26)} ${'service  p50 ms p99 ms cpu ms'.padStart(29)}  ${'floor  p50 ms p99 ms cpu ms'.padStart(29)}  ratio   cpu  rows rd    wr   q   bytes`,
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
