import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { attachHost, choosePublicUrl, planAddress } from '../../scripts/support/deploy/address.ts'
import { describeInstallation, type Installation } from '../../scripts/support/deploy/configuration.ts'
import { chooseAccount, createPlatform, explainFailure } from '../../scripts/support/deploy/platform.ts'
import { createQuestions } from '../../scripts/support/deploy/questions.ts'
import { storeSecrets } from '../../scripts/support/deploy/secrets.ts'
import { addFirstOrganization, makeSignInLink, waitForHealth } from '../../scripts/support/deploy/service.ts'
import { createResources, type Run } from '../../scripts/support/deploy/steps.ts'
import { listLaterMigrations, listPendingMigrations, surveyInstallation } from '../../scripts/support/deploy/survey.ts'
import { findQueue, maxAttempts } from '../../src/domain/queues.ts'
import { type Break, type Platform, startPlatform } from '../support/platform/server.ts'
import { addDatabase, addQueue, createState } from '../support/platform/state.ts'

let standIn: Platform
let folder: string
let installation: Installation
const accountId = 'a'.repeat(32)

beforeEach(async () => {
  standIn = await startPlatform()
  folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', standIn.url)
  vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', '')
  vi.stubEnv('DEPLOY_FOLDER', folder)
  installation = describeInstallation('production')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
  await standIn.stop()
})

const connect = (token = standIn.state.token) => createPlatform({ authorization: `Bearer ${token}` })
const survey = (place = installation) => surveyInstallation(connect(), accountId, place)

describe('the names of an installation', () => {
  it('end with the environment, except in production', () => {
    expect(installation).toMatchObject({ workerName: 'event-commerce', bucketName: 'event-commerce-files' })
    const staging = describeInstallation('staging')
    expect(staging).toMatchObject({ workerName: 'event-commerce-staging', databaseName: 'event-commerce-staging' })
    expect(staging.queueNames).toEqual(installation.queueNames.map((name) => `${name}-staging`))
    expect(installation.queueNames).toHaveLength(2 * Object.keys(maxAttempts).length)
  })

  it('lead the Worker from each queue to its consumer, in every environment', () => {
    for (const environment of ['production', 'staging', 'a', 'events', 'x-dead', 'campaigns', 'v2'])
      for (const [index, name] of describeInstallation(environment).queueNames.entries()) {
        const base = installation.queueNames[index] ?? ''
        expect([name, findQueue(name)]).toEqual([
          name,
          { queue: base.replace(/-dead$/, ''), isDead: base.endsWith('-dead') },
        ])
      }
  })

  it.for(['', 'dead', 'dead-letters', 'Staging', 'a_b', '../x', 'staging-', '1st', 'x'.repeat(21)])(
    'cannot end with "%s"',
    (environment) => expect(() => describeInstallation(environment)).toThrow('cannot be the name of an environment'),
  )

  it('give each environment rate limits of its own', () => {
    const list = (environment: string) =>
      describeInstallation(environment).file.ratelimits.map(({ namespace_id }) => namespace_id)
    const all = ['production', 'staging', 'test'].flatMap(list)
    expect(new Set(all).size).toBe(all.length)
    expect(list('staging')).toEqual(list('staging'))
    for (const id of all) expect(Number(id)).toBeLessThan(2 ** 31)
  })
})

describe('the account', () => {
  it('is the only one of the credentials, or the one that is named', async () => {
    expect(await chooseAccount(connect(), undefined)).toEqual({ id: accountId, name: 'Acme' })
    standIn.state.accounts.push({ id: 'b'.repeat(32), name: 'Bolt' })
    await expect(chooseAccount(connect(), undefined)).rejects.toThrow(`CLOUDFLARE_ACCOUNT_ID=${'b'.repeat(32)}   Bolt`)
    expect(await chooseAccount(connect(), 'b'.repeat(32))).toMatchObject({ name: 'Bolt' })
    vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', accountId)
    expect(await chooseAccount(connect(), 'b'.repeat(32))).toMatchObject({ name: 'Acme' })
  })

  it('needs credentials that the platform accepts', async () => {
    await expect(chooseAccount(connect('wrong'), undefined)).rejects.toThrow(/does not accept.*\n.*wrangler login/)
  })
})

