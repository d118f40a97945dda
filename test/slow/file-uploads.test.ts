import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch, type Launcher } from '../support/launcher.ts'

const token = 'root-token-of-file-uploads'
const size = 500_000_000

let folder: string
let server: Launcher

/** V8 collects garbage early and grows little, so that the memory of the process is about what is in use. */
const smallHeaps = '--max-semi-space-size=2 --initial-old-space-size=4 --heap-growing-percent=30'

async function start(): Promise<void> {
  server = await launch({
    STATE_DIR: join(folder, 'state'),
    ROOT_TOKEN: token,
    MINIFLARE_WORKERD_V8_FLAGS: smallHeaps,
  })
  await server.ready
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-uploads-'))
  await start()
}, 300_000)
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

interface Process {
  pid: number
  parent: number
  kib: number
  command: string
}

const processes = (): Process[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,rss=,comm='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, kib, command = '']) => ({
      pid: Number(pid),
      parent: Number(parent),
      kib: Number(kib),
      command,
    }))

/** Lists the processes that the server started, and those that they started. */
function descendants(of: number, all = processes()): Process[] {
  const children = all.filter(({ parent }) => parent === of)
  return [...children, ...children.flatMap(({ pid }) => descendants(pid, all))]
}

/** Measures the memory of the largest process that runs Workers, in megabytes. */
const workerdMegabytes = (): number =>
  Math.max(...descendants(server.pid).flatMap(({ command, kib }) => (command.includes('workerd') ? [kib / 1024] : [])))

const call = (path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
  })

const post = async (path: string, body?: object) =>
  (await (
    await call(path, {
      method: 'POST',
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  ).json()) as Record<string, unknown>

/** Makes a part of a table, each with other bytes. */
function makePart(number: number, length: number): Buffer {
  const bytes = Buffer.alloc(length, `${number},Ægir,aegir@example.dk\r\n`)
  if (number === 1) bytes.write('number,name,email\r\n')
  return bytes
}

interface Upload {
  id: string
  part_size: number
  part_count: number
  parts: { number: number }[]
}

async function sendPart({ id, part_size }: Upload, number: number): Promise<number> {
  const body = makePart(number, Math.min(part_size, size - (number - 1) * part_size))
  const digest = createHash('sha256').update(body).digest('base64')
  const headers = { 'content-type': 'application/octet-stream', 'content-digest': `sha-256=:${digest}:` }
  const response = await call(`/v1/files/uploads/${id}/parts/${number}`, {
    method: 'PUT',
    body: new Uint8Array(body),
    headers,
  })
  await response.text()
  return response.status
}

it('an upload of 500 MB in parts continues after the process was killed, and its memory stays flat', async () => {
  const organization = await post('/v1/organizations', { name: 'Uploads' })
  const started = { organization_id: organization['id'], name: 'orders.csv', size }
  const upload = (await post('/v1/files/uploads', started)) as unknown as Upload
  expect(await sendPart(upload, 1)).toBe(200)
  const atRest = workerdMegabytes()
  let most = atRest
  const send = async (number: number) => {
    const status = await sendPart(upload, number)
    most = Math.max(most, workerdMegabytes())
    return status
  }
  const half = Math.floor(upload.part_count / 2)
  for (let number = 2; number <= half; number++) expect([number, await send(number)]).toEqual([number, 200])

  const broken = sendPart(upload, half + 1).catch(() => 0)
  const processTree = descendants(server.pid)
  server.kill('SIGKILL')
  for (const { pid } of processTree) process.kill(pid, 'SIGKILL')
  await server.ended
  await broken
  await start()
  const { parts } = (await (await call(`/v1/files/uploads/${upload.id}`)).json()) as Upload
  expect(parts.map(({ number }) => number).filter((number) => number <= half)).toHaveLength(half)
  const there = new Set(parts.map(({ number }) => number))
  for (let number = 1; number <= upload.part_count; number++)
    if (!there.has(number)) expect([number, await send(number)]).toEqual([number, 200])

  const file = await post(`/v1/files/uploads/${upload.id}/complete`)
  most = Math.max(most, workerdMegabytes())
  const hash = createHash('sha256')
  for (let number = 1; number <= upload.part_count; number++)
    hash.update(makePart(number, Math.min(upload.part_size, size - (number - 1) * upload.part_size)))
  expect(file).toMatchObject({ size, mime_type: 'text/csv', checksum_sha256: hash.digest('hex') })
  console.log(`workerd: ${Math.round(atRest)} MB at rest, at most ${Math.round(most)} MB`)
  expect(most - atRest).toBeLessThan(100)
}, 900_000)
