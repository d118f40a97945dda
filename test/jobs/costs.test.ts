import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Reply } from '../support/api.ts'
import { withEngine } from '../support/campaign-engine.ts'
import { loadCampaign } from '../support/campaigns.ts'
import { acts, type ActName } from '../support/costs/acts.ts'
import { runBilledWorker } from '../support/costs/billed-worker.ts'
import { noUnits, type Unit, type Units, unitNames } from '../support/costs/prices.ts'
import { makeFreshPng } from '../support/files.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'
import {
  anOrder,
  givenOrders,
  givenTicket,
  seedShop,
  seedShopWithReceipts,
  type Shop,
} from '../support/seeding/sales/orders.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'

/** CPU time is left out, because it is not exact. */
const rounded = (units: Partial<Units>): Partial<Units> =>
  Object.fromEntries(
    unitNames.flatMap((name) => {
      const value = Number((units[name] ?? 0).toFixed(3))
      return value === 0 ? [] : [[name, value]]
    }),
  )

/** The measured cost must equal the stated cost to three decimals. Rows read cost little and may be fewer. */
function expectStated(name: ActName, measured: Units): void {
  const { rows_read = 0, ...measuredUnits } = rounded(measured)
  const { rows_read: statedReads, ...statedUnits } = acts[name].units
  expect([name, measuredUnits]).toEqual([name, statedUnits])
  expect(rows_read).toBeLessThanOrEqual(statedReads)
}

const expectOk = (reply: Reply): Reply => {
  expect(reply.status, reply.text).toBeLessThan(300)
  return reply
}

const buildOrders = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    anOrder({ items: [{ product: 'Day ticket', quantity: 1 + (index % 2), unit_price: 225 }] }),
  )

const sellTickets = async (shop: Shop, count: number) => {
  const tickets = []
  for (let index = 0; index < count; index++) tickets.push(await givenTicket(shop, { uses_limit: 3 }))
  return tickets
}

beforeEach(() => vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('', { status: 200 })))
afterEach(() => vi.restoreAllMocks())