describe('a call that the platform refuses', () => {
  it('says what stands, and which permission is missing', async () => {
    const error = await connect('wrong')
      .call('GET', `/accounts/${accountId}/queues`)
      .catch((cause: unknown) => cause)
    expect(String(explainFailure(error, 'Nothing was changed.'))).toMatch(
      /answered 403.*\nNothing was changed\.\n.*permissions to edit D1 and Queues/,
    )
    const other = new Error('another')
    expect(explainFailure(other, 'Nothing was changed.')).toBe(other)
  })
})

describe('what somebody made by hand', () => {
  it('is found and used', async () => {
    addQueue(standIn.state, 'emails')
    standIn.state.buckets.add('event-commerce-files')
    addDatabase(standIn.state, 'event-commerce-copy')
    const { uuid } = addDatabase(standIn.state, 'event-commerce')
    const state = await survey()
    expect(state).toMatchObject({ hasWorker: false, hasBucket: true, databaseId: uuid, secretNames: [], hosts: [] })
    expect(state.missingQueues).toEqual(installation.queueNames.filter((name) => name !== 'emails'))
    expect(standIn.changes).toEqual([])
  })

  it('is refused when a queue belongs to another Worker', async () => {
    const queue = addQueue(standIn.state, 'emails')
    queue.consumers.push({ consumer_id: '1', type: 'worker', script: 'shop', settings: {} })
    await expect(survey()).rejects.toThrow('The queue emails belongs to the Worker shop.')
    await survey(describeInstallation('events'))
  })

  it('is refused when the database has tables or migrations of something else', async () => {
    const { database } = addDatabase(standIn.state, 'event-commerce')
    database.exec('create table posts (id integer)')
    await expect(survey()).rejects.toThrow('has tables of something else, such as posts. Nothing was changed.')
    database.exec(
      "create table d1_migrations (id integer primary key, name text); insert into d1_migrations (name) values ('0001_blog.sql')",
    )
    await expect(survey()).rejects.toThrow('has migrations that are not here: 0001_blog.sql')
  })

  it('is refused when the Worker is something else, or has its data in another database', async () => {
    const worker = {
      tag: '1',
      migrationTag: null,
      bindings: [{ name: 'ROOT_TOKEN', type: 'secret_text', text: 'root-token' }] as Record<string, string>[],
      modules: [],
      assets: false,
      isOnWorkersDev: false,
      schedules: [],
      versions: 1,
      deployed: true,
    }
    standIn.state.workers.set('event-commerce', worker as never)
    expect(await survey()).toMatchObject({ hasWorker: true, secretNames: ['ROOT_TOKEN'] })
    worker.bindings.push({ name: 'SHOP', type: 'plain_text', text: 'x' })
    await expect(survey()).rejects.toThrow('The Worker event-commerce is something else')
    const { uuid } = addDatabase(standIn.state, 'events-of-2025')
    worker.bindings.push({ name: 'DB', type: 'd1', id: uuid })
    await expect(survey()).rejects.toThrow('uses the database events-of-2025 and not event-commerce. Nothing')
    standIn.state.databases.delete('events-of-2025')
    worker.bindings.push({ name: 'FILES', type: 'r2_bucket', bucket_name: 'old-files' })
    expect(await survey()).toMatchObject({ databaseId: null, formerBucket: 'old-files' })
    expect(standIn.changes).toEqual([])
  })

  it('may be the database of a later version, to which an earlier one goes back', async () => {
    const { database } = addDatabase(standIn.state, 'event-commerce')
    const empty = { appliedMigrations: [] } as unknown as Awaited<ReturnType<typeof survey>>
    database.exec('create table d1_migrations (id integer primary key, name text)')
    const add = database.prepare('insert into d1_migrations (name) values (?)')
    for (const name of listPendingMigrations(empty)) add.run(name)
    add.run('9999_add_something.sql')
    const state = await survey()
    expect(listPendingMigrations(state)).toEqual([])
    expect(listLaterMigrations(state)).toEqual(['9999_add_something.sql'])
  })
})

