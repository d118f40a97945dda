import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePerson, type Running, waitForText } from '../../packages/client/test/ecm.ts'
import { type BatchProvider, startBatchProvider } from '../../scripts/support/batch-provider.ts'
import { buildMailingVariables } from '../../scripts/support/campaigns.ts'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { create, createPlace } from '../../scripts/support/place.ts'
import { type Receiver, startReceiver } from '../../scripts/support/receiver.ts'
import { everyMinute, type Server, startServer } from '../../scripts/support/server.ts'
import { type Fault, startProxy } from '../support/breaking-proxy.ts'
import { givenCampaign } from '../support/floor-campaign.ts'

let folder: string
let provider: BatchProvider
let receiver: Receiver
let server: Server
let client: Client
const person = makePerson()
const env = (url = server.url): Record<string, string> => ({ ECM_URL: url, ECM_TOKEN: server.rootToken })
const run = (args: readonly string[], url?: string) => person.run(args, { env: env(url) })

const createEdition = async (): Promise<string> => (await createPlace(client, 'Nordlys')).edition_id

const count = async (path: string): Promise<number> => (await client.get<Page<unknown>>(path)).count

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ecm-commands-'))
  provider = await startBatchProvider()
  receiver = await startReceiver()
  const variables = { ALLOW_INSECURE_WEBHOOKS: '1', WEBHOOK_RETRY_SCHEDULE: '1' }
  server = await startServer({
    port: 0,
    stateDir: join(folder, 'state'),
    env: { ...buildMailingVariables(provider), ...variables },
    program: 'scripts/bench/worker.ts',
  })
  client = createClient(server.url, server.rootToken)
}, 300_000)
afterAll(async () => {
  person[Symbol.dispose]()
  await server?.stop()
  await provider?.stop()
  await receiver?.stop()
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
    const unclear = await run([...command, '--yes'])
    expect(unclear).toMatchObject({ code: 2, stdout: '' })
    expect(unclear.stderr).toContain('--option date_format=dmy')

    const preview = await run([...command, '--option', 'date_format=dmy', '--dry-run'])
    expect(preview.code, preview.stderr).toBe(0)
    expect(JSON.parse(preview.stdout)).toMatchObject({ preview: { totals: { create: 3, error: 1 } } })
    expect(await count(`/v1/orders?edition_id=${edition}`)).toBe(0)

    const refusal = await run([...command, '--yes'])
    expect(refusal.code).toBe(1)
    expect(refusal.stderr).toContain('--skip-invalid')
    const report = join(person.folder, 'pipe.csv.errors.csv')
    expect(readFileSync(report, 'utf8')).toContain('P-9')

    const result = await run([...command, '--yes', '--skip-invalid'])
    expect(result.code, result.stderr).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ status: 'completed_with_errors', created_orders: 3 })
    expect(existsSync(join(person.folder, 'pipe.csv.errors-2.csv'))).toBe(false)
    expect(await count(`/v1/data-imports?edition_id=${edition}`)).toBe(1)
    const { results } = await client.get<Page<{ created: string }>>(`/v1/orders?edition_id=${edition}`)
    expect(results[0]?.created).toMatch(/^2026-06-0[45]T/)

    const { id } = JSON.parse(result.stdout) as { id: string }
    const undo = await run(['import', 'undo', id, '--yes'])
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
    const { results } = await client.get<Page<{ created: string }>>(`/v1/orders?edition_id=${edition}`)
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
      const proxy = await startProxy(Number(new URL(server.url).port), () => fault)
      const words = ['import', file, '--edition', edition, '--yes', '--option', 'date_format=dmy']
      try {
        for (const path of ['POST /v1/files', 'POST /v1/data-imports', '/column-mappings/process', '/start']) {
          killAt = path
          program = person.start(words, env(proxy.url))
          while (!proxy.calls.some((one) => one.split('?')[0]?.endsWith(path))) await wait(20)
          await wait(300)
          await program.kill('SIGKILL')
        }
        killAt = ''
        const result = await run(words, proxy.url)
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

describe('ecm export', () => {
  const parse = (text: string) => JSON.parse(text) as { rows: number; bytes: number }

  it('goes on behind the last complete row after lost connections and a kill, byte for byte', async () => {
    const edition = await createEdition()
    const file = writeTable('export.csv', rows('E', 300))
    const names = ['import', file, '--edition', edition, '--yes', '--option', 'date_format=dmy']
    expect(await run(names)).toMatchObject({ code: 0 })
    for (const format of ['csv', 'ndjson']) {
      const path = `/v1/orders/export?edition_id=${edition}&format=${format}`
      const headers = { authorization: `Bearer ${server.rootToken}` }
      const whole = Buffer.from(await (await fetch(server.url + path, { headers })).arrayBuffer())
      const output = join(person.folder, `orders.${format}`)
      const countBytes = () => statSync(`${output}.part`, { throwIfNoEntry: false })?.size ?? 0
      let isWhole = false
      // Answers end in the middle of a row, and then nobody answers any more.
      const fault: Fault = () => {
        if (isWhole) return null
        return countBytes() > 10_000 ? 0 : 6000
      }
      const proxy = await startProxy(Number(new URL(server.url).port), () => fault)
      const words = ['export', 'orders', '--edition', edition, '--format', format, '-o', output]
      try {
        const program = person.start(words, env(proxy.url))
        while (countBytes() <= 10_000) await wait(20)
        await program.kill('SIGKILL')
        expect(existsSync(output)).toBe(false)
        expect(proxy.calls.length).toBeGreaterThan(1)
        isWhole = true
        const result = await run(words, proxy.url)
        expect(result.code, result.stderr).toBe(0)
        expect(result.stderr).toContain('Going on with')
        expect(parse(result.stdout)).toMatchObject({ rows: 300, bytes: whole.length })
      } finally {
        proxy.close()
      }
      expect(proxy.calls.at(-1)).toContain('after=ord_')
      expect(readFileSync(output).equals(whole)).toBe(true)
      expect(existsSync(`${output}.part`)).toBe(false)
    }
  }, 120_000)
})

describe('ecm deliveries', () => {
  it('lists what failed and why, and ecm recover sends it again', async () => {
    const place = await createPlace(client, 'Nordlys')
    const addEndpoint = (name: string, url: string) =>
      create(client, '/v1/webhooks', { organization_id: place.organization_id, name, url, events: ['order.created'] })
    const [failing, unreachable] = [
      await addEndpoint('Failing', receiver.url('/failing')),
      await addEndpoint('Unreachable', 'http://127.0.0.1:9/'),
    ]
    receiver.respondWith('/failing', 500)
    const items = [{ product: 'Day ticket', quantity: 1, unit_price: 225 }]
    const orders = [{ external_id: 'W-1', currency: 'dkk', customer: { email: 'ida@example.dk' }, items }]
    await client.post('/v1/data-imports/external-orders', { ...place, source: 'shop', emit_webhooks: true, orders })
    const path = `/v1/webhooks/deliveries?organization_id=${place.organization_id}&status`
    while ((await count(`${path}=exhausted`)) < 2) {
      await fetch(server.url + everyMinute)
      await wait(200)
    }

    const words = ['deliveries', '--failed', '--organization', place.organization_id, '--since', '1h']
    const list = JSON.parse((await run(words)).stdout) as { endpoint_id: string; reason: string }[]
    const reasons = new Map(list.map(({ endpoint_id, reason }) => [endpoint_id, reason]))
    expect(reasons.get(failing)).toBe('the endpoint answered 500')
    expect(reasons.get(unreachable)).toMatch(/connection/)

    const question = await run(['recover', failing, '--since', '1h'])
    expect(question).toMatchObject({ code: 2, stdout: '' })
    expect(question.stderr).toContain('1 failed delivery')
    expect(receiver.posts('/failing')).toHaveLength(2)

    receiver.respondWith('/failing', 200)
    const recovery = await run(['recover', failing, '--since', '1h', '--yes'])
    expect(recovery.code, recovery.stderr).toBe(0)
    expect(JSON.parse(recovery.stdout)).toMatchObject({ recovered: 1 })
    while ((await count(`${path}=success`)) < 1) {
      await fetch(server.url + everyMinute)
      await wait(200)
    }
    expect(receiver.posts('/failing')).toHaveLength(3)
    const rest = await run([...words, '--webhook', failing])
    expect(JSON.parse(rest.stdout)).toEqual([])
  }, 120_000)
})

describe('ecm campaign watch', () => {
  it('prints the counts until the campaign is sent', async () => {
    const id = await givenCampaign(client, 500)
    const early = await run(['campaign', 'watch', id])
    expect(early.code).toBe(2)
    expect(early.stderr).toContain('was not started')
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    await client.post(`/v1/campaigns/${id}/schedule`, { scheduled_at: inAnHour })
    const program = person.start(['campaign', 'watch', id, '--every', '0.2'], env())
    await waitForText(program, '"scheduled"')
    await client.post(`/v1/campaigns/${id}/send-now`, {})
    expect(await program.ended, program.output()).toBe(0)
    const lines = program
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: string })
    expect(lines.at(-1)).toMatchObject({ status: 'sent', total_recipients: 500, sent_count: 500, pending_count: 0 })
    expect(lines[0]).toMatchObject({ status: 'scheduled' })
  }, 120_000)
})
