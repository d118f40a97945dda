import { readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient, type Page } from '../../scripts/support/client.ts'
import { root } from '../../scripts/support/paths.ts'
import { listReleases, readReleaseDatabase } from '../../scripts/support/release/stored-releases.ts'
import { readShape } from '../../scripts/support/schema/read-shape.ts'
import type { Server, startServer } from '../../scripts/support/server.ts'
import { placeDatabase, unpackVersion } from '../support/released-version.ts'
import { startTraffic } from '../support/traffic.ts'

type Migration = Awaited<ReturnType<typeof readD1Migrations>>[number]

const lastRelease = (await listReleases()).at(-1)!

/** Migrations as a later version may have them. */
const laterFiles = {
  '9001_add_labels.sql': `alter table orders add column label text not null default 'none';
create table order_labels (
  order_id text primary key references orders (id),
  label text not null
) strict, without rowid;
create trigger order_labelled after insert on orders begin
  insert into order_labels values (new.id, new.label);
end;`,
  '9002_fill_labels.sql': `insert or ignore into order_labels select id, label from orders;
update orders set label = 'old' where seq > 0;`,
  '9003_index_labels.sql': 'create index orders_by_label on orders (edition_id, label);',
}
const brokenFile = `create table half_made (id text primary key) strict;
update orders set label = 'half made';
insert into no_such_table values (1);`
const incompatibleFile = 'alter table orders rename column items_count to item_count;'

let folder: string
let state: string
let path: string
let server: Server | undefined
let hasOldCode = false
const program = 'test/slow/upgrade/migrating-worker.ts'

/** Starts the code of a folder on the database. The code of a release has a \`startServer\` of its own. */
async function start(code: string): Promise<Server> {
  const module = (await import(join(code, 'scripts', 'support', 'server.ts'))) as { startServer: typeof startServer }
  server = await module.startServer({ port: 0, stateDir: state, env: { RATE_LIMIT_PER_MINUTE: '0' }, program })
  return server
}

async function apply({ name, queries }: Migration): Promise<string> {
  const response = await fetch(`${server?.url}/test/migrate`, {
    method: 'POST',
    body: JSON.stringify({ name, queries }),
  })
  return response.status === 204 ? '' : response.text()
}

async function readMigrationFiles(files: Record<string, string>): Promise<Migration[]> {
  const place = await mkdtemp(join(folder, 'migrations-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text)
  return readD1Migrations(place)
}

function countRows(): Record<string, number> {
  const database = new DatabaseSync(path)
  const tables = [...readShape(database).tables].filter(([, { storage }]) => storage !== 'virtual')
  const counts = tables.map(([name]) => [
    name,
    Number(database.prepare(`select count(*) as number from "${name}"`).get()?.['number']),
  ])
  database.close()
  return Object.fromEntries(counts) as Record<string, number>
}

/** The organisation with demonstration data of every kind, and its published edition. */
function readPlace() {
  const database = new DatabaseSync(path)
  const row = database
    .prepare('select organization_id, id as edition_id from editions where is_draft = 0 order by id limit 1')
    .get()
  database.close()
  return row as { organization_id: string; edition_id: string }
}

let rowsBefore: Record<string, number>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slow-upgrade-'))
  state = join(folder, 'state')
  await mkdir(state)
  path = await placeDatabase(state, await readReleaseDatabase(lastRelease))
  rowsBefore = countRows()
  hasOldCode = await unpackVersion(lastRelease.version, join(folder, 'released'))
  if (!hasOldCode)
    console.warn(
      `git has no tag v${lastRelease.version}, so this code runs instead of the released one. Run: git fetch --tags`,
    )
  await start(hasOldCode ? join(folder, 'released') : root)
}, 240_000)
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

it('answers every request of the released version while the migrations since then are applied', async () => {
  const pending = (await readD1Migrations(join(root, 'migrations'))).filter(
    ({ name }) => !(name in lastRelease.migrations),
  )
  // Without the released code the server has applied them when it started.
  const migrations = [...(hasOldCode ? pending : []), ...(await readMigrationFiles(laterFiles))]
  const [broken] = await readMigrationFiles({ '9004_break.sql': brokenFile })
  const traffic = startTraffic(server!, readPlace())
  try {
    await traffic.finishRound()
    for (const migration of migrations) {
      expect(await apply(migration)).toBe('')
      await traffic.finishRound()
    }
    expect(await apply(broken!)).toContain('no_such_table')
    await traffic.finishRound()
  } finally {
    await traffic.stop()
  }
  expect(traffic.count()).toBeGreaterThan(50)
  expect(traffic.failures).toEqual([])
})

it('loses no row, and leaves nothing of a migration that failed', async () => {
  await server?.stop()
  const database = new DatabaseSync(path)
  const list = (sql: string) => database.prepare(sql).all()
  expect(list('pragma foreign_key_check')).toEqual([])
  expect(list('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(list(`select name from d1_migrations where name >= '9'`)).toEqual(
    Object.keys(laterFiles).map((name) => ({ name })),
  )
  expect(list(`select name from sqlite_schema where name = 'half_made'`)).toEqual([])
  // Orders of the traffic after the second migration, and those before it.
  const labels = list('select label, count(*) as number from orders group by label order by label')
  expect(labels.map(({ label }) => label)).toEqual(['none', 'old'])
  expect(list('select id from orders where id not in (select order_id from order_labels)')).toEqual([])
  database.close()
  const rows = countRows()
  expect(Object.entries(rowsBefore).filter(([name, number]) => (rows[name] ?? 0) < number)).toEqual([])
  expect(rows['orders']).toBeGreaterThan(rowsBefore['orders'] ?? 0)
})

it('shows all rows of the released version in this version', async () => {
  const { edition_id } = readPlace()
  const database = new DatabaseSync(path)
  // npm start refuses a database with migrations that it does not have.
  database.exec(`delete from d1_migrations where name >= '9'`)
  const count = (table: string) =>
    Number(database.prepare(`select count(*) as number from ${table} where edition_id = ?`).get(edition_id)?.['number'])
  const tables = {
    orders: 'orders',
    purchases: 'purchases',
    campaigns: 'campaigns',
    segments: 'segments',
    webhooks: 'webhook_endpoints',
  }
  const expected = Object.fromEntries(Object.entries(tables).map(([list, table]) => [list, count(table)]))
  database.close()
  const { url, rootToken } = await start(root)
  const client = createClient(url, rootToken)
  const read = (list: string) => client.get<Page<unknown>>(`/v1/${list}?edition_id=${edition_id}`)
  for (const [list, number] of Object.entries(expected)) {
    expect(number, list).toBeGreaterThan(0)
    expect(await read(list), list).toMatchObject({ count: number })
  }
})

it('notices a migration that takes away what the running version reads', async () => {
  const traffic = startTraffic(server!, readPlace())
  await traffic.finishRound()
  expect(traffic.failures).toEqual([])
  const [incompatible] = await readMigrationFiles({ '9005_rename.sql': incompatibleFile })
  expect(await apply(incompatible!)).toBe('')
  await traffic.finishRound()
  await traffic.stop()
  expect(traffic.failures.join('\n')).toContain(': 500 ')
})
