import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePerson, type Running, waitForText } from '../../packages/client/test/ecm.ts'
import { type Fault, startProxy } from '../support/breaking-proxy.ts'
import { launch, type Launcher } from '../support/launcher.ts'

const token = 'root-token-of-ecm-imports'

let folder: string
let server: Launcher
const person = makePerson()
const env = (): Record<string, string> => ({ ECM_URL: `http://127.0.0.1:${server.port}`, ECM_TOKEN: token })

async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return JSON.parse(text) as Answer
}

const create = async (path: string, body: object): Promise<string> =>
  (await call<{ id: string }>('POST', path, body)).id

/** Each edition has an organisation of its own, because organisations remember how their files are read. */
async function createEdition(): Promise<string> {
  const organization_id = await create('/v1/organizations', { name: 'Nordlys' })
  const event_id = await create('/v1/events', { organization_id, name: 'Festival' })
  return create('/v1/editions', { organization_id, event_id, name: '2026' })
}

const count = async (path: string): Promise<number> => (await call<{ count: number }>('GET', path)).count

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ecm-imports-'))
  server = await launch({ STATE_DIR: join(folder, 'state'), ROOT_TOKEN: token, RATE_LIMIT_PER_MINUTE: '0' })
  await server.ready
}, 300_000)
afterAll(async () => {
  person[Symbol.dispose]()
  server?.kill('SIGTERM')
  await server?.ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** Dates of which nobody can say whether the day or the month comes first. */
const header = 'Order ID;E-mail;Product;Quantity;Unit price;Order date'
function writeTable(name: string, rows: readonly string[]): string {
  writeFileSync(join(person.folder, name), `${header}\r\n${rows.join('\r\n')}\r\n`)
  return name
}

const rows = (id: string, length: number) =>
  Array.from({ length }, (_, at) => `${id}-${at};guest-${at}@example.dk;Day ticket;1;225.50;05/06/2026`)

describe('ecm import', () => {
  it('says in a pipe which columns are unclear, and goes on with the same import once they are decided', async () => {
    const edition = await createEdition()
    const file = writeTable('pipe.csv', [...rows('P', 3), 'P-9;nobody;Day ticket;one;225.50;05/06/2026'])
    const command = ['import', file, '--edition', edition]
    const unclear = await person.run([...command, '--yes'], { env: env() })
    expect(unclear).toMatchObject({ code: 2, stdout: '' })
    expect(unclear.stderr).toContain('--option date_format=dmy')

    const preview = await person.run([...command, '--option', 'date_format=dmy', '--dry-run'], { env: env() })
    expect(preview.code, preview.stderr).toBe(0)
    expect(JSON.parse(preview.stdout)).toMatchObject({ preview: { totals: { create: 3, error: 1 } } })
    expect(await count(`/v1/orders?edition_id=${edition}`)).toBe(0)

    const refusal = await person.run([...command, '--yes'], { env: env() })
    expect(refusal.code).toBe(1)
    expect(refusal.stderr).toContain('--skip-invalid')
    const report = join(person.folder, 'pipe.csv.errors.csv')
    expect(readFileSync(report, 'utf8')).toContain('P-9')

    const result = await person.run([...command, '--yes', '--skip-invalid'], { env: env() })
    expect(result.code, result.stderr).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ status: 'completed_with_errors', created_orders: 3 })
    expect(existsSync(join(person.folder, 'pipe.csv.errors-2.csv'))).toBe(false)
    expect(await count(`/v1/data-imports?edition_id=${edition}`)).toBe(1)
    const { results } = await call<{ results: { created: string }[] }>('GET', `/v1/orders?edition_id=${edition}`)
    expect(results[0]?.created).toMatch(/^2026-06-0[45]T/)

    const { id } = JSON.parse(result.stdout) as { id: string }
    const undo = await person.run(['import', 'undo', id, '--yes'], { env: env() })
    expect(JSON.parse(undo.stdout)).toMatchObject({ status: 'undone', undone_orders: 3 })
    expect(await count(`/v1/orders?edition_id=${edition}`)).toBe(0)
  }, 120_000)

  it('asks on a terminal', async () => {
    const edition = await createEdition()
    const file = writeTable('terminal.csv', rows('T', 2))
    const program = person.start(['import', file, '--edition', edition], env(), { isTerminal: true })
    let at = await waitForText(program, 'In which order are the parts of a date?')
    program.press('\u001b[B\r')
    at = await waitForText(program, 'Are these columns right?', at)
    program.press('\r')
    at = await waitForText(program, 'Import into', at)
    program.press('\r')
    expect(await program.ended, program.output()).toBe(0)
    const { results } = await call<{ results: { created: string }[] }>('GET', `/v1/orders?edition_id=${edition}`)
    // The second choice is month, day, year.
    expect(results.map(({ created }) => created.slice(0, 7))).toEqual(['2026-05', '2026-05'])
  }, 120_000)

  it.each([1])(
    'imports each order once although it is killed after each of its changes',
    async () => {
      const edition = await createEdition()
      const file = writeTable('killed.csv', rows('K', 500))
      let program: Running | undefined
      let killAt = ''
      const fault: Fault = ({ method, path }) => {
        if (killAt === '' || !`${method} ${path.split('?')[0] ?? ''}`.endsWith(killAt)) return null
        return 0
      }
      const proxy = await startProxy(server.port, () => fault)
      const words = ['import', file, '--edition', edition, '--yes', '--option', 'date_format=dmy']
      try {
        for (const path of ['POST /v1/files', 'POST /v1/data-imports', '/column-mappings/process', '/start']) {
          killAt = path
          program = person.start(words, { ...env(), ECM_URL: proxy.url })
          while (!proxy.calls.some((one) => one.split('?')[0]?.endsWith(path))) await wait(20)
          await wait(300)
          await program.kill('SIGKILL')
        }
        killAt = ''
        const result = await person.run(words, { env: { ...env(), ECM_URL: proxy.url } })
        expect(result.code, result.stderr).toBe(0)
        expect(JSON.parse(result.stdout)).toMatchObject({ status: 'completed', created_orders: 500 })
      } finally {
        proxy.close()
      }
      expect(await count(`/v1/data-imports?edition_id=${edition}`)).toBe(1)
      expect(await count(`/v1/files?edition_id=${edition}`)).toBe(1)
      expect(await count(`/v1/orders?edition_id=${edition}`)).toBe(500)
    },
    120_000,
  )
})
