import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { parseEnv, promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockFolder } from '../../scripts/support/folder-lock.ts'
import { root, wranglerProgram } from '../../scripts/support/paths.ts'
import { reservePort, startNode } from '../../scripts/support/processes.ts'
import { everyMinute } from '../../scripts/support/server.ts'
import { launch, type Launcher } from '../support/launcher.ts'
import { listProcesses } from '../support/receiving.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slow-launcher-'))
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

describe('npm start with a wrong variable', () => {
  it.for([
    [
      { ENVIRONMENT: 'production' },
      'ENVIRONMENT is "production". `npm start` always runs in development, with demonstration data and an open mailbox. docs/deploying.md says how to deploy the service.',
    ],
    [{ PORT: 'abc' }, 'PORT is "abc". It must be a whole number from 0 to 65535.'],
    [
      { PORT: 'abc', EMAIL_PROVIDER: 'resend', SMS_PROVIDR: 'gatewayapi' },
      'PORT is "abc". It must be a whole number from 0 to 65535.\nEMAIL_API_KEY is not set. EMAIL_PROVIDER=resend needs it. Set EMAIL_API_KEY, or change EMAIL_PROVIDER.\nSMS_PROVIDR is no setting. Did you mean SMS_PROVIDER? Rename or remove it.',
    ],
    [{ EMAIL_PROVIDER: 'foo' }, 'EMAIL_PROVIDER is "foo". It must be one of capture, resend, cloudflare.'],
    [{ EMAIL_FROM: 'Events' }, 'EMAIL_FROM is "Events". It must be a sender such as "Events <no-reply@example.com>".'],
    [
      { WEBHOOK_RETRY_SCHEDULE: 'x' },
      'WEBHOOK_RETRY_SCHEDULE is "x". It must be a list of seconds, for example 5,300,1800.',
    ],
  ] as const)('fails with a line for each before it writes anything: %o', async ([env, line]) => {
    const stateDir = join(folder, 'never-made')
    const launcher = await launch({ STATE_DIR: stateDir, ...env })
    expect((await launcher.ended).code).toBe(1)
    expect(launcher.output()).toBe(`${line}\n`)
    expect(existsSync(stateDir)).toBe(false)
  })
})

describe('the scripts without the Node of npm ci', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }

  it('all check for it before they run', () => {
    for (const command of Object.values(scripts).filter((text) => /\bnode /.test(text)))
      expect(command).toContain('node --import ./scripts/need-node.js ')
    for (const name of ['start', 'demo', 'test', 'test:slow', 'check']) expect(scripts[name]).toContain('need-node.js')
  })

  it('stop with one line that names the command to run', () => {
    // Simulates an old Node: the check reads only the version.
    const old = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })"
    const program = join(root, 'scripts', 'need-node.js')
    const { status, stderr } = spawnSync(process.execPath, [
      '--import',
      `data:text/javascript,${encodeURIComponent(old)}`,
      '--import',
      program,
      '--eval',
      'console.error("it went on")',
    ])
    expect(status).toBe(1)
    expect(String(stderr)).toBe(
      'Node 24 is needed, and this is Node 20.20.2. npm ci installs Node 24, but not with --ignore-scripts. Run: npm rebuild node\n',
    )
  })
})