describe('the resources', () => {
  const kinds: Break[] = ['before', 429, 'cut', 'after', 'cut after']

  async function make(): Promise<void> {
    standIn.heal()
    const state = await survey()
    const newSubdomain = state.subdomain === null ? 'nordlys' : null
    const plan = { account: { id: accountId }, installation, survey: state, address: { newSubdomain, newHosts: [] } }
    await createResources({ platform: connect(), plan } as unknown as Run)
  }

  it.for(kinds)('are made once each, whichever call breaks: %s', async (kind) => {
    vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const count = installation.queueNames.length + 3
    for (let broken = 0; broken < count; broken++) {
      standIn.state = Object.assign(createState(), { subdomain: null })
      standIn.changes = []
      let calls = 0
      standIn.chooseBreak = () => (calls++ === broken ? kind : null)
      await expect(make()).rejects.toThrow(/answered (400|429)|got no answer/)
      await make()
      expect(standIn.changes).toHaveLength(count)
      expect(new Set(standIn.changes).size).toBe(count)
      expect(await survey()).toMatchObject({ missingQueues: [], hasBucket: true, subdomain: 'nordlys' })
      await make()
      expect(standIn.changes).toHaveLength(count)
    }
    vi.restoreAllMocks()
  })
})

describe('the address', () => {
  const silent = { canAsk: false, ask: async () => '', askSecret: async () => '', confirm: async () => false }
  const plan = async (PUBLIC_URL: string, FILES_URL = '') =>
    planAddress(connect(), accountId, installation, { variables: { PUBLIC_URL, FILES_URL }, survey: await survey() })

  it('is that of workers.dev where none is set', async () => {
    expect(await choosePublicUrl(installation, {}, await survey(), silent)).toBe(
      'https://event-commerce.acme.workers.dev',
    )
    expect(await plan('https://event-commerce.acme.workers.dev')).toEqual({ newSubdomain: null, newHosts: [] })
    await expect(plan('https://event-commerce.other.workers.dev')).rejects.toThrow('cannot have the address')
  })

  it('registers the subdomain that it names, where the account has none', async () => {
    standIn.state.subdomain = null
    await expect(choosePublicUrl(installation, {}, await survey(), silent)).rejects.toThrow('needs an address')
    expect(await plan('https://event-commerce.nordlys.workers.dev')).toEqual({ newSubdomain: 'nordlys', newHosts: [] })
    await expect(plan('https://shop.nordlys.workers.dev')).rejects.toThrow('<name of the account>')
  })

  it('is attached once, and is taken from no other Worker', async () => {
    expect(await plan('https://events.example.com', 'https://files.example.com')).toEqual({
      newSubdomain: null,
      newHosts: ['events.example.com', 'files.example.com'],
    })
    standIn.state.domains.set('events.example.com', 'event-commerce')
    expect(await plan('https://events.example.com')).toMatchObject({ newHosts: [] })
    standIn.state.domains.set('events.example.com', 'shop')
    await expect(plan('https://events.example.com')).rejects.toThrow('leads to the Worker shop')
    await expect(plan('https://events.example.org')).rejects.toThrow('No domain of this account contains')
    expect(standIn.changes).toEqual([])
  })

  it.for([
    ['http://events.example.com', 'does not begin with https://'],
    ['https://events.example.com/shop', 'has more than a host'],
    ['https://events.example.com:8443', 'has a port'],
    ['https://localhost', 'is the address of a single machine'],
    ['https://192.0.2.1', 'is the address of a single machine'],
  ] as const)('cannot be %s', async ([url, fault]) => {
    await expect(plan(url)).rejects.toThrow(fault)
    await expect(plan('https://events.example.com', url)).rejects.toThrow('Nothing was changed.')
  })

  it('has no slash at its end, which would be a part of the path', async () => {
    for (const PUBLIC_URL of ['https://events.example.com/', 'https://Events.example.com'])
      expect(await choosePublicUrl(installation, { PUBLIC_URL }, await survey(), silent)).toBe(
        'https://events.example.com',
      )
  })

  it('at workers.dev is that of the Worker for files too', async () => {
    await expect(plan('https://event-commerce.acme.workers.dev', 'https://files.acme.workers.dev')).rejects.toThrow(
      'cannot have the address files.acme.workers.dev',
    )
  })

  it('is left to the routes of wrangler.toml', async () => {
    installation.file.routes = [{ pattern: 'events.example.org', custom_domain: true }]
    expect(await plan('https://events.example.org')).toEqual({ newSubdomain: null, newHosts: [] })
  })
})

