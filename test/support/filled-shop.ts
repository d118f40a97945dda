import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { databaseIn } from '../../scripts/bench/fill.ts'
import type { Shop } from '../../scripts/bench/shop.ts'
import { type Client, createClient } from '../../scripts/support/client.ts'
import { root } from '../../scripts/support/paths.ts'
import { startServer } from '../../scripts/support/server.ts'
import type { DatabaseSync } from 'node:sqlite'
import { addNeighbours, addRareTexts, endpointId } from './many-rows.ts'

/** ORDERS=20000 for a shorter run; BENCH_STATE_DIR names a folder that `npm run bench:fill` has filled. */
const wanted = Number(process.env['ORDERS'] ?? 200_000)
const filledDir = process.env['BENCH_STATE_DIR']

interface ListCost {
  rows_read: number
  status: number
}

export interface FilledShop {
  url: string
  client: Client
  shop: Shop
  /** A token with a role in the edition alone. */
  editionToken: string
  /** A token with a role in each of these editions of the organisation alone. */
  tokenOf: (...editionIds: readonly string[]) => Promise<string>
  /** Rows that a request reads, its count and the look-up of its caller included. */
  rowsOf: (path: string, token?: string) => Promise<number>
  /** The same, and the status of the answer. */
  costOf: (path: string, token?: string) => Promise<ListCost>
  close: () => Promise<void>
}

/** A server of a shop with many orders and their neighbours, which sweeps have counted. */
async function openFilledShop(add?: (database: DatabaseSync) => void): Promise<FilledShop> {
  const stateDir = filledDir ?? (await mkdtemp(join(tmpdir(), 'slow-orders-')))
  const env = { ...process.env, BENCH_STATE_DIR: stateDir, ORDERS: String(wanted) }
  if (!filledDir) await promisify(execFile)(process.execPath, [join(root, 'scripts/bench-fill.ts')], { cwd: root, env })
  const shop = JSON.parse(await readFile(join(stateDir, 'bench.json'), 'utf8')) as Shop
  const database = databaseIn(stateDir)
  expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
  addNeighbours(database)
  addRareTexts(database)
  add?.(database)
  database.close()
  const program = 'scripts/bench/worker.ts'
  const server = await startServer({ port: 0, stateDir, env: { RATE_LIMIT_PER_MINUTE: '0' }, program })
  const client = createClient(server.url, shop.token)
  // Sweeps count what is some minutes old, a part each minute.
  while ((await client.post<{ rows_written: number }>('/floor/sweeps', {})).rows_written > 0);
  const superuser = createClient(server.url, server.rootToken)
  const tokenOf = async (...editionIds: readonly string[]): Promise<string> => {
    const email = `viewer-${editionIds[0]}-${Date.now()}@example.com`
    let member_id = ''
    for (const edition_id of editionIds) {
      const viewer = { email, role: 'viewer', edition_id }
      const made = await superuser.post<{ id: string }>(`/v1/organizations/${shop.organization_id}/members`, viewer)
      member_id = made.id
    }
    const { token } = await superuser.post<{ token: string }>('/v1/auth/tokens', { name: 'viewer', member_id })
    return token
  }
  const costOf = (path: string, token = shop.token): Promise<ListCost> =>
    client.post('/floor/read/list', { path, token })
  return {
    url: server.url,
    client,
    shop,
    editionToken: await tokenOf(shop.edition_id),
    tokenOf,
    costOf,
    rowsOf: async (path, token) => {
      const cost = await costOf(path, token)
      expect([path, cost.status]).toEqual([path, 200])
      return cost.rows_read
    },
    close: async () => {
      await server.stop()
      if (!filledDir) await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

interface Documented {
  paths: Record<string, { get?: { parameters?: { name: string; description?: string }[] } }>
}

interface ListCase {
  path: string
  orderings: string[]
}

const keysOf = (description = ''): string[] => /Keys: ([\w, ]+)\./.exec(description)?.[1]?.split(', ') ?? []

/** Every list that is found by no id but its organisation's and its edition's, as one of each. */
export async function listsOf({ client, shop }: FilledShop): Promise<ListCase[]> {
  const { paths } = await client.get<Documented>('/openapi.json')
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const parameters = get?.parameters ?? []
    const named = (name: string) => parameters.find((parameter) => parameter.name === name)
    const orderings = keysOf(named('ordering')?.description)
    const at = path.replace('/v1/webhooks/{id}/', `/v1/webhooks/${endpointId}/`)
    if (!orderings.length || !named('page_size') || at.includes('{')) return []
    const places = (['edition_id', 'organization_id'] as const).filter((name) => named(name))
    return (places.length ? places : ['']).map((name) => ({
      path: `${at}?page_size=50${name ? `&${name}=${shop[name as 'edition_id']}` : ''}`,
      orderings,
    }))
  })
}

/** Rows that a page of 50 may read, its count included. */
export const goal = 600

/** Opens the shop before the tests of a file, and closes it behind them. */
export function useFilledShop(use: (filled: FilledShop) => void, add?: (database: DatabaseSync) => void): void {
  let filled: FilledShop | undefined
  beforeAll(async () => {
    filled = await openFilledShop(add)
    use(filled)
  }, 1_200_000)
  afterAll(() => filled?.close(), 60_000)
}
