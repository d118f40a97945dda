import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { create, createPlace, type Place } from '../../scripts/support/place.ts'
import { type FakeProvider, startFakeProvider } from '../support/fake-provider.ts'
import {
  endClaims,
  makeOwnFolder,
  openDatabases,
  otherUser,
  type OwnServer,
  ownSecrets,
  packCopy,
  runScript,
} from '../support/own-server.ts'
import { listProcesses } from '../support/receiving.ts'

let folder: string
let copy: string
let home: string
let stateDir: string
let provider: FakeProvider
let env: Record<string, string>
let server: OwnServer
let client: Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slow-serve-'))
  // The other user has to reach the folders in it.
  chmodSync(folder, 0o755)
  copy = packCopy(join(folder, 'program'))
  home = makeOwnFolder(join(folder, 'home'))
  stateDir = join(home, 'state')
  provider = await startFakeProvider()
  const secrets = Object.entries(ownSecrets).map(([name, secret]) => {
    const path = join(home, name)
    writeFileSync(path, `${secret}\n`, { mode: 0o400 })
    if (otherUser.uid !== undefined) chownSync(path, otherUser.uid, otherUser.gid)
    return [`${name}_FILE`, path] as const
  })
  env = {
    ...Object.fromEntries(secrets),
    STATE_DIR: stateDir,
    PORT: '0',
    PUBLIC_URL: 'https://events.example.com',
    RATE_LIMIT_PER_MINUTE: '100000',
    EMAIL_PROVIDER: 'resend',
    EMAIL_API_BASE: provider.url,
    EMAIL_API_KEY: 're_local',
  }
  await start()
})
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.ended
  await provider?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

async function start(): Promise<void> {
  server = runScript(copy, 'serve', env)
  await server.ready
  client = createClient(server.url, ownSecrets.ROOT_TOKEN)
}

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers })

describe('npm run serve without what it needs', () => {
  it('says all of it at once, and writes nothing', async () => {
    const state = join(home, 'never-made')
    const { ended, lines } = runScript(copy, 'serve', { STATE_DIR: state, ROOT_TOKEN: 'x', PORT: '-1' })
    expect(await ended).toBe(1)
    expect(lines()).toEqual([
      'PORT is "-1". It must be a whole number from 0 to 65535.',
      ...['LINK_SIGNING_KEY', 'IDEMPOTENCY_KEY', 'MERCHANT_KEY_SECRET'].map(
        (name) => `${name} is not set. Set a long random text, such as openssl rand -hex 32 prints.`,
      ),
    ])
    expect(existsSync(state)).toBe(false)
  })

  it('says that its folder cannot be used', async () => {
    const file = join(home, 'file')
    writeFileSync(file, '')
    const { ended, lines } = runScript(copy, 'serve', { ...env, STATE_DIR: file })
    expect(await ended).toBe(1)
    expect(lines()).toEqual([
      `STATE_DIR is ${file}, where the server cannot start. A part of its path is a file. Choose another folder.`,
    ])
    rmSync(file)
  })

  it('names a file of a secret that it cannot read, and a secret that is set twice', async () => {
    const missing = runScript(copy, 'serve', { ...env, ROOT_TOKEN_FILE: '/nonexistent/token' })
    expect(await missing.ended).toBe(1)
    expect(missing.lines()).toEqual([
      'ROOT_TOKEN_FILE is "/nonexistent/token", which this user cannot read. Set the path of a file with the secret.',
    ])
    const twice = runScript(copy, 'serve', { ...env, ROOT_TOKEN: 'x' })
    expect(await twice.ended).toBe(1)
    expect(twice.lines()).toEqual(['ROOT_TOKEN and ROOT_TOKEN_FILE are both set. Remove one of them.'])
  })
})

