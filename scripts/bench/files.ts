import { randomBytes } from 'node:crypto'
import { create } from '../support/place.ts'
import { type Bench, compare, printHead, printRatio, timeRequest, withBench } from './support.ts'

export const summary = 'Uploads and serves files'

const kib = 1024
const pngHeadBytes = 33

/** Random bytes behind the head of an image of 640 × 480. */
function buildPng(size: number): Buffer {
  const bytes = randomBytes(size)
  bytes.write('89504e470d0a1a0a0000000d4948445200000280000001e00806000000', 'hex')
  bytes.fill(0, 29, pngHeadBytes)
  return bytes
}

/** Random cells behind the head of a table. */
function buildTable(size: number): Buffer {
  const bytes = Buffer.from(randomBytes(Math.ceil(size / 2)).toString('hex')).subarray(0, size)
  for (let at = 40; at < size; at += 40) bytes[at] = at % 80 ? 0x0a : 0x2c
  bytes.write('number,name,email\r\n')
  return bytes
}

const files = [
  { type: 'image/png', size: 100 * kib, build: buildPng },
  { type: 'image/png', size: kib * kib, build: buildPng },
  { type: 'image/png', size: 9 * kib * kib, build: buildPng },
  { type: 'text/csv', size: 40 * kib * kib, build: buildTable },
]

let nextKey = 0

async function compareFile(
  bench: Bench,
  organizationId: string,
  { type, size, build }: (typeof files)[number],
): Promise<void> {
  const authorization = `Bearer ${bench.token}`
  const upload = (bytes: Buffer) =>
    timeRequest(`${bench.url}/v1/files?organization_id=${organizationId}`, {
      method: 'POST',
      headers: { authorization, 'content-type': type, 'content-disposition': 'attachment; filename="bench"' },
      body: new Uint8Array(bytes),
    })
  const put = (bytes: Buffer, key: number) =>
    timeRequest(`${bench.url}/bench/files/${key}`, {
      method: 'PUT',
      headers: { 'content-type': type },
      body: new Uint8Array(bytes),
    })
  const name = `${type}, ${(size / kib / kib).toFixed(1)} MB`
  const uploads = await compare(
    async () => (await upload(build(size))).ms,
    async () => (await put(build(size), ++nextKey)).ms,
  )
  printRatio(`${name}, upload`, 'ms', uploads)
  const bytes = build(size)
  const { url } = JSON.parse((await upload(bytes)).body.toString()) as { url: string }
  const key = ++nextKey
  await put(bytes, key)
  // Compression would be measured instead.
  const headers = { 'accept-encoding': 'identity' }
  const downloads = await compare(
    async () => (await timeRequest(new URL(url, bench.url).href, { headers })).ms,
    async () => (await timeRequest(`${bench.url}/bench/files/${key}`, { headers })).ms,
  )
  printRatio(`${name}, download`, 'ms', downloads)
}

export const run = (): Promise<void> =>
  withBench({}, async (bench) => {
    const organizationId = await create(bench.client, '/v1/organizations', { name: 'Bench' })
    printHead('The floor puts and gets the same bytes in the bucket')
    for (const file of files) await compareFile(bench, organizationId, file)
  })
