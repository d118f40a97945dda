import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Page } from '../../scripts/support/client.ts'
import { type Server, startServer } from '../../scripts/support/server.ts'

/** impatient-worker.ts gives a file three seconds instead of five minutes. */
const limitMs = 3000
const graceMs = 2000

let folder: string
let server: Server
let organization: string
const api = () => createClient(server.url, server.rootToken)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slow-files-'))
  const env = { RATE_LIMIT_PER_MINUTE: '0' }
  const program = 'test/slow/slow-files/impatient-worker.ts'
  server = await startServer({ port: 0, stateDir: join(folder, 'state'), env, program })
  organization = (await api().post<{ id: string }>('/v1/organizations', { name: 'Slow files' })).id
}, 300_000)
afterAll(async () => {
  await server?.stop()
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const table = Buffer.from(`number,name\r\n${'1,Anna\r\n'.repeat(40)}`)
const boundary = 'boundary-of-slow-files'
const form = Buffer.concat([
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="organization_id"\r\n\r\n`),
  Buffer.from('org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8\r\n'),
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`),
  table,
  Buffer.from(`\r\n--${boundary}--\r\n`),
])

interface SocketRequest {
  request: string
  headers: Record<string, string>
  body: Buffer
  isChunked: boolean
}

/** Sends headers at once and then one byte each 100 ms, until there is an answer or the connection ends. */
function trickle({ request, headers, body, isChunked }: SocketRequest) {
  const { hostname, port } = new URL(server.url)
  const all = {
    host: hostname,
    authorization: `Bearer ${server.rootToken}`,
    ...headers,
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return new Promise<{ ms: number; text: string; bytesSent: number }>((resolve) => {
    const socket = connect(Number(port), hostname)
    let [started, bytesSent, text] = [0, 0, '']
    const finish = () => {
      clearInterval(timer)
      socket.destroy()
      resolve({ ms: performance.now() - started, text, bytesSent })
    }
    const timer = setInterval(() => {
      const byte = body.subarray(bytesSent, bytesSent + 1)
      if (!started || byte.length === 0) return
      bytesSent++
      socket.write(isChunked ? Buffer.concat([Buffer.from('1\r\n'), byte, Buffer.from('\r\n')]) : byte)
    }, 100)
    socket.setEncoding('utf8').on('connect', () => {
      started = performance.now()
      socket.write(`${request} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    })
    socket.on('data', (part: string) => {
      text += part
      if (text.includes('request_timeout')) finish()
    })
    socket.once('close', finish).on('error', () => {})
  })
}

async function expectTimeout(sent: SocketRequest): Promise<void> {
  const { ms, text, bytesSent } = await trickle(sent)
  expect([text.startsWith('HTTP/1.1 408 '), /"code":\s*"request_timeout"/.test(text)], text).toEqual([true, true])
  expect(bytesSent).toBeLessThan(sent.body.length)
  expect(ms).toBeGreaterThanOrEqual(limitMs - 100)
  expect(ms).toBeLessThan(limitMs + graceMs)
}

/** Lists keys in the local bucket. The simulator leaves a blob without a key for an interrupted put. */
async function objects(): Promise<string[]> {
  const names = await readdir(join(folder, 'state'), { recursive: true })
  const files = names.filter((name) => /\br2\b.*\bminiflare-R2BucketObject\b.*\.sqlite$/.test(name))
  return files.flatMap((name) => {
    const bucket = new DatabaseSync(join(folder, 'state', name), { readOnly: true })
    try {
      const isBucket = bucket.prepare(`select 1 from sqlite_master where name = '_mf_objects'`).get()
      return isBucket
        ? bucket
            .prepare('select key from _mf_objects')
            .all()
            .map(({ key }) => String(key))
        : []
    } finally {
      bucket.close()
    }
  })
}

describe('a file that comes over a socket byte by byte', () => {
  it.for(['content-length', 'chunked'])(
    'gets 408 once its time is over and leaves nothing, as a body and in a form: %s',
    async (framing) => {
      const before = await objects()
      const isChunked = framing === 'chunked'
      const request = `POST /v1/files?organization_id=${organization}`
      const disposition = { 'content-disposition': 'attachment; filename="a.csv"' }
      await expectTimeout({ request, headers: { 'content-type': 'text/csv', ...disposition }, body: table, isChunked })
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
      await expectTimeout({ request: 'POST /v1/files', headers, body: form, isChunked })
      expect((await api().get<Page<object>>(`/v1/files?organization_id=${organization}`)).count).toBe(0)
      expect(await objects()).toEqual(before)
    },
  )

  it('can be sent again in time when it is a part of an upload', async () => {
    const input = { organization_id: organization, name: 'a.csv', size: table.length }
    const { id } = await api().post<{ id: string }>('/v1/files/uploads', input)
    const path = `/v1/files/uploads/${id}`
    const headers = {
      'content-type': 'application/octet-stream',
      'content-digest': `sha-256=:${createHash('sha256').update(table).digest('base64')}:`,
    }
    await expectTimeout({ request: `PUT ${path}/parts/1`, headers, body: table, isChunked: false })
    expect((await api().get<{ parts: object[] }>(path)).parts).toEqual([])
    const authorization = `Bearer ${server.rootToken}`
    const secondResponse = await fetch(`${server.url}${path}/parts/1`, {
      method: 'PUT',
      headers: { ...headers, authorization },
      body: table,
    })
    expect([secondResponse.status, (await api().get<{ parts: object[] }>(path)).parts.length]).toEqual([200, 1])
    await secondResponse.body?.cancel()
  })
})