describe('npm run serve from a packed copy, as a user who may write to the state folder alone', () => {
  it('serves the API and the console, in production', async () => {
    expect(await (await get('/healthz')).json()).toMatchObject({ status: 'ok', email: 'configured' })
    expect(await client.get('/v1/auth/user-info')).toMatchObject({ is_superuser: true })
    const page = await (await get('/console')).text()
    const [, script = ''] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page) ?? []
    expect((await get(script)).status).toBe(200)
    for (const path of ['/dev/outbox', '/dev/clock', '/dev/outbox.json']) expect((await get(path)).status).toBe(404)
  })

  it.each([
    '/cdn-cgi/local/scheduled?cron=*+*+*+*+*',
    '/cdn-cgi/local/explorer',
    '/cdn-cgi/local/r2/s3/event-commerce-files',
    '/cdn-cgi/local/r2/public/event-commerce-files/objects/1',
    '/cdn-cgi/platform-proxy',
    '/__cf_local/imagedelivery',
  ])('does not open %s of the simulator', async (path) => {
    expect((await get(path)).status).toBe(404)
    // The simulator would take another URL from this header.
    const response = await get('/healthz', { 'MF-Original-URL': `http://localhost${path}` })
    expect(await response.json()).toMatchObject({ status: 'ok' })
  })

  it('has run its sweeps by itself', async () => {
    const hasRun = async () => {
      const { sweeps } = await client.get<{ sweeps: { last_run_at: string | null }[] }>('/v1/system/status')
      return sweeps.length > 10 && sweeps.every(({ last_run_at }) => last_run_at !== null)
    }
    await expect.poll(hasRun, { timeout: 70_000 }).toBe(true)
  })

  it('limits a client by its connection, whatever addresses its headers name', async () => {
    const statuses = new Set<number>()
    for (let attempt = 0; attempt < 80 && !statuses.has(429); attempt++) {
      const address = `198.51.100.${attempt}`
      const headers = { 'CF-Connecting-IP': address, 'X-Forwarded-For': address, authorization: 'Bearer wrong' }
      statuses.add((await get('/v1/auth/user-info', headers)).status)
    }
    expect([...statuses]).toEqual([401, 429])
  })

  it('writes lines of JSON, and no secret', () => {
    const lines = server.lines()
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level')
    for (const secret of Object.values(ownSecrets)) expect(lines.join('\n')).not.toContain(secret)
  })

  it('writes to the state folder alone, which nobody else can read', () => {
    expect(readdirSync(home).toSorted()).toEqual([...Object.keys(ownSecrets), 'state'].toSorted())
    expect(statSync(stateDir).mode & 0o077).toBe(0)
    const open = globSync('**', { cwd: stateDir }).filter((path) => statSync(join(stateDir, path)).mode & 0o077)
    expect(open).toEqual([])
  })

  it('keeps its folder for itself', async () => {
    const second = runScript(copy, 'serve', env)
    expect(await second.ended).toBe(1)
    expect(second.lines()).toEqual([
      `${stateDir} is in use by another server (process ${server.pid}). Stop that one, or set STATE_DIR to another folder.`,
    ])
  })

  it('leaves nothing behind that keeps it from starting after it was killed', async () => {
    server.kill('SIGKILL')
    await server.ended
    await start()
    expect((await get('/healthz')).status).toBe(200)
  })
})

interface StoredFile {
  id: string
  url: string
  checksum_sha256: string
}

/** Imports orders, and returns their ids in the shop. */
async function sell(place: Place, prefix: string, count: number): Promise<string[]> {
  const orders = Array.from({ length: count }, (_, at) => ({
    external_id: `${prefix}-${at}`,
    currency: 'dkk',
    customer: { email: `${prefix}-${at}@example.com`, first_name: 'Astrid' },
    items: [{ product: 'Day ticket', quantity: 1 + (at % 3), unit_price: 225 }],
  }))
  await client.post('/v1/data-imports/external-orders', { ...place, source: 'shop', orders })
  return orders.map(({ external_id }) => external_id)
}

const upload = async ({ organization_id }: Place, name: string): Promise<StoredFile> =>
  client.upload<StoredFile>(`/v1/files?organization_id=${organization_id}`, `a,b\n${`${name},1\n`.repeat(2000)}`, {
    'content-type': 'text/csv',
    'content-disposition': `attachment; filename="${name}.csv"`,
  })

const remove = (id: string) =>
  fetch(`${server.url}/v1/files/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${ownSecrets.ROOT_TOKEN}` },
  })

async function startCampaign(place: Place): Promise<string> {
  const segment_id = await create(client, '/v1/segments', {
    ...place,
    name: 'Everyone',
    communication_type: 'transactional',
    communication_channel: 'email',
    expression: 'stats.order_count >= 1',
  })
  const email_message_id = await create(client, '/v1/email-messages', {
    ...place,
    title: 'News',
    subject: { en: 'News' },
    type: 'campaign',
  })
  await client.patch(`/v1/email-messages/${email_message_id}`, {
    blocks: [{ type: 'rich_text', data: { text: { en: '<p>Hello {{ customer.first_name }}</p>' } } }],
  })
  const id = await create(client, '/v1/campaigns', {
    ...place,
    segment_id,
    email_message_id,
    name: 'News',
    channel: 'email',
  })
  await client.post(`/v1/campaigns/${id}/send-now`, {})
  return id
}

