import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { create, createPlace, type Place } from '../../scripts/support/place.ts'
import { type Receiver, startReceiver } from '../../scripts/support/receiver.ts'
import { type Server, startServer } from '../../scripts/support/server.ts'
import { type FakeProvider, startFakeProvider } from '../support/fake-provider.ts'
import { endClaims, ownSecrets } from '../support/own-server.ts'
import { listProcesses } from '../support/receiving.ts'

const orders = 100
const recipients = 600
const rows = 4000
const hook = '/hook'

let provider: FakeProvider
let receiver: Receiver
let stateDir: string
let server: Server
let client: Client

beforeAll(async () => {
  provider = await startFakeProvider()
  receiver = await startReceiver()
  stateDir = await mkdtemp(join(tmpdir(), 'serve-killed-'))
  await start()
})
afterAll(async () => {
  await server?.stop()
  await receiver?.stop()
  await provider?.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
})

async function start(): Promise<void> {
  const env = {
    ...ownSecrets,
    PUBLIC_URL: 'https://events.example.com',
    RATE_LIMIT_PER_MINUTE: '0',
    EMAIL_PROVIDER: 'resend',
    EMAIL_API_BASE: provider.url,
    EMAIL_API_KEY: 're_local',
  }
  const program = 'test/slow/serve/receiver-worker.ts'
  server = await startServer({ port: 0, stateDir, env, isProduction: true, program })
  client = createClient(server.url, server.rootToken)
}

/** Kills all processes of the server, as a power cut would, and starts another one once the claims have ended. */
async function kill(): Promise<void> {
  for (const pid of listProcesses(stateDir)) process.kill(pid, 'SIGKILL')
  await server.ended
  endClaims(stateDir)
  await start()
}

/** Makes an edition whose orders have receipts, with an endpoint that hears of them. */
async function givenPlace(): Promise<Place> {
  const place = await createPlace(client, 'Nordlys')
  const { organization_id, edition_id } = place
  const receipt = await givenMessage({ organization_id }, { type: 'receipt', scope: 'template' })
  await client.patch(`/v1/editions/${edition_id}`, { transaction_receipt_email_id: receipt })
  const url = `https://hooks.example.com/${new URL(receiver.url('')).port}${hook}`
  await create(client, '/v1/webhooks', { organization_id, name: 'Hook', url, events: ['purchase.action'] })
  return place
}

async function givenMessage(place: object, fields: object): Promise<string> {
  const id = await create(client, '/v1/email-messages', {
    ...place,
    title: 'Hello',
    subject: { en: 'Hello' },
    ...fields,
  })
  const blocks = [{ type: 'rich_text', data: { text: { en: '<p>Hello {{ customer.first_name }}</p>' } } }]
  await client.patch(`/v1/email-messages/${id}`, { blocks })
  return id
}

async function sell(place: Place, prefix: string, count: number, fields: object = {}): Promise<void> {
  for (let first = 0; first < count; first += 100)
    await client.post('/v1/data-imports/external-orders', {
      ...place,
      source: 'shop',
      ...fields,
      orders: Array.from({ length: Math.min(100, count - first) }, (_, at) => ({
        external_id: `${prefix}-${first + at}`,
        currency: 'dkk',
        customer: { email: `${prefix}-${first + at}@example.com`, first_name: 'Astrid' },
        items: [{ product: 'Day ticket', quantity: 1, unit_price: 225 }],
      })),
    })
}

async function givenCampaign(place: Place): Promise<string> {
  const segment_id = await create(client, '/v1/segments', {
    ...place,
    name: 'Everyone',
    communication_type: 'transactional',
    communication_channel: 'email',
    expression: 'stats.order_count >= 1',
  })
  const email_message_id = await givenMessage(place, { type: 'campaign' })
  return create(client, '/v1/campaigns', { ...place, segment_id, email_message_id, name: 'News', channel: 'email' })
}

interface DataImport {
  status: string
  created_orders: number
}

const loadImport = (id: string) => client.get<DataImport>(`/v1/data-imports/${id}`)

async function waitForImport(id: string, statuses: string[]): Promise<void> {
  await expect.poll(async () => (await loadImport(id)).status, { timeout: 60_000 }).toBeOneOf(statuses)
}

/** Uploads a table of orders, and maps its columns and products so that its import can start. */
async function givenImport(place: Place): Promise<string> {
  const lines = Array.from({ length: rows }, (_, at) => `K-${at};file-${at}@example.dk;Day ticket;1;225,50;2026-01-05`)
  const table = `Order ID;E-mail;Product;Quantity;Unit price;Order date\r\n${lines.join('\r\n')}\r\n`
  const query = new URLSearchParams({ ...place, purpose: 'import' }).toString()
  const { id: file_id } = await client.upload<{ id: string }>(`/v1/files?${query}`, table, {
    'content-type': 'text/csv',
    'content-disposition': 'attachment; filename="orders.csv"',
  })
  const id = await create(client, '/v1/data-imports', { ...place, file_id, external_source: 'file' })
  await waitForImport(id, ['mapping_columns'])
  await client.post(`/v1/data-imports/${id}/column-mappings/process`, {})
  await waitForImport(id, ['mapping_products', 'ready'])
  if ((await loadImport(id)).status === 'ready') return id
  const path = `/v1/data-imports/${id}/product-mappings`
  const { results } = await client.get<Page<{ id: string }>>(path)
  await client.patch(path, { mappings: results.map((product) => ({ id: product.id, action: 'create' })) })
  return id
}

describe('a server that is killed in the middle of everything', () => {
  it('delivers each webhook with one id, sends each mail once, and ends its campaign and its import', async () => {
    const place = await givenPlace()
    await sell(place, 'before', recipients)
    const [campaign, dataImport] = [await givenCampaign(place), await givenImport(place)]
    provider.delay(300)
    await client.post(`/v1/data-imports/${dataImport}/start`, {})
    await client.post(`/v1/campaigns/${campaign}/send-now`, {})
    await sell(place, 'during', orders, { emit_webhooks: true, send_receipts: true })
    const hasBegun = async () =>
      receiver.counts(hook).size > 0 &&
      provider.accepted().length > 0 &&
      (await loadImport(dataImport)).created_orders > 0
    await expect.poll(hasBegun, { timeout: 60_000, interval: 10 }).toBe(true)
    await kill()

    const load = () => client.get<{ status: string; total_recipients: number }>(`/v1/campaigns/${campaign}`)
    const getStatuses = async () => [(await load()).status, (await loadImport(dataImport)).status]
    await expect.poll(getStatuses, { timeout: 150_000, interval: 500 }).toEqual(['sent', 'completed'])
    // Customers of the import are among the recipients if they were there when the campaign began.
    const { total_recipients } = await load()
    expect(total_recipients).toBeGreaterThanOrEqual(recipients)
    await expect.poll(() => receiver.counts(hook).size, { timeout: 60_000 }).toBe(orders)
    await expect.poll(() => provider.counts().size, { timeout: 60_000 }).toBe(total_recipients + orders)
    expect([...provider.counts().values()].filter((times) => times !== 1)).toEqual([])
    const { count } = await client.get<Page<object>>(`/v1/orders?edition_id=${place.edition_id}&page_size=1`)
    expect(count).toBe(recipients + orders + rows)
    expect(await loadImport(dataImport)).toMatchObject({ created_orders: rows })
  })
})
