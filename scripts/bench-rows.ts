import { type Shop, readShop, startBenchServer } from './bench/shop.ts'
import { createClient } from './support/client.ts'

interface ReadCost {
  status: number
  queries: number
  rows_read: number
  sql_ms: number
}

/**
 * Prints how many rows lists read and for how long, each twice: the second request finds what the first one kept. Arguments are paths, in
 * which `{edition}` and `{organization}` are those of the shop.
 */
const paths = process.argv.slice(2)
if (paths.length === 0) throw new Error('Name a path: npm run bench:rows -- "/v1/orders?edition_id={edition}"')
const shop: Shop | null = await readShop()
if (!shop) throw new Error('There are no orders yet: npm run bench:fill')
const server = await startBenchServer()
try {
  const client = createClient(server.url, shop.token)
  // Sweeps count what is some minutes old, a part each minute.
  while ((await client.post<{ rows_written: number }>('/floor/sweeps', {})).rows_written > 0);
  for (const asked of paths) {
    const path = asked.replaceAll('{edition}', shop.edition_id).replaceAll('{organization}', shop.organization_id)
    for (const request of ['first', 'second']) {
      const cost = await client.post<ReadCost>('/floor/read/list', { path, token: shop.token })
      const result =
        cost.status === 200
          ? `${cost.rows_read} rows, ${cost.queries} queries, ${cost.sql_ms.toFixed(1)} ms of SQL`
          : `status ${cost.status}`
      console.log(`${request.padEnd(6)}  ${result.padEnd(40)}  ${path}`)
    }
  }
} finally {
  await server.stop()
}
