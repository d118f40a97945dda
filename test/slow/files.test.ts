import * as fc from 'fast-check'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import send from 'send'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { AppError, errorStatus } from '../../src/domain/errors.ts'
import { formatHttpDate } from '../../src/domain/files/ranges.ts'
import { serveFile } from '../../src/modules/files/serving/serve.ts'

const content = Buffer.from(Array.from({ length: 100 }, (_, index) => index))
const modifiedAt = Date.UTC(2026, 0, 15, 9)
const checksum_sha256 = 'a'.repeat(64)
const etag = `"${checksum_sha256}"`

let folder: string
let server: Server

/** The static file server of Express, with the file on disk. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'))
  const path = join(folder, 'photo.png')
  await writeFile(path, content)
  await utimes(path, modifiedAt / 1000, modifiedAt / 1000)
  server = createServer((incoming, answer) => {
    answer.setHeader('etag', etag)
    send(incoming, '/photo.png', { root: folder }).pipe(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

interface Answer {
  status: number
  range: string | null
  length: string | null
  bytes: string
}

type RequestHeaders = Record<string, string>

/** Requests without `fetch`, which adds headers of its own to conditional requests. */
const ordinary = (headers: RequestHeaders): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo
    const clientRequest = request({ port, host: '127.0.0.1', headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          range: response.headers['content-range'] ?? null,
          length: response.headers['content-length'] ?? null,
          bytes: Buffer.concat(chunks).toString('hex'),
        }),
      )
    })
    clientRequest.on('error', reject).end()
  })

const file = {
  id: 'fil_1',
  name: 'photo.png',
  mime_type: 'image/png',
  size: content.length,
  checksum_sha256,
  storage_key: 'key',
  created_at: modifiedAt,
  variant: 'original' as const,
  is_signed: false,
  read_at: null,
}

const job = {
  images: null,
  files: {
    open: async (_: string, range?: { offset: number; length: number }) => ({
      size: content.length,
      body: new Blob([range ? content.subarray(range.offset, range.offset + range.length) : content]).stream(),
    }),
  },
} as unknown as JobCtx

async function ours(headers: RequestHeaders): Promise<Answer> {
  try {
    const { response } = await serveFile(job, file, new Request('http://localhost/', { headers }), () => undefined)
    return {
      status: response.status,
      range: response.headers.get('content-range'),
      length: response.headers.get('content-length'),
      bytes: Buffer.from(await response.arrayBuffer()).toString('hex'),
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { status: errorStatus[error.code], range: error.headers['content-range'] ?? null, length: null, bytes: '' }
  }
}

/** The bodies of refusals differ, and are not compared. */
const comparable = ({ status, ...rest }: Answer) =>
  status >= 400 ? { status, range: rest.range } : status === 304 ? { status } : { status, ...rest }

async function expectSame(headers: RequestHeaders): Promise<void> {
  expect(comparable(await ours(headers))).toEqual(comparable(await ordinary(headers)))
}

const position = fc.oneof(fc.nat(120), fc.constantFrom(99, 100, 2 ** 40))
const range = fc.oneof(
  fc.tuple(position, position).map(([one, other]) => `bytes=${Math.min(one, other)}-${Math.max(one, other)}`),
  position.map((start) => `bytes=${start}-`),
  fc.nat(100).map((length) => `bytes=-${length}`),
  fc.constantFrom('bytes=0-1,5-6', 'bytes=x-y', 'lines=0-1', 'bytes', ''),
)
const tags = fc.constantFrom(etag, `W/${etag}`, '"x"', `"x", ${etag}`, `"y","x"`, '*')
const date = fc.constantFrom(-60_000, 0, 60_000).map((away) => formatHttpDate(modifiedAt + away))

describe('the service, compared with an ordinary web server', () => {
  it('answers ranges and conditions alike, for any valid request', async () => {
    const headers = fc.record(
      {
        range,
        'if-none-match': tags,
        'if-modified-since': date,
        'if-match': fc.constantFrom(etag, '"x"', '*', `"x", ${etag}`),
        'if-unmodified-since': date,
        'if-range': fc.constantFrom(etag, '"x"', formatHttpDate(modifiedAt), formatHttpDate(modifiedAt - 60_000)),
      },
      { requiredKeys: [] },
    )
    await fc.assert(fc.asyncProperty(headers, expectSame), { numRuns: 3000 })
  })

  it('differs only where it follows the standard more strictly', async () => {
    // The service follows RFC 9110: it ignores an invalid range (14.2), reads more last bytes than exist as all
    // (14.1.2), compares If-Match strongly (13.1.1), and dates of If-Range exactly (13.1.5).
    const differing: [RequestHeaders, ours: number, ordinary: number][] = [
      [{ range: 'bytes=5-3' }, 200, 416],
      [{ range: 'bytes=-101' }, 206, 416],
      [{ 'if-match': `W/${etag}` }, 412, 200],
      [{ 'if-range': formatHttpDate(modifiedAt + 60_000), range: 'bytes=0-1' }, 200, 206],
    ]
    for (const [headers, ownStatus, other] of differing)
      expect([headers, (await ours(headers)).status, (await ordinary(headers)).status]).toEqual([
        headers,
        ownStatus,
        other,
      ])
  })
})
