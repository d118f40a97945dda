import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeInstallation } from '../../scripts/support/deploy/configuration.ts'
import { root } from '../../scripts/support/paths.ts'
import { type DeployRun, runDeploy } from '../support/platform/deploy.ts'
import { type Break, type Platform, startPlatform } from '../support/platform/server.ts'

const migrationFiles = readdirSync(join(root, 'migrations')).toSorted()
const generatedNames = ['IDEMPOTENCY_KEY', 'LINK_SIGNING_KEY', 'MERCHANT_KEY_SECRET', 'ROOT_TOKEN']
const organization = ['--organization', 'Nordlys', '--admin-name', 'Ida Holm', '--admin-email', 'ida@example.com']

let home: string
let platform: Platform
let outputs: string[]

const deploy = async (...args: string[]): Promise<DeployRun> => {
  const run = await runDeploy(platform, { args, home })
  outputs.push(run.output)
  return run
}

async function begin(): Promise<void> {
  home = mkdtempSync(join(tmpdir(), 'slow-deploy-'))
  platform = await startPlatform()
  outputs = []
}

async function end(): Promise<void> {
  await platform.stop()
  rmSync(home, { recursive: true, force: true })
}

const getFolder = (environment = 'production') => join(home, '.deploy', environment)

const readSecretsFile = (environment = 'production') =>
  JSON.parse(readFileSync(join(getFolder(environment), 'secrets.json'), 'utf8')) as Record<string, string>

const getWorker = (name = 'event-commerce') => {
  const worker = platform.state.workers.get(name)
  if (!worker) throw new Error(`${name} is no Worker.`)
  return worker
}

const listSecrets = (name?: string): Record<string, string> =>
  Object.fromEntries(
    getWorker(name)
      .bindings.filter(({ type }) => type === 'secret_text')
      .map((binding) => [binding.name, binding.text ?? '']),
  )

const listMigrations = (name = 'event-commerce') =>
  platform.state.databases
    .get(name)
    ?.database.prepare('select name from d1_migrations order by id')
    .all()
    .map((row) => row['name'])

const isCreation = (change: string) =>
  /^POST \/(d1\/database|r2\/buckets|queues|queues\/…\/consumers) ?(?!.*query)/.test(change)

/** The content of an account in the end, without ids. */
const describeState = () => {
  const { state } = platform
  return {
    databases: [...state.databases.keys()],
    migrations: listMigrations(),
    buckets: [...state.buckets],
    queues: [...state.queues.values()]
      .map(({ queue_name, consumers }) => [
        queue_name,
        consumers.map(({ script, dead_letter_queue, settings }) => ({ script, dead_letter_queue, settings })),
      ])
      .toSorted(),
    workers: [...state.workers].map(([name, worker]) => ({
      name,
      migrationTag: worker.migrationTag,
      schedules: worker.schedules,
      isOnWorkersDev: worker.isOnWorkersDev,
      bindings: worker.bindings.map((binding) => binding.name).toSorted(),
    })),
    organizations: [...state.organizations.values()].map((rows) =>
      rows.map(({ name, members }) => ({ name, members: members.map(({ email, role }) => ({ email, role })) })),
    ),
  }
}

/** Secrets stand in the file of secrets and at the platform, and nowhere else. */
function expectSecretsToBeHidden(): void {
  const secrets = globSync('.deploy/*/secrets.json', { cwd: home }).flatMap((file) =>
    Object.values(JSON.parse(readFileSync(join(home, file), 'utf8')) as Record<string, string>),
  )
  expect(secrets.length).toBeGreaterThan(3)
  const files = globSync(['**/*', '{.wrangler,.deploy}/**/*'], { cwd: home })
    .filter((file) => !file.endsWith('secrets.json'))
    .filter((file) => statSync(join(home, file)).isFile())
  expect(files.filter((file) => file.includes('wrangler.json'))).not.toEqual([])
  const texts = [...outputs, ...files.map((file) => readFileSync(join(home, file), 'utf8'))]
  for (const secret of secrets) expect(texts.filter((text) => text.includes(secret))).toEqual([])
}

