import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { CampaignCosts } from './bench/campaigns-worker.ts'
import { openBench } from './bench/open.ts'
import {
  nameFunctions,
  type PartsOfFiles,
  type Profile,
  profiled,
  type Samples,
  showProfiles,
} from './bench/profile.ts'
import { ordersPerCall } from './support/external-order.ts'
import { externalOrderOf, orderAt, ordersOf, tableOf } from './support/import-table.ts'
import { memoryFolder } from './support/memory-folder.ts'
import { memoryText, type RuntimeMemory, runtimeMemory } from './support/runtime-memory.ts'
import { processorSeconds } from './support/runtime-use.ts'

/**
 * An import of a table from its upload to `completed`, and its undo, beside the same orders by calls. With PROFILE=1 it prints
 * what a row spends time on in each stage; `perf` makes all slower.
 */
const orders = ordersOf(Number(process.env['ROWS'] ?? 1_000_000))
const rows = Math.floor(orders * 2.5)
const goals = { aSecond: 5000, megabytes: 150 }
const floorCalls = 20
const customersPerCall = Math.floor((ordersPerCall * 3) / 4)
const patienceMs = 3_600_000
const readEveryMs = 1000
/** Tenths of a stage that last less than this are not printed by themselves. */
const tenthsFromMs = 2000
const withFloors = process.env['FLOORS'] !== '0'
const isProfiled = process.env['PROFILE'] === '1'

const partsOfFiles: PartsOfFiles = [
  [/domain\/data-imports\/files|csv-parse/, 'reading files'],
  [/domain\/data-imports/, 'mapping cells'],
  [/modules\/data-imports/, 'JavaScript of the import'],
  [/modules\/order-import|domain\/orders/, 'deciding orders'],
  [/src\/db|drizzle/, 'making statements of D1'],
  [/scripts\/bench/, 'JavaScript of the bench'],
]

interface DataImport {
  id: string
  status: string
  progress: number
  total_rows: number
  created_orders: number
  undone_orders: number
  error_message: string | null
  modified: string
}

interface Tenant {
  organization_id: string
  edition_id: string
}

/** Of a million rows. */
const bytesNeeded = 6 * 1024 ** 3

if (isProfiled) nameFunctions()
const { server, stateDir, client, signal, close } = await openBench('import', memoryFolder(bytesNeeded) ?? undefined)
const made = (path: string, body: unknown) => client.post<{ id: string }>(path, body)
const rowsWritten = async () => (await client.get<CampaignCosts>('/floor/campaigns/costs')).rows_written

async function newTenant(name: string): Promise<Tenant> {
  const { id: organization_id } = await made('/v1/organizations', { name })
  const { id: event_id } = await made('/v1/events', { organization_id, name })
  const { id: edition_id } = await made('/v1/editions', { organization_id, event_id, name })
  return { organization_id, edition_id }
}

let peak = runtimeMemory()
let readAt = performance.now()

function readMemory(): RuntimeMemory {
  const memory = runtimeMemory()
  readAt = performance.now()
  if (memory.all > peak.all) peak = memory
  return memory
}

/** Looks for the peak while a stage lasts, not too often, because reading the memory stops the runtime for a moment. */
function noteMemory(): void {
  if (performance.now() - readAt >= readEveryMs) readMemory()
}

interface Upload {
  id: string
  part_size: number
}

