import { createShop, orderOf, readShop, startBenchServer, writeShop } from './bench/shop.ts'
import { createClient } from './support/client.ts'
import { ordersPerCall } from './support/external-order.ts'

const wanted = Number(process.env['ORDERS'] ?? 100_000)
const callsAtOnce = 4

const server = await startBenchServer()
try {
  const shop = (await readShop()) ?? (await createShop(server))
  const client = createClient(server.url, shop.token)
  const started = performance.now()
  const take = async (from: number) => {
    const orders = Array.from({ length: Math.min(ordersPerCall, wanted - from) }, (_, at) => orderOf(from + at))
    const { organization_id, edition_id } = shop
    await client.post('/v1/data-imports/external-orders', { organization_id, edition_id, source: 'bench', orders })
  }
  for (let from = shop.seeded; from < wanted; from += ordersPerCall * callsAtOnce) {
    const starts = Array.from({ length: callsAtOnce }, (_, at) => from + at * ordersPerCall).filter((at) => at < wanted)
    await Promise.all(starts.map(take))
    shop.seeded = Math.min(wanted, from + ordersPerCall * callsAtOnce)
    await writeShop(shop)
    if (shop.seeded % 10_000 === 0 || shop.seeded === wanted)
      console.log(`${shop.seeded} orders, ${Math.round((performance.now() - started) / 1000)} s`)
  }
  console.log(`${shop.seeded} orders are there.`)
} finally {
  await server.stop()
}
