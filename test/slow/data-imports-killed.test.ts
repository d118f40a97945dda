import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { everyMinute } from '../../scripts/support/server.ts'
import { launch, type Launcher } from '../support/launcher.ts'

const token = 'root-token-of-data-imports'
const rows = 60_000
const rowsAnOrder = 2
const orders = rows / rowsAnOrder

let folder: string
let server: Launcher

async function start(): Promise<void> {
  server = await launch({ STATE_DIR: join(folder, 'state'), ROOT_TOKEN: token })
  await server.ready
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-imports-'))
  await start()
}, 300_000)
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

function descendants(of: number, all = processes()): number[] {
  const children = all.filter(({ parent }) => parent === of).map(({ pid }) => pid)
  return [...children, ...children.flatMap((pid) => descendants(pid, all))]
}

const processes = () =>
  execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0]) => ({ pid, parent }))

async function call<Answer>(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> {
  const sent = typeof body === 'string' ? body : JSON.stringify(body)
  const name = { 'content-disposition': 'attachment; filename="orders.csv"' }
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type, ...name }) },
    ...(body === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return JSON.parse(text) as Answer
}

interface DataImport {
  id: string
  status: string
  created_orders: number
  processed_rows: number
  undone_orders: number
}

function onDisk<Result>(work: (database: DatabaseSync) => Result): Result {
  const [file] = globSync(join(folder, 'state/v3/d1/*/*.sqlite')).filter((path) => !path.endsWith('metadata.sqlite'))
  if (!file) throw new Error('there is no database')
  const database = new DatabaseSync(file, { timeout: 10_000 })
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Counts the rows of each table except those of the search indexes, which follow from others. */
const tableCounts = (): Record<string, number> =>
  onDisk((database) => {
    const tables = database.prepare(
      `select name from sqlite_schema where type = 'table' and name not like '%\\_cf\\_%' escape '\\'
        and name not like '%\\_search%' escape '\\' and name <> 'sqlite_sequence'`,
    )
    return Object.fromEntries(
      tables.all().map(({ name }) => {
        const [row] = database.prepare(`select count(*) as count from "${String(name)}"`).all()
        return [String(name), Number(row?.['count'])]
      }),
    )
  })

/** Tables that a start and an undo change: audit entries, mappings, ranges of orders, sweeps, and the import's event. */
const changedTables = new Set([
  'audit_log',
  'import_header_history',
  'import_product_history',
  'import_source_history',
  'order_counts',
  'sales_series',
  'sweep_positions',
  'sweep_runs',
  'webhook_events',
])
const withoutKept = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => !changedTables.has(name)))

/** Reads the import until it has the expected state. */
async function until(id: string, is: (row: DataImport) => boolean): Promise<DataImport> {
  for (;;) {
    const row = await call<DataImport>('GET', `/v1/data-imports/${id}`)
    if (is(row)) return row
    if (row.status === 'failed') throw new Error(JSON.stringify(row))
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

async function kill(): Promise<void> {
  const processTree = descendants(server.pid)
  server.kill('SIGKILL')
  for (const pid of processTree) process.kill(pid, 'SIGKILL')
  await server.ended
}

/** Kills the server and starts it again, as if the two minutes had passed after which the sweep continues. */
async function killAndGoOn(): Promise<void> {
  await kill()
  onDisk((database) => database.exec('update data_imports set heartbeat_at = 1 where heartbeat_at is not null'))
  await start()
  await fetch(`http://127.0.0.1:${server.port}${everyMinute}`)
}

const table = (): string => {
  const lines = Array.from({ length: rows }, (_, at) => {
    const order = Math.floor(at / rowsAnOrder)
    return `K-${order};guest-${order}@example.dk;Day ticket;1;225,50;2026-01-05`
  })
  return `Order ID;E-mail;Product;Quantity;Unit price;Order date\r\n${lines.join('\r\n')}\r\n`
}

const create = (path: string, body: object) => call<{ id: string }>('POST', path, body)

/** Maps the columns and products of the table so that its import can start. */
async function staged(): Promise<{ id: string; edition_id: string }> {
  const { id: organization_id } = await create('/v1/organizations', { name: 'Imports' })
  const { id: event_id } = await create('/v1/events', { organization_id, name: 'Imports' })
  const { id: edition_id } = await create('/v1/editions', { organization_id, event_id, name: '2027' })
  const upload = `/v1/files?${new URLSearchParams({ organization_id, edition_id, purpose: 'import' }).toString()}`
  const { id: file_id } = await call<{ id: string }>('POST', upload, table(), 'text/csv')
  const place = { organization_id, edition_id, file_id, external_source: 'shop' }
  const { id } = await create('/v1/data-imports', place)
  await until(id, ({ status }) => status === 'mapping_columns')
  await call('POST', `/v1/data-imports/${id}/column-mappings/process`)
  const { status } = await until(id, (row) => row.status === 'mapping_products' || row.status === 'ready')
  if (status === 'mapping_products') {
    const path = `/v1/data-imports/${id}/product-mappings`
    const { results } = await call<{ results: { id: string }[] }>('GET', path)
    await call('PATCH', path, { mappings: results.map((product) => ({ id: product.id, action: 'create' })) })
  }
  return { id, edition_id }
}

it('an import of 60,000 rows makes each order once after three kills, and its undo survives one', async () => {
  const { id, edition_id } = await staged()
  const before = tableCounts()
  await call('POST', `/v1/data-imports/${id}/start`, {})
  for (const share of [0.2, 0.5, 0.8]) {
    const row = await until(id, ({ created_orders }) => created_orders >= share * orders)
    expect(row.status).toBe('importing')
    await killAndGoOn()
  }
  const row = await until(id, ({ status }) => status !== 'importing')
  expect(row).toMatchObject({ status: 'completed', created_orders: orders, processed_rows: rows })
  const count = async (path: string) => (await call<{ count: number }>('GET', path)).count
  expect(await count(`/v1/orders?edition_id=${edition_id}&page_size=1`)).toBe(orders)
  expect(await count(`/v1/purchases?edition_id=${edition_id}&page_size=1`)).toBe(rows)
  expect(await count(`/v1/data-imports/${id}/rows?outcome=created&page_size=1`)).toBe(rows)
  expect(tableCounts()).toMatchObject({
    orders,
    transactions: orders,
    purchases: rows,
    users: orders,
    edition_customers: orders,
    products: 1,
  })

  await call('POST', `/v1/data-imports/${id}/undo`)
  const half = await until(id, ({ undone_orders }) => undone_orders >= orders / 2)
  expect(half.status).toBe('undoing')
  await killAndGoOn()
  expect(await until(id, ({ status }) => status !== 'undoing')).toMatchObject({
    status: 'undone',
    undone_orders: orders,
  })
  expect(withoutKept(tableCounts())).toEqual(withoutKept(before))
}, 1_800_000)
