import { createShop, orderOf, readShop, shopDir, startBenchServer, writeShop } from './bench/shop.ts'
import { databaseIn, fillOrders } from './bench/fill.ts'
import { createClient } from './support/client.ts'
import { ordersPerCall } from './support/external-order.ts'

/** The service imports the first orders, and they are copied by SQL: a million of them take minutes instead of hours. */
const wanted = Number(process.env['ORDERS'] ?? 1_000_000)
const imported = 300

if (await readShop()) throw new Error('There are orders already: give another BENCH_STATE_DIR.')
const server = await startBenchServer()
const shop = await createShop(server)
const { organization_id, edition_id } = shop
try {
  const client = createClient(server.url, shop.token)
  for (let from = 0; from < imported; from += ordersPerCall) {
    const orders = Array.from({ length: Math.min(ordersPerCall, imported - from) }, (_, at) => orderOf(from + at))
    await client.post('/v1/data-imports/external-orders', { organization_id, edition_id, source: 'bench', orders })
  }
} finally {
  await server.stop()
}
const started = performance.now()
const database = databaseIn(shopDir)
try {
  shop.seeded = fillOrders(database, wanted)
} finally {
  database.close()
}
await writeShop(shop)
console.log(`${shop.seeded} orders are there, by SQL in ${((performance.now() - started) / 1000).toFixed(1)} s.`)