describe('a state folder', () => {
  let first: Launcher
  let stateDir: string
  beforeAll(async () => {
    stateDir = join(folder, 'state')
    first = await launch({ STATE_DIR: stateDir })
    await first.ready
  })
  afterAll(async () => {
    first.kill('SIGTERM')
    await first.ended
  })

  it('is refused while a server uses it, with one line that names the process and a remedy', async () => {
    const second = await launch({ STATE_DIR: stateDir })
    expect((await second.ended).code).toBe(1)
    expect(second.output()).toBe(
      `${stateDir} is in use by another server (process ${first.pid}). Stop that one, or set STATE_DIR to another folder.\n`,
    )
    expect((await fetch(`http://127.0.0.1:${first.port}/healthz`)).status).toBe(200)
  })

  it('belongs to a server whose cron trigger you can run', async () => {
    expect((await fetch(`http://127.0.0.1:${first.port}${everyMinute}`)).status).toBe(200)
  })

  it('comes with a login, which the command line finds in the folder of npm start, and only its owner can read', async () => {
    const login = join(folder, '.wrangler', 'ecm.json')
    expect(statSync(login).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, '.wrangler')).mode & 0o777).toBe(0o700)
    expect(first.output()).toContain('\nnpx ecm whoami\n')
    const { stdout } = await promisify(execFile)(join(root, 'node_modules', '.bin', 'ecm'), ['whoami'], {
      cwd: folder,
      env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, ECM_URL: '', ECM_TOKEN: '' },
    })
    expect(JSON.parse(stdout)).toMatchObject({ url: `http://127.0.0.1:${first.port}`, is_superuser: true })
  })

  it('is free after its launcher was killed, because its server stops too', async () => {
    expect(listProcesses(stateDir).length).toBeGreaterThan(0)
    first.kill('SIGKILL')
    await first.ended
    for (
      const deadline = Date.now() + 5000;
      listProcesses(stateDir).length > 0 && Date.now() < deadline;
      await wait(50)
    );
    expect(listProcesses(stateDir)).toEqual([])
    await expect(fetch(`http://127.0.0.1:${first.port}/healthz`)).rejects.toThrow('fetch failed')
    expect(existsSync(join(stateDir, 'lock.json'))).toBe(true)
    first = await launch({ STATE_DIR: stateDir })
    await first.ready
  })

  it('is free once its server was stopped', async () => {
    first.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
    expect(existsSync(join(stateDir, 'lock.json'))).toBe(false)
    expect(existsSync(join(folder, '.wrangler', 'ecm.json'))).toBe(false)
    expect(listProcesses(stateDir)).toEqual([])
  })

  it('stores no token of the environment, removes an old login of its address, and leaves those of other servers', async () => {
    const login = join(folder, '.wrangler', 'ecm.json')
    const port = await reservePort(0)
    await writeFile(login, JSON.stringify({ url: `http://127.0.0.1:${port}`, token: 'of-an-earlier-database' }))
    const launcher = await launch({ STATE_DIR: stateDir, ROOT_TOKEN: 'of-the-environment', PORT: String(port) })
    await launcher.ready
    expect(launcher.output()).not.toContain('npx ecm')
    expect(existsSync(login)).toBe(false)
    const other = JSON.stringify({ url: 'http://127.0.0.1:1', token: 'other' })
    await writeFile(login, other)
    launcher.kill('SIGTERM')
    await launcher.ended
    expect(readFileSync(login, 'utf8')).toBe(other)
    await rm(login)
  })

  it('can be used by `wrangler dev`, with all migrations applied and the token of .dev.vars.example', async () => {
    const port = await reservePort(0)
    const environment = { NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
    const run = (...args: string[]) =>
      startNode([wranglerProgram, ...args, '--persist-to', stateDir], { env: environment })
    const list = await run('d1', 'migrations', 'list', 'DB', '--local').ended
    expect(list.output).toContain('No migrations to apply')
    const example = join(root, '.dev.vars.example')
    const server = run('dev', '--port', String(port), '--ip', '127.0.0.1', '--env-file', example)
    try {
      const { ROOT_TOKEN } = parseEnv(readFileSync(example, 'utf8'))
      const signIn = (token = '') =>
        fetch(`http://127.0.0.1:${port}/v1/auth/user-info`, { headers: { authorization: `Bearer ${token}` } })
      await expect
        .poll(
          () =>
            signIn(ROOT_TOKEN).then(
              ({ status }) => status,
              () => 0,
            ),
          { timeout: 120_000 },
        )
        .toBe(200)
      expect((await signIn(`${ROOT_TOKEN}x`)).status).toBe(401)
    } finally {
      await server.stop()
    }
  })

  it('is refused with one line about what to remove, and not changed, when its migrations differ', async () => {
    const [file = ''] = globSync('v3/d1/*/*.sqlite', { cwd: stateDir }).filter((name) => !name.includes('metadata'))
    const open = () => new DatabaseSync(join(stateDir, file))
    const listApplied = (database: DatabaseSync) =>
      database
        .prepare('select name from d1_migrations order by name')
        .all()
        .map(({ name }) => name)
    const database = open()
    database.exec(`delete from d1_migrations; drop table dead_messages;
      insert into d1_migrations (name) values ('0001_create_organizations.sql')`)
    database.close()
    const launcher = await launch({ STATE_DIR: stateDir })
    expect((await launcher.ended).code).toBe(1)
    expect(launcher.output()).toBe(
      `${stateDir} has a database of another schema. Remove the folder ${stateDir} and start again.\n`,
    )
    const unchanged = open()
    expect(listApplied(unchanged)).toEqual(['0001_create_organizations.sql'])
    expect(unchanged.prepare("select name from sqlite_master where name = 'dead_messages'").all()).toEqual([])
    unchanged.close()
    expect(existsSync(join(stateDir, 'lock.json'))).toBe(false)
  })
})

describe('the lock of a process that no longer runs', () => {
  it.for([
    ['names a process that took over the number of one that is gone', { pid: process.pid, started: 'earlier' }],
    ['is broken', 'x'],
  ] as const)('can be taken when it %s', async ([, content]) => {
    const state = await mkdtemp(join(folder, 'lock-'))
    await writeFile(join(state, 'lock.json'), typeof content === 'string' ? content : JSON.stringify(content))
    const release = lockFolder(state)
    expect(() => lockFolder(state)).toThrow(`process ${process.pid}`)
    release()
    expect(existsSync(join(state, 'lock.json'))).toBe(false)
    lockFolder(state)()
  })

  it('cannot be taken while a server of another container, whose number means another process here, uses the folder', async () => {
    const state = await mkdtemp(join(folder, 'lock-'))
    const program = `const { lockFolder } = await import(${JSON.stringify(join(root, 'scripts/support/folder-lock.ts'))})
      lockFolder(${JSON.stringify(state)})
      console.log('locked')
      setInterval(() => undefined, 1000)`
    const other = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(other.stdout, 'data')
    const lock = JSON.stringify({ pid: process.pid, started: 'earlier' })
    await writeFile(join(state, 'lock.json'), lock)
    expect(() => lockFolder(state)).toThrow('in use by another server that this one cannot see')
    other.kill('SIGKILL')
    await once(other, 'exit')
    lockFolder(state)()
  })
})