/** Sends a request whose body is not complete, asks the server to end, and then sends the rest. */
async function endUnderWay(): Promise<void> {
  const body = JSON.stringify({ name: 'Under way' })
  const headers = {
    authorization: `Bearer ${ownSecrets.ROOT_TOKEN}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
  }
  const { port } = new URL(server.url)
  const agent = new Agent({ keepAlive: true })
  const options = { agent, host: '127.0.0.1', port, method: 'POST', path: '/v1/organizations', headers }
  const response = Promise.withResolvers<number>()
  const outgoing = request(options, (incoming) => response.resolve(incoming.resume().statusCode ?? 0))
  outgoing.on('error', response.reject).write(body.slice(0, 5))
  await get('/healthz')
  server.kill('SIGTERM')
  const isOpen = () =>
    get('/healthz').then(
      () => true,
      () => false,
    )
  await expect.poll(isOpen).toBe(false)
  outgoing.end(body.slice(5))
  expect(await response.promise).toBe(201)
  expect(await server.ended).toBe(0)
  expect(JSON.parse(server.lines().at(-1) ?? '')).toMatchObject({ message: 'Ended.' })
  expect(listProcesses(stateDir)).toEqual([])
  expect(existsSync(join(stateDir, 'lock.json'))).toBe(false)
}

describe('npm run backup of a server with traffic', () => {
  it('makes a copy that a server starts from, with everything that was acknowledged before it began', async () => {
    const place = await createPlace(client, 'Nordlys')
    const orders = await Promise.all([0, 1, 2, 3].map((part) => sell(place, `before-${part}`, 100)))
    const files = await Promise.all(Array.from({ length: 12 }, (_, at) => upload(place, `before-${at}`)))
    provider.delay(150)
    const campaign = await startCampaign(place)
    await expect.poll(() => provider.accepted().length, { timeout: 60_000 }).toBeGreaterThan(0)

    const quit = new AbortController()
    const work = async (step: (turn: number) => Promise<unknown>) => {
      for (let turn = 0; !quit.signal.aborted; turn++) await step(turn)
    }
    const traffic = [
      work((turn) => sell(place, `during-${turn}`, 10)),
      work(async (turn) => {
        const file = await upload(place, `during-${turn}`)
        if (turn % 2) await remove(file.id)
      }),
      work(async (turn) => {
        const old = files[turn * 2]
        if (old) await remove(old.id)
        await wait(50)
      }),
    ]
    const target = join(home, 'backup')
    const backup = runScript(copy, 'backup', { STATE_DIR: stateDir }, [target])
    expect(await backup.ended, backup.lines().join('\n')).toBe(0)
    expect(backup.lines()[0]).toMatch(/^\S+ has \d+ databases and the bytes of \d+ files, [\d.]+ MB in total\.$/)
    quit.abort()
    await Promise.all(traffic)

    await endUnderWay()
    const restored = join(home, 'restored')
    cpSync(target, restored, { recursive: true })
    expectWholeDatabases(restored, orders.flat())
    endClaims(restored)
    giveAway(restored)
    const verified = runScript(copy, 'verify', {}, ['--state', restored])
    expect(await verified.ended, verified.lines().join('\n')).toBe(0)

    const calls = provider.calls().length
    env = { ...env, STATE_DIR: restored, OUTGOING: 'hold' }
    await start()
    await expectFiles(place)
    server.kill('SIGTERM')
    await server.ended
    expect(provider.calls()).toHaveLength(calls)
    env = { ...env, OUTGOING: 'send' }
    await start()
    await expectCampaign(campaign)
  })
})

/** Each file that the restored server lists has its bytes. */
async function expectFiles({ organization_id }: Place): Promise<void> {
  const path = `/v1/files?organization_id=${organization_id}&page_size=500`
  const { results, count } = await client.get<Page<StoredFile>>(path)
  expect(count).toBeGreaterThan(0)
  expect(results).toHaveLength(count)
  for (const { id, url, checksum_sha256 } of results) {
    const { pathname, search } = new URL(url)
    const response = await get(pathname + search)
    expect(response.status, id).toBe(200)
    expect(
      createHash('sha256')
        .update(await response.bytes())
        .digest('hex'),
    ).toBe(checksum_sha256)
  }
}

function giveAway(path: string): void {
  if (otherUser.uid === undefined) return
  for (const name of ['.', ...globSync('**', { cwd: path })]) chownSync(join(path, name), otherUser.uid, otherUser.gid)
}

/** Each database is whole, and that of the service has these orders. */
function expectWholeDatabases(restored: string, externalIds: string[]): void {
  openDatabases(restored, (database, path) => {
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
    // The names of other databases are hashes, which may contain the same letters.
    if (!path.startsWith('v3/d1/') || path.endsWith('metadata.sqlite')) return
    const orders = database.prepare('select external_id from orders').all()
    expect(orders.map(({ external_id }) => external_id)).toEqual(expect.arrayContaining(externalIds))
  })
}

interface Campaign {
  status: string
  total_recipients: number
  sent_count: number
}

/**
 * The restored campaign goes on. What the first server sent after the backup is called again with the same keys, so that
 * the provider sends nobody a second message.
 */
async function expectCampaign(id: string): Promise<void> {
  const load = () => client.get<Campaign>(`/v1/campaigns/${id}`)
  await expect.poll(async () => (await load()).status, { timeout: 100_000, interval: 500 }).toBe('sent')
  const { total_recipients, sent_count } = await load()
  expect(sent_count).toBe(total_recipients)
  expect(total_recipients).toBeGreaterThanOrEqual(400)
  expect(provider.counts().size).toBe(total_recipients)
  expect([...provider.counts().values()].filter((times) => times !== 1)).toEqual([])
}