describe('the deployed service', () => {
  const publicUrl = 'https://event-commerce.acme.workers.dev'
  const noQuestions = createQuestions({ input: new PassThrough(), output: new PassThrough() })
  const firstAdmin = { organization: 'Nordlys', adminName: 'Ida Holm', adminEmail: 'ida@example.com' }
  let output: string

  const addFirst = () => addFirstOrganization(installation, publicUrl, firstAdmin, noQuestions)
  const listOrganizations = () => standIn.state.organizations.get('event-commerce') ?? []

  beforeEach(async () => {
    const send = globalThis.fetch
    vi.stubGlobal('fetch', (input: URL | string, init?: RequestInit) => {
      const url = new URL(input)
      if (url.protocol !== 'https:') return send(url, init)
      return send(`${standIn.url}/services/${url.host}${url.pathname}${url.search}`, init)
    })
    output = ''
    vi.spyOn(console, 'log').mockImplementation((text: string) => void (output += `${text}\n`))
    const { uuid, database } = addDatabase(standIn.state, 'event-commerce')
    database.exec('create table organizations (id text)')
    standIn.state.workers.set('event-commerce', {
      tag: '1',
      migrationTag: null,
      bindings: [
        { name: 'DB', type: 'd1', id: uuid },
        { name: 'ROOT_TOKEN', type: 'secret_text', text: 'root-token' },
        { name: 'PUBLIC_URL', type: 'plain_text', text: publicUrl },
      ],
      modules: [],
      assets: true,
      isOnWorkersDev: true,
      schedules: [],
      versions: 1,
      deployed: true,
    })
    await storeSecrets(installation, { ROOT_TOKEN: 'root-token' }, [])
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })

  it('is waited for until the version answers that was uploaded', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    await waitForHealth(publicUrl, version, 1000)
    await expect(waitForHealth(publicUrl, '99.0.0', 0)).rejects.toThrow('/healthz answered 200')
    await expect(waitForHealth('https://elsewhere.example', version, 0)).rejects.toThrow(
      /^The Worker is deployed, but .*answered 404/,
    )
  })

  it('gets its first organisation once, also when a run ended between the organisation and its admin', async () => {
    standIn.chooseBreak = (change) => (change.includes('/members') ? 'cut' : null)
    await expect(addFirst()).rejects.toThrow('fetch failed')
    expect(listOrganizations()).toMatchObject([{ name: 'Nordlys', members: [] }])
    standIn.chooseBreak = () => null
    standIn.heal()
    await addFirst()
    await addFirst()
    expect(listOrganizations()).toMatchObject([
      { name: 'Nordlys', members: [{ email: 'ida@example.com', role: 'admin' }] },
    ])
    expect(standIn.state.links).toHaveLength(1)
    expect(output).toContain(standIn.state.links[0])
  })

  it('keeps its organisations when the file of secrets has another token, or none', async () => {
    await storeSecrets(installation, { ROOT_TOKEN: 'the-one-before' }, [])
    await addFirst()
    expect(output).toContain('The Worker has another ROOT_TOKEN than')
    await storeSecrets(installation, { ROOT_TOKEN: '' }, [])
    await addFirst()
    expect(output).toContain('The value of ROOT_TOKEN is not in')
    expect(listOrganizations()).toEqual([])
  })

  it('makes links for members, where it was deployed from', async () => {
    await addFirst()
    await expect(makeSignInLink(installation, 'ida@example.com')).rejects.toThrow('was not deployed from this folder')
    writeFileSync(installation.configFile, JSON.stringify({ vars: { PUBLIC_URL: publicUrl } }))
    await makeSignInLink(installation, 'IDA@example.com')
    expect(output).toContain(standIn.state.links[1])
    await expect(makeSignInLink(installation, 'eve@example.com')).rejects.toThrow('has no member')
  })

  it('takes over no host that has a DNS record', async () => {
    standIn.state.dnsRecords.add('events.example.com')
    await expect(attachHost(connect(), accountId, installation, 'events.example.com')).rejects.toThrow(
      /was not attached to the Worker, which is deployed.*\n.*remove it in the dashboard/,
    )
    standIn.state.dnsRecords.clear()
    await attachHost(connect(), accountId, installation, 'events.example.com')
    expect(standIn.state.domains.get('events.example.com')).toBe('event-commerce')
  })
})