describe('the documented cost', () => {
  it('equals the measured cost of a minute in which nothing is due', async () => {
    const { minute, drain, bill } = runBilledWorker()
    // During one hour of the night each minute also checks whether counts are due for a correction.
    vi.spyOn(Date, 'now').mockReturnValue(new Date().setUTCHours(12))
    // The first sweep creates the positions of sweeps.
    await minute()
    await drain()
    expectStated('idle_minute', await bill(minute))
  })

  it('equals the measured cost of a page of a list', async () => {
    const shop = await seedShop()
    await givenOrders(shop, buildOrders(100))
    await givenOrders(shop, buildOrders(100))
    const { request, bill } = runBilledWorker()
    const units = await bill(async () => {
      const { body } = expectOk(await request(`/v1/orders?edition_id=${shop.edition_id}&page_size=50`))
      expect([body.count, body.results.length]).toEqual([200, 50])
    })
    expectStated('list_page', units)
  })

  it('equals the measured cost of an order that a call imports', async () => {
    const shop = await seedShop()
    await givenOrders(shop, buildOrders(2))
    const { request, drain, bill } = runBilledWorker()
    const units = await bill(async () => {
      const { organization_id, edition_id } = shop
      const body = { organization_id, edition_id, source: 'webshop', orders: buildOrders(100) }
      expectOk(await request('/v1/data-imports/external-orders', { body }))
      await drain()
    }, 100)
    expectStated('order', units)
  })

  it('equals the measured cost of a row of a file', async () => {
    const shop = await seedShop()
    const { request, drain, bill } = runBilledWorker()
    const lines = Array.from({ length: 1000 }, (_, row) => {
      // Two of five rows make one order, and three make the next.
      const order = 2 * Math.floor(row / 5) + (row % 5 < 2 ? 0 : 1)
      return `F-${order},guest-${order}@example.dk,Guest ${order},Day ticket,225.00,2026-01-05T10:00:00Z`
    })
    const file = ['Order ID,Email,Customer name,Product,Unit price,Created', ...lines, ''].join('\n')
    const units = await bill(async () => {
      const { organization_id, edition_id } = shop
      const query = new URLSearchParams({ organization_id, edition_id, purpose: 'import' }).toString()
      const headers = {
        'content-type': 'text/csv',
        'content-disposition': 'attachment; filename="orders.csv"',
        'content-length': String(file.length),
      }
      const uploaded = expectOk(await request(`/v1/files?${query}`, { method: 'POST', raw: file, headers }))
      const input = { organization_id, edition_id, file_id: uploaded.body.id, external_source: 'shop' }
      const { id } = expectOk(await request('/v1/data-imports', { body: input })).body
      const path = `/v1/data-imports/${id}`
      await drain()
      expectOk(await request(`${path}/column-mappings/process`, { method: 'POST' }))
      await drain()
      const products = expectOk(await request(`${path}/product-mappings`)).body.results
      const mappings = products.map((product: { id: string }) => ({ id: product.id, action: 'create' }))
      expectOk(await request(`${path}/product-mappings`, { method: 'PATCH', body: { mappings } }))
      expectOk(await request(`${path}/start`, { body: {} }))
      await drain()
      expect(expectOk(await request(path)).body).toMatchObject({ status: 'completed', created_orders: 400 })
    }, 1000)
    expectStated('import_row', units)
  })

  it('equals the measured cost of a webhook', async () => {
    const [quiet, heard] = [await seedShop(), await seedShop()]
    const { id } = await seedOpenEndpoint({ organization_id: heard.organization_id })
    const { request, drain, bill } = runBilledWorker()
    const measureCost = async (shop: Shop) => {
      const tickets = await sellTickets(shop, 10)
      await drain()
      return bill(async () => {
        for (const ticket of tickets) {
          expectOk(await request(`/v1/purchases/${ticket.id}/uses`, { body: {} }))
          await drain()
        }
      }, 10)
    }
    const [without, withOne] = [await measureCost(quiet), await measureCost(heard)]
    const delivered = await db.all(
      sql`select id from webhook_deliveries where endpoint_id = ${id} and status = 'success'`,
    )
    expect(delivered).toHaveLength(10)
    const difference = unitNames.map((name): [Unit, number] => [name, withOne[name] - without[name]])
    expectStated('webhook', Object.fromEntries(difference) as Units)
  })

  it('equals the measured cost of a recipient of a campaign', async () => {
    const people = 1000
    const { campaign } = await seedReady(await seedCrowd(people))
    await write(sql`update campaigns set status = 'calculating', run = run + 1, version = version + 1,
      heartbeat_at = ${Date.now()} where id = ${campaign.id}`)
    await withEngine(campaign.id, { deduplicates: true }, async (engine) => {
      engine.provider.batch = 100
      engine.evict()
      await engine.wake()
      let turns = 0
      for (; turns < 20 && (await loadCampaign(campaign.id)).status !== 'sent'; turns++) {
        await engine.alarm()
        await engine.consume(1)
        engine.now += 3000
      }
      expect(await loadCampaign(campaign.id)).toMatchObject({ status: 'sent', sent_count: people })
      const sum = (count: (cursor: (typeof engine.cursors)[number]) => number) =>
        engine.cursors.reduce((total, cursor) => total + count(cursor), 0)
      // The number of rows read depends on what earlier tests left, so it is stated to the nearest twenty.
      const rowsRead = engine.meter.rows_read + sum((cursor) => cursor.rowsRead)
      const units: Units = {
        ...noUnits(),
        invocations: turns,
        rows_read: Math.round(rowsRead / 20) * 20,
        rows_written: engine.meter.rows_written + sum((cursor) => cursor.rowsWritten),
        queue_operations: 3 * engine.enqueued,
        // Each turn also runs an alarm.
        object_requests: engine.requests + turns,
      }
      expectStated(
        'campaign_recipient',
        Object.fromEntries(unitNames.map((name) => [name, units[name] / people])) as Units,
      )
    })
  })

  it('equals the measured cost of a refund', async () => {
    const shop = await seedShopWithReceipts()
    await seedMerchantAccount({ id: shop.organization_id }, {}, shop.edition_id)
    const tickets = await sellTickets(shop, 10)
    const { request, drain, bill } = runBilledWorker()
    await drain()
    const units = await bill(async () => {
      for (const { id } of tickets) {
        const body = { reason: 'customer_request' }
        const refund = expectOk(await request(`/v1/purchases/${id}/refund-requests`, { body }))
        expectOk(await request(`/v1/refund-requests/${refund.body.id}/approve`, { body: {} }))
        await drain()
        expect(expectOk(await request(`/v1/refund-requests/${refund.body.id}`)).body.status).toBe('completed')
      }
    }, 10)
    expectStated('refund', units)
  })

  it('equals the measured cost of an upload', async () => {
    const { organization_id } = await seedShop()
    const { request, bill } = runBilledWorker()
    const upload = () => {
      const bytes = makeFreshPng()
      const headers = { 'content-type': 'image/png', 'content-length': String(bytes.byteLength) }
      return request(`/v1/files?organization_id=${organization_id}`, { method: 'POST', raw: bytes, headers })
    }
    expectOk(await upload())
    expectStated('upload', await bill(async () => expectOk(await upload())))
  })
})
