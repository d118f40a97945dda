import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createClient } from '../support/client.ts'
import { root } from '../support/paths.ts'
import { type Server, startServer } from '../support/server.ts'

const shopDir = process.env['BENCH_STATE_DIR'] ?? '.wrangler/bench'
const shopFile = join(resolve(root, shopDir), 'bench.json')

/** Where the orders of the bench are, and who may read them. */
export interface Shop {
  organization_id: string
  edition_id: string
  token: string
  seeded: number
}

export const startBenchServer = (): Promise<Server> =>
  startServer({
    port: 0,
    stateDir: shopDir,
    env: { RATE_LIMIT_PER_MINUTE: '0' },
    program: 'scripts/bench/worker.ts',
    hasCron: false,
  })

export async function readShop(): Promise<Shop | null> {
  const text = await readFile(shopFile, 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Shop)
}

export const writeShop = (shop: Shop): Promise<void> => writeFile(shopFile, JSON.stringify(shop), { mode: 0o600 })

interface Created {
  id: string
}

export async function createShop(server: Server): Promise<Shop> {
  const client = createClient(server.url, server.rootToken)
  const organization = await client.post<Created>('/v1/organizations', { name: 'Bench' })
  const event = await client.post<Created>('/v1/events', { organization_id: organization.id, name: 'Bench' })
  const edition = await client.post<Created>('/v1/editions', {
    organization_id: organization.id,
    event_id: event.id,
    name: 'Measured',
  })
  const member = await client.post<Created>(`/v1/organizations/${organization.id}/members`, {
    email: 'bench@example.com',
    role: 'admin',
  })
  const { token } = await client.post<{ token: string }>('/v1/auth/tokens', { name: 'bench', member_id: member.id })
  const shop = { organization_id: organization.id, edition_id: edition.id, token, seeded: 0 }
  await writeShop(shop)
  return shop
}

const firstNames = ['Ægir', 'Łucja', 'Søren', 'Ingrid', 'Jan', 'Ada', 'Björn', 'Zoë']
const statuses = ['completed', 'completed', 'completed', 'confirmed', 'pending', 'cancelled']

/** Order number `index`, always the same: a third of the customers come back. */
export const orderOf = (index: number, prefix = 'B') => {
  const customer = index % 3 === 0 ? Math.floor(index / 2) : index
  return {
    external_id: `${prefix}-${index}`,
    order_number: String(1_000_000 + index),
    status: statuses[index % statuses.length],
    created: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
    currency: 'dkk',
    customer: {
      email: `customer-${prefix.toLowerCase()}-${customer}@example.com`,
      first_name: firstNames[customer % firstNames.length],
      last_name: `Holm ${customer}`,
    },
    items: [{ product: `Ticket ${index % 12}`, quantity: 1 + (index % 2), unit_price: 100 + (index % 50) }],
  }
}
