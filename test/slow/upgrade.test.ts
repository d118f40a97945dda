import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { databaseIn } from '../../scripts/bench/fill.ts'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { root, wranglerProgram } from '../../scripts/support/paths.ts'
import { startNode } from '../../scripts/support/processes.ts'
import { type Server, startServer } from '../../scripts/support/server.ts'
import orders from './upgrade/orders-0054.json' with { type: 'json' }

/**
 * A database of an older version, with 100,000 orders, is migrated as a deployment does it. `upgrade/` holds what that
 * version stored of 20 orders, and how its API answered for them.
 */
const version = '0054'
const wanted = 100_000
const copies = wanted / orders.length - 1
const separator = 'char(31)'

let stateDir: string
let server: Server
let client: Client

const newId = (id: string) => `substr(${id}, 1, 18) || printf('%06d', copies.n) || substr(${id}, -6)`
const newEmail = (email: string) => `replace(${email}, '@', '-' || copies.n || '@')`
const newNumber = "(own.order_number || '-' || copies.n)"
const newTime = 'own.created_at + copies.n * 60000'
const newExternalId = "own.external_id || '-' || copies.n"

/** Texts that orders are found by, as that version wrote them: number, id, payment and external id, then the address. */
const search = [newNumber, newId('own.id'), newId('own.completed_transaction_id'), newExternalId]
  .map((text) => `coalesce(lower(${text}) || ${separator}, '')`)
  .join(' || ')

/** What a copy has in place of the values of its original. */
const changes: Record<string, Record<string, string>> = {
  users: {
    id: newId('own.id'),
    email: newEmail('own.email'),
    email_folded: newEmail('own.email_folded'),
    search: newEmail('own.search'),
  },
  user_editions: {
    user_id: newId('own.user_id'),
    email: newEmail('own.email'),
    email_folded: newEmail('own.email_folded'),
  },
  orders: {
    id: newId('own.id'),
    user_id: newId('own.user_id'),
    order_number: newNumber,
    number_folded: newNumber,
    number_key: `own.number_key || '-' || copies.n`,
    external_id: newExternalId,
    completed_transaction_id: newId('own.completed_transaction_id'),
    search_own: search,
    search: `${search} || (select ${newEmail('email_folded')} from users where id = own.user_id)`,
    created_at: newTime,
  },
  carts: { id: newId('own.id'), order_id: newId('own.order_id'), created_at: newTime },
  cart_items: { id: newId('own.id'), order_id: newId('own.order_id') },
  transactions: { id: newId('own.id'), order_id: newId('own.order_id') },
  purchases: { id: newId('own.id'), order_id: newId('own.order_id'), user_id: newId('own.user_id') },
}

function fill(database: DatabaseSync): void {
  database.exec('pragma foreign_keys = off; pragma synchronous = off; begin')
  for (const [table, changed] of Object.entries(changes)) {
    const columns = database
      .prepare('select name from pragma_table_info(?)')
      .all(table)
      .map(({ name }) => String(name))
      .filter((name) => name !== 'seq')
    database.exec(`insert into ${table} (${columns.join(', ')})
      with recursive copies (n) as (select 1 union all select n + 1 from copies where n < ${copies})
      select ${columns.map((name) => changed[name] ?? `own.${name}`).join(', ')}
      from copies cross join (select * from ${table}) as own`)
  }
  database.exec(`update list_sizes set people = people * ${copies + 1}, all_orders = all_orders * ${copies + 1},
    all_purchases = all_purchases * ${copies + 1}; commit`)
}

/** Applies the migrations up to the older version by wrangler, as its deployment did. */
async function migrateToOlderVersion(): Promise<void> {
  const folder = join(stateDir, 'older')
  await mkdir(join(folder, 'migrations'), { recursive: true })
  for (const name of await readdir(join(root, 'migrations')))
    if (name.slice(0, 4) <= version) await cp(join(root, 'migrations', name), join(folder, 'migrations', name))
  await writeFile(join(folder, 'wrangler.toml'), await readFile(join(root, 'wrangler.toml')))
  const config = join(folder, 'wrangler.toml')
  const program = [wranglerProgram, 'd1', 'migrations', 'apply', 'DB', '--local', '--persist-to', stateDir]
  const { code, output } = await startNode([...program, '--config', config], { env: {} }).ended
  expect(code, output).toBe(0)
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'slow-upgrade-'))
  await migrateToOlderVersion()
  const database = databaseIn(stateDir)
  database.exec('pragma foreign_keys = off')
  database.exec(await readFile(join(import.meta.dirname, 'upgrade', `rows-${version}.sql`), 'utf8'))
  fill(database)
  expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
  database.close()
  server = await startServer({ port: 0, stateDir, env: { RATE_LIMIT_PER_MINUTE: '0' } })
  client = createClient(server.url, server.rootToken)
}, 600_000)
afterAll(async () => {
  await server?.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
}, 60_000)

interface Listed {
  id: string
}

const [original = expect.unreachable()] = orders.slice(3)
const list = (query: Record<string, string>) =>
  client.get<Page<Listed>>(
    `/v1/orders?${new URLSearchParams({ edition_id: original.edition.id, ...query }).toString()}`,
  )

it('the orders of the older version are answered as it answered them', async () => {
  for (const order of orders) expect(await client.get(`/v1/orders/${order.id}`)).toMatchObject(order)
})

it('a copied order has the parts of its original', async () => {
  for (const order of orders.slice(0, 5)) {
    const copyOf = (id: string) => `${id.slice(0, 18)}003456${id.slice(-6)}`
    const copy = await client.get<typeof order>(`/v1/orders/${copyOf(order.id)}`)
    const items = order.cart.items.map((item) => ({ ...item, id: copyOf(item.id) }))
    expect(copy.cart).toMatchObject({ ...order.cart, id: copyOf(order.cart.id), items, created: copy.created })
    expect(copy.purchases.map(({ id }) => id)).toEqual(order.purchases.map(({ id }) => copyOf(id)))
  }
})

it('counts of orders are exact after the migrations', async () => {
  expect((await list({})).count).toBe(wanted)
  const statuses = Map.groupBy(orders, ({ status }) => status)
  for (const [status, { length }] of statuses) expect((await list({ status })).count).toBe(length * (copies + 1))
})

it('orders and customers are found by their texts', async () => {
  expect((await list({ search: '5003-4321' })).count).toBe(1)
  const { customer, organization } = original
  const email = customer.email.replace('@', '-2222@')
  const theirs = orders.filter((order) => order.customer.email === customer.email)
  expect((await list({ search: email })).count).toBe(theirs.length)
  const query = new URLSearchParams({ organization_id: organization.id, search: email })
  expect((await client.get<Page<Listed>>(`/v1/user?${query.toString()}`)).count).toBe(1)
})