describe('npm run deploy', () => {
  let expectedState: ReturnType<typeof describeState>

  describe('in a fresh account', () => {
    beforeAll(begin)
    afterAll(end)

    it('says what it would make, and makes nothing, with --dry-run', async () => {
      const { code, output } = await deploy('--dry-run')
      expect(output).toContain('event-commerce: create')
      expect(output).toContain('This was a dry run. Nothing was changed.')
      expect(code).toBe(0)
      expect(platform.changes).toEqual([])
      expect(existsSync(join(home, '.deploy'))).toBe(false)
    })

    it('makes the whole installation, with its first organisation, and prints a link to sign in', async () => {
      const { code, output } = await deploy(...organization)
      expect(output).toContain('is deployed')
      expect(code).toBe(0)
      const { state } = platform
      const installation = describeInstallation('production')
      expect([...state.queues.keys()].toSorted()).toEqual(installation.queueNames.toSorted())
      for (const { queue, dead_letter_queue } of installation.file.queues.consumers)
        expect(state.queues.get(queue)?.consumers).toMatchObject([
          { script: 'event-commerce', ...(dead_letter_queue ? { dead_letter_queue } : {}) },
        ])
      expect(listMigrations()).toEqual(migrationFiles)
      expect(getWorker()).toMatchObject({ versions: 1, migrationTag: 'v2', schedules: ['* * * * *'], assets: true })
      expect(getWorker().modules.some((name) => name.endsWith('.wasm'))).toBe(true)
      expect(getWorker().bindings).toContainEqual({
        name: 'PUBLIC_URL',
        type: 'plain_text',
        text: 'https://event-commerce.acme.workers.dev',
      })
      const [link] = state.links
      expect(state.links).toHaveLength(1)
      expect(output).toContain(link)
      expectedState = describeState()
      expect(expectedState.organizations).toEqual([
        [{ name: 'Nordlys', members: [{ email: 'ida@example.com', role: 'admin' }] }],
      ])
    })

    it('uploads the Worker before it migrates the first time, with the secrets in the first version', () => {
      const upload = platform.changes.indexOf('PUT /workers/scripts/event-commerce')
      const migration = platform.changes.indexOf('POST /d1/database/…/query')
      expect(upload).toBeGreaterThan(0)
      expect(migration).toBeGreaterThan(upload)
      expect(Object.keys(listSecrets()).toSorted()).toEqual(generatedNames)
      expect(listSecrets()).toEqual(readSecretsFile())
      expect(statSync(join(getFolder(), 'secrets.json')).mode & 0o777).toBe(0o600)
      expect(readdirSync(getFolder())).not.toContain('upload.json')
      expect(new Set(Object.values(listSecrets())).size).toBe(4)
    })

    it('makes nothing twice when it is repeated, and migrates before it uploads', async () => {
      platform.state.databases
        .get('event-commerce')
        ?.database.exec("drop table service_outages; delete from d1_migrations where name like '0024%'")
      const changes = platform.changes.length
      const { code, output } = await deploy(...organization)
      expect(output).toContain('apply 1 migration')
      expect(code).toBe(0)
      const later = platform.changes.slice(changes)
      expect(later.filter(isCreation)).toEqual([])
      expect(later.indexOf('POST /d1/database/…/query')).toBeLessThan(
        later.indexOf('POST /workers/scripts/event-commerce/versions'),
      )
      expect(describeState()).toEqual({
        ...expectedState,
        migrations: expect.arrayContaining(migrationFiles) as unknown,
      })
      expect(platform.state.links).toHaveLength(1)
      expect(listSecrets()).toEqual(readSecretsFile())
    })

    it('makes a second installation beside the first, which shares nothing with it', async () => {
      const before = structuredClone(getWorker())
      const { code, output } = await deploy('--env', 'staging', '--set', 'PUBLIC_URL=https://staging.example.com')
      expect(output).toContain('https://staging.example.com is deployed')
      expect(code).toBe(0)
      const { state } = platform
      expect([...state.databases.keys()]).toEqual(['event-commerce', 'event-commerce-staging'])
      expect(listMigrations('event-commerce-staging')).toEqual(migrationFiles)
      expect([...state.buckets]).toEqual(['event-commerce-files', 'event-commerce-files-staging'])
      expect(state.domains.get('staging.example.com')).toBe('event-commerce-staging')
      expect(getWorker()).toEqual(before)
      const staging = getWorker('event-commerce-staging')
      for (const { name, type, ...binding } of staging.bindings) {
        const other = before.bindings.find((row) => row.name === name)
        if (['d1', 'r2_bucket', 'queue', 'ratelimit', 'secret_text'].includes(type))
          expect({ name, ...binding }).not.toEqual({ ...other, type: undefined })
      }
      const identify = ({ bindings }: typeof staging) =>
        bindings.flatMap(({ type, id, bucket_name, queue_name, namespace_id, text }) =>
          type === 'plain_text'
            ? []
            : [id, bucket_name, queue_name, namespace_id, text].filter((part) => part !== undefined),
        )
      expect(identify(staging).length).toBeGreaterThan(15)
      expect(identify(staging).filter((part) => identify(before).includes(part))).toEqual([])
      for (const [name, queue] of state.queues)
        expect(queue.consumers[0]?.script).toBe(name.endsWith('-staging') ? 'event-commerce-staging' : 'event-commerce')
      expect(readSecretsFile('staging')).toEqual(listSecrets('event-commerce-staging'))
    })

    it('makes a link to sign in for a member who gets no e-mails', async () => {
      const changes = platform.changes.length
      const { code, output } = await deploy('--sign-in-link', 'Ida@example.com')
      expect(code).toBe(0)
      expect(output).toContain(platform.state.links[1])
      expect(platform.changes.slice(changes)).toHaveLength(1)
      expect((await deploy('--sign-in-link', 'nobody@example.com')).output).toContain('has no member')
    })

    it('prints no secret, and leaves none in files of its own', () => expectSecretsToBeHidden())
  })

  describe('after a break', () => {
    beforeAll(begin)
    afterAll(end)

    /** The breaks of each call: before and after its effect, with an answer and without one. */
    const breaks: [pattern: RegExp, ...kinds: Break[]][] = [
      [/^POST \/d1\/database event/, 'cut after'],
      [/^POST \/queues campaign-events-dead$/, 429],
      [/assets\/upload$/, 'after'],
      [/^PUT \/workers\/scripts\/event-commerce$/, 'before', 'after'],
      [/\/schedules$/, 'before'],
      [/^POST \/queues\/…\/consumers$/, 'after'],
      [/^POST \/d1\/database\/…\/query$/, 'after', 'before'],
      [/\/versions$/, 'after'],
      [/\/v1\/organizations Nordlys$/, 'cut after'],
      [/\/members ida@/, 'cut after'],
    ]

    it('goes on from there, at every step, and ends in the same state', async () => {
      const pending = breaks.map(([pattern, ...kinds]) => ({ pattern, kinds }))
      const log: string[] = []
      platform.chooseBreak = (change) => {
        const next = pending.find(({ pattern, kinds }) => kinds.length > 0 && pattern.test(change))
        const kind = next?.kinds.shift() ?? null
        if (kind !== null) log.push(`${kind}: ${change}`)
        return kind
      }
      const kindCount = pending.reduce((sum, { kinds }) => sum + kinds.length, 0)
      let firstSecrets: Record<string, string> | undefined
      for (let run = 0; run <= kindCount; run++) {
        const { code, output } = await deploy(...organization)
        firstSecrets ??= readSecretsFile()
        expect(readSecretsFile()).toEqual(firstSecrets)
        if (log.length === run) {
          expect(output).toContain('is deployed')
          expect(code).toBe(0)
          break
        }
        expect(code, output).toBe(1)
      }
      expect(pending.flatMap(({ kinds }) => kinds)).toEqual([])
      expect(listSecrets()).toEqual(firstSecrets)
      expect(describeState()).toEqual(expectedState)
      const creations = platform.changes.filter((change) => isCreation(change) && !change.includes('consumers'))
      expect(new Set(creations).size).toBe(creations.length)
      expectSecretsToBeHidden()
    }, 900_000)
  })
})
