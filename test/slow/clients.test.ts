import { spawn, spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Page } from '../../scripts/support/client.ts'
import { root } from '../../scripts/support/paths.ts'
import { demoVariables, type DemoState, seed } from '../../scripts/support/seed.ts'
import { type Server, startServer } from '../../scripts/support/server.ts'
import { buildTypedProgram, pythonProgram, validatingProgram } from '../support/client-programs.ts'

let folder: string
let server: Server
const documentFile = () => join(folder, 'openapi.json')

type Variables = Readonly<Record<string, string>>

/** Returns what a program prints, and throws all of its output when it fails. */
function run(command: string, args: readonly string[], cwd: string, variables: Variables = {}): Promise<string> {
  const clientVariables = { URL: server.url, TOKEN: server.rootToken, NO_COLOR: '1', DO_NOT_TRACK: '1' }
  const env = { ...process.env, ...clientVariables, ...variables }
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [printed, errorOutput] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errorOutput += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(printed) : reject(new Error(`${command} ${args.join(' ')}\n${printed}\n${errorOutput}`)),
    )
  })
}

/** Expects that real calls were made: the new resource is in the list, and a missing one is a problem document. */
function expectRealCalls(printed: string): void {
  const { found, made, code } = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
  expect(found).toEqual([made])
  expect(made).toMatch(/^edt_/)
  expect(code).toBe('not_found')
}

const bin = (name: string): string => join(folder, 'node_modules', '.bin', name)

const compilerOptions = {
  target: 'esnext',
  module: 'nodenext',
  lib: ['esnext', 'dom', 'dom.iterable'],
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: ['node'],
  typeRoots: [join(root, 'node_modules', '@types')],
}

async function compileAndRun(place: string, program: string): Promise<string> {
  const cwd = join(folder, place)
  await writeFile(join(cwd, 'program.ts'), program)
  await writeFile(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['program.ts'] }))
  await run(bin('tsc'), ['-p', '.'], cwd)
  return run(process.execPath, ['program.ts'], cwd)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clients-'))
  const env = { RATE_LIMIT_PER_MINUTE: '0' }
  const program = 'test/slow/clients/offline-worker.ts'
  server = await startServer({ port: 0, stateDir: join(folder, 'state'), env, program })
  await writeFile(documentFile(), await (await fetch(`${server.url}/openapi.json`)).text())
  await copyFile(join(import.meta.dirname, 'clients', 'package.json'), join(folder, 'package.json'))
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], folder)
}, 300_000)
afterAll(async () => {
  await server?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

describe('a client generated from the document', () => {
  it('compiles and makes real calls when openapi-typescript makes it, with the order of the README', async () => {
    await mkdir(join(folder, 'typed'))
    await run(bin('openapi-typescript'), [documentFile(), '-o', join(folder, 'typed', 'schema.d.ts')], folder)
    const readme = await readFile(join(root, 'README.md'), 'utf8')
    const [, orders = ''] = /"orders": (\[.*?\])\}'/s.exec(readme) ?? []
    expectRealCalls(await compileAndRun('typed', buildTypedProgram(orders)))
  })

  it('compiles and makes real calls when @hey-api/openapi-ts makes it, with zod that checks each answer', async () => {
    await mkdir(join(folder, 'validating'))
    const config = {
      input: documentFile(),
      output: { path: join(folder, 'validating', 'generated'), importFileExtension: '.ts' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', 'zod', { name: '@hey-api/sdk', validator: true }],
    }
    const file = join(folder, 'validating', 'openapi-ts.config.mjs')
    await writeFile(file, `export default ${JSON.stringify(config)}`)
    await run(bin('openapi-ts'), ['-f', file], join(folder, 'validating'))
    expectRealCalls(await compileAndRun('validating', validatingProgram))
  })
})

const python = ['python3', 'python'].find(
  (name) => spawnSync(name, ['-c', 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 10))']).status === 0,
)
const packages = ['openapi-python-client==0.29.1', 'schemathesis==4.32.5']
const tool = (name: string) => join(folder, 'venv', 'bin', name)

/** The reason why the Python programs cannot run here, or null. */
async function installForPython(): Promise<string | null> {
  if (!python) return 'There is no Python 3.10 or newer with venv.'
  try {
    await run(python, ['-m', 'venv', join(folder, 'venv')], folder)
    await run(tool('pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages], folder)
    return null
  } catch (error) {
    return `${packages.join(' and ')} cannot be installed: ${String(error).slice(-500)}`
  }
}

interface CreatedResource {
  id: string
}

/** Ids of the demonstration data, for the paths of operations. */
async function seededIds(): Promise<Variables> {
  const superuser = createClient(server.url, server.rootToken)
  const demo: DemoState = { seeded_at: Date.now(), made: {}, tokens: [], is_complete: false }
  await seed(superuser, demo, async () => {})
  const ids = Object.fromEntries(demoVariables(demo).filter(([name]) => name !== 'TOKEN'))
  const { results: orders } = await superuser.get<Page<CreatedResource>>(`/v1/orders?edition_id=${ids['EDITION']}`)
  const order = await superuser.get<{ purchases: CreatedResource[]; customer: { api_id: string } }>(
    `/v1/orders/${orders[0]?.id}`,
  )
  const { results: deliveries } = await superuser.get<Page<CreatedResource>>(
    `/v1/webhooks/${ids['WEBHOOK']}/deliveries`,
  )
  const pathIds = { ORDER: orders[0]?.id, PURCHASE: order.purchases[0]?.id, DELIVERY: deliveries[0]?.id }
  for (const [name, id] of Object.entries(pathIds)) expect([name, id]).toEqual([name, expect.any(String)])
  return { ...ids, ...(pathIds as Record<string, string>), CUSTOMER: order.customer.api_id }
}

describe('Python', () => {
  let reason: string | null
  beforeAll(async () => {
    reason = await installForPython()
    if (reason !== null) console.warn(`The client for Python and Schemathesis are left out. ${reason}`)
  }, 300_000)

  it('can import a client by openapi-python-client completely and make real calls with it', async ({ skip }) => {
    if (reason !== null) skip(reason)
    const cwd = join(folder, 'python')
    await mkdir(cwd)
    const args = ['generate', '--path', documentFile(), '--output-path', join(cwd, 'generated'), '--meta', 'none']
    await run(tool('openapi-python-client'), args, cwd)
    await writeFile(join(cwd, 'program.py'), pythonProgram)
    expectRealCalls(await run(tool('python'), ['program.py'], cwd))
  })

  it('finds no unexplained faults with Schemathesis', async ({ skip }) => {
    if (reason !== null) skip(reason)
    const place = join(import.meta.dirname, 'clients')
    const checks = { SCHEMATHESIS_HOOKS: 'refusals', PYTHONPATH: place, PYTHONDONTWRITEBYTECODE: '1' }
    const args = ['--config-file', join(place, 'schemathesis.toml'), 'run', documentFile(), '--url', server.url]
    const output = run(tool('schemathesis'), args, folder, { ...(await seededIds()), ...checks })
    await expect(output).resolves.toEqual(expect.any(String))
  }, 900_000)
})