async function sendPart({ id }: Upload, number: number, body: Buffer): Promise<void> {
  const response = await fetch(new URL(`/v1/files/uploads/${id}/parts/${number}`, server.url), {
    method: 'PUT',
    body: new Uint8Array(body),
    signal,
    headers: {
      authorization: `Bearer ${server.rootToken}`,
      'content-type': 'application/octet-stream',
      'content-digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    },
  })
  if (!response.ok) throw new Error(`part ${number}: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

async function upload(at: Tenant, table: Buffer): Promise<string> {
  const body = { ...at, name: 'orders.csv', size: table.length }
  const started = await client.post<Upload>('/v1/files/uploads', body)
  for (let from = 0, number = 1; from < table.length; from += started.part_size, number++) {
    await sendPart(started, number, table.subarray(from, from + started.part_size))
    noteMemory()
  }
  return (await made(`/v1/files/uploads/${started.id}/complete`, {})).id
}

/** Prints the rate and the memory of each tenth of a stage. */
function tenthsPrinter(total: number): (row: DataImport) => void {
  let last = { progress: 0, at: performance.now() }
  return ({ status, progress }) => {
    const at = performance.now()
    if (Math.floor(progress * 10) === Math.floor(last.progress * 10) || at - last.at < tenthsFromMs) return
    const rate = Math.round(((progress - last.progress) * total * 1000) / (at - last.at))
    const share = `  ${status} ${Math.round(progress * 100)} %`
    console.log(`${share.padEnd(38)} ${String(rate).padStart(8)} rows/s ${memoryText(readMemory())}`)
    last = { progress, at }
  }
}

async function until(id: string, ...statuses: string[]): Promise<DataImport> {
  const print = tenthsPrinter(rows)
  for (const deadline = Date.now() + patienceMs; ; await wait(250, undefined, { signal })) {
    const row = await client.get<DataImport>(`/v1/data-imports/${id}`)
    noteMemory()
    print(row)
    if (statuses.includes(row.status)) return row
    if (row.status === 'failed' || Date.now() > deadline) throw new Error(`${row.status}: ${row.error_message}`)
  }
}

interface Measured<Result> {
  result: Result
  seconds: number
  /** Seconds of a processor. */
  processor: number
  written: number
}

/** `endOf` is when the work of a result was over, where that was seen later. */
async function measured<Result>(
  name: string,
  total: number,
  work: () => Promise<Result>,
  endOf: (result: Result) => number = () => Date.now(),
): Promise<Measured<Result>> {
  const before = await rowsWritten()
  const processorBefore = processorSeconds()
  const started = Date.now()
  const result = await work()
  const seconds = (endOf(result) - started) / 1000
  const written = (await rowsWritten()) - before
  const processor = processorSeconds() - processorBefore
  const rate = Math.round(total / seconds)
  const cost = written > 0 ? `${(written / orders).toFixed(2).padStart(8)} rows written an order` : ''
  console.log(
    `${name.padEnd(28)} ${seconds.toFixed(1).padStart(7)} s ${String(rate).padStart(8)} rows/s ${processor.toFixed(1).padStart(7)} s of a processor ${memoryText(readMemory())}${cost}`,
  )
  return { result, seconds, processor, written }
}

async function mapProducts(id: string): Promise<void> {
  const path = `/v1/data-imports/${id}/product-mappings`
  const { results } = await client.get<{ results: { id: string }[] }>(`${path}?page_size=100`)
  await client.patch(path, { mappings: results.map((product) => ({ id: product.id, action: 'create' })) })
}

const profiles: Profile[] = []

/** A stage of the background work, from the request that begins it to the last transaction. */
async function measuredStage(name: string, work: () => Promise<DataImport>): Promise<Measured<DataImport>> {
  const samples: Samples | null = isProfiled ? new Map() : null
  const stage = await profiled(samples, partsOfFiles, () =>
    measured(name, rows, work, ({ modified }) => Date.parse(modified)),
  )
  if (samples) profiles.push({ name, milliseconds: (1000 * stage.processor) / rows, samples })
  return stage
}

async function staged(id: string): Promise<DataImport> {
  await client.post(`/v1/data-imports/${id}/column-mappings/process`, undefined)
  const row = await until(id, 'mapping_products', 'ready')
  if (row.status === 'ready') return row
  await mapProducts(id)
  return until(id, 'ready')
}

async function imported(id: string): Promise<DataImport> {
  await client.post(`/v1/data-imports/${id}/start`, {})
  const row = await until(id, 'completed', 'completed_with_errors')
  if (row.created_orders !== orders) throw new Error(`${row.created_orders} of ${orders} orders were made.`)
  return row
}

async function undone(id: string): Promise<DataImport> {
  await client.post(`/v1/data-imports/${id}/undo`, {})
  const row = await until(id, 'undone')
  if (row.undone_orders !== orders) throw new Error(`${row.undone_orders} of ${orders} orders were undone.`)
  return row
}

async function importTable(): Promise<void> {
  const at = await newTenant('Bench')
  const table = await tableOf(orders)
  const atRest = runtimeMemory()
  peak = atRest
  console.log(
    `${rows} rows of ${orders} orders, ${(table.length / 1e6).toFixed(1)} MB; the database is in ${stateDir}\n`,
  )
  const uploaded = await measured('upload', rows, () => upload(at, table))
  const file = { ...at, file_id: uploaded.result, external_source: 'shop' }
  const parsed = await measuredStage('parse', async () =>
    until((await made('/v1/data-imports', file)).id, 'mapping_columns'),
  )
  const { id } = parsed.result
  const all = [
    uploaded,
    parsed,
    await measuredStage('stage', () => staged(id)),
    await measuredStage('import', () => imported(id)),
  ]
  const seconds = all.reduce((sum, one) => sum + one.seconds, 0)
  const rate = rows / seconds
  const said = (isMet: boolean) => (isMet ? 'met' : 'MISSED')
  console.log(`${'upload to completed'.padEnd(28)} ${seconds.toFixed(1).padStart(7)} s ${Math.round(rate)} rows/s`)
  console.log(`at rest ${memoryText(atRest)}\nat most ${memoryText(peak)}`)
  console.log(
    `goals: ${goals.aSecond} rows/s ${said(rate >= goals.aSecond)}, under ${goals.megabytes} MB above rest ${said(peak.all - atRest.all < goals.megabytes)}`,
  )
  await measuredStage('undo', () => undone(id))
  if (isProfiled) showProfiles(profiles)
}

const callOf = (at: Tenant, call: number) => ({
  ...at,
  source: 'shop',
  orders: Array.from({ length: ordersPerCall }, (_, index) =>
    externalOrderOf({
      ...orderAt(call * ordersPerCall + index, 4 * floorCalls * ordersPerCall),
      // As in the table: three of four orders have a customer of their own. The others are by customers of the first call.
      customer: index < customersPerCall ? call * customersPerCall + index : index - customersPerCall,
    }),
  ),
})

/** The same orders by calls, and a bare loop of the statements of such calls. */
async function floors(): Promise<void> {
  const at = await newTenant('Floor')
  const path = '/v1/data-imports/external-orders'
  const token = server.rootToken
  const first = await client.post<{ created_orders: number }>(path, callOf(at, 0))
  if (first.created_orders !== ordersPerCall) throw new Error(`${first.created_orders} orders of a call were made.`)
  const total = floorCalls * ordersPerCall * 2.5
  let call = 1
  let written = 0
  for (let end = call + floorCalls; call < end; call++)
    written += (await client.post<{ rows_written: number }>('/floor/cost', { path, token, body: callOf(at, call) }))
      .rows_written
  const an = (written / floorCalls / ordersPerCall).toFixed(2)
  const end = call + floorCalls
  await measured('external orders, 100 a call', total, async () => {
    for (; call < end; call++) await client.post(path, callOf(at, call))
  })
  for (let more = call + floorCalls; call < more; call++)
    await client.post('/floor/write', { path, token, body: callOf(at, call) })
  await measured('a bare loop of them', total, async () => {
    for (let n = 0; n < floorCalls; n++) await client.post('/floor/write/next', {})
  })
  console.log(`${an} rows written an external order`)
}

try {
  if (withFloors) {
    await floors()
    console.log('')
  }
  await importTable()
} finally {
  await close()
}
