import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch, type Launcher } from '../support/launcher.ts'

const token = 'root-token-of-sales-exports'
/** Far more than the sockets between the server and its client hold. */
const orderCount = 60_000

let folder: string
let server: Launcher
let edition: string

async function post<Answer>(path: string, body: object): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Answer
}

function onDisk(statements: string): void {
  const [file] = globSync(join(folder, 'state/v3/d1/*/*.sqlite')).filter((path) => !path.endsWith('metadata.sqlite'))
  if (!file) throw new Error('there is no database')
  const database = new DatabaseSync(file, { timeout: 10_000 })
  try {
    database.exec(statements)
  } finally {
    database.close()
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sales-exports-'))
  server = await launch({ STATE_DIR: join(folder, 'state'), ROOT_TOKEN: token, RATE_LIMIT_PER_MINUTE: '0' })
  await server.ready
  const organization = await post<{ id: string }>('/v1/organizations', { name: 'Nordlys' })
  const event = await post<{ id: string }>('/v1/events', { organization_id: organization.id, name: 'Festival' })
  const ids = { organization_id: organization.id, event_id: event.id }
  edition = (await post<{ id: string }>('/v1/editions', { ...ids, name: '2026' })).id
  const order = {
    external_id: 'A-1',
    currency: 'dkk',
    customer: { email: 'guest@example.dk', first_name: 'Ægir', last_name: 'Holm' },
    items: [{ product: 'Day ticket', quantity: 1, unit_price: 225 }],
  }
  await post('/v1/data-imports/external-orders', {
    organization_id: organization.id,
    edition_id: edition,
    source: 'shop',
    orders: [order],
  })
  // Copies of the order and its purchase, with ids in the order of their creation.
  onDisk(`
    create temporary table numbers as with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${orderCount - 1})
      select n from numbers;
    insert into orders (id, organization_id, edition_id, user_id, type, status, amount_minor, currency, items_count, has_payment,
        cart, external_source, external_id, created_at, modified_at, search_text)
      select 'ord_' || printf('%026d', n), organization_id, edition_id, user_id, type, status, amount_minor, currency, items_count,
        has_payment, cart, external_source, 'B-' || n, created_at + n, modified_at, 'b-' || n from orders cross join numbers;
    insert into purchases (id, edition_id, order_id, user_id, product_id, status, price_minor, deposit_minor,
        handling_fee_minor, created_at, modified_at)
      select 'pur_' || printf('%026d', n), edition_id, 'ord_' || printf('%026d', n), user_id, product_id, status, price_minor,
        deposit_minor, handling_fee_minor, created_at + n, modified_at from purchases cross join numbers`)
}, 300_000)
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const open = (path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, headers: { authorization: `Bearer ${token}` } }
    request(options, resolve).on('error', reject).end()
  })

/** Reads to the end. `isComplete` is what HTTP says: false when the connection broke before the last chunk. */
async function readToEnd(response: IncomingMessage): Promise<{ text: string; isComplete: boolean }> {
  let text = ''
  response.setEncoding('utf8')
  const ended = new Promise<void>((resolve) => {
    response.on('close', resolve).on('error', () => {})
  })
  response.on('data', (part: string) => {
    text += part
  })
  response.resume()
  await ended
  return { text, isComplete: response.complete }
}

const readLines = (text: string): string[] => text.split('\n').filter(Boolean)

it.each([
  ['orders', 'transactions'],
  ['purchases', 'variants'],
])(
  'a file of %s breaks off when the database fails, and continues after its last complete row',
  async (name, brokenTable) => {
    const path = `/v1/${name}/export?edition_id=${edition}&format=ndjson`
    const whole = await readToEnd(await open(path))
    expect([whole.isComplete, readLines(whole.text).length]).toEqual([true, orderCount])

    const response = await open(path)
    expect(response.statusCode).toBe(200)
    response.pause()
    // The server waits for its client, so most pages are not read yet.
    await wait(1000)
    onDisk(`alter table ${brokenTable} rename to broken`)
    const cut = await readToEnd(response)
    onDisk(`alter table broken rename to ${brokenTable}`)
    expect(cut.isComplete).toBe(false)
    const rows = readLines(cut.text.slice(0, cut.text.lastIndexOf('\n') + 1))
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.length).toBeLessThan(orderCount)

    const { id } = JSON.parse(rows.at(-1) ?? '') as { id: string }
    const rest = await readToEnd(await open(`${path}&after=${id}`))
    expect(rest.isComplete).toBe(true)
    expect([...rows, ...readLines(rest.text)].join('\n')).toBe(readLines(whole.text).join('\n'))
  },
  120_000,
)
