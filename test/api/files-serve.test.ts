import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { signFileAddress } from '../../src/domain/files/addresses.ts'
import { findServedFile } from '../../src/modules/files/serving/served-file.ts'
import { createCountingLimiter, watchDatabase } from '../support/bindings.ts'
import { createJob } from '../support/campaigns.ts'
import { latin } from '../support/file-bytes.ts'
import { type SeededFile, seedStoredFile } from '../support/seeding/files.ts'
import { unknownId, write } from '../support/seeding/rows.ts'
import { fetchFile, buildPath, decodeText } from '../support/served-files.ts'

const secret = 'link-signing-key-of-the-tests'

const signed = async (file: SeededFile, now = Date.now(), reader: 'person' | 'scanner' = 'person') =>
  signFileAddress('', secret, { file, now, reader })

const notFoundBytes = async (path: string, headers: Record<string, string> = {}) => {
  const {
    status,
    headers: answered,
    bytes,
  } = await fetchFile(path, { headers: { 'x-request-id': 'same', ...headers } })
  expect(status).toBe(404)
  expect(answered.get('cache-control')).toBe('no-store')
  return decodeText(bytes).replaceAll(path.split('?')[0] ?? path, 'PATH')
}

/** Returns the statements that an answer took. */
async function recordStatements(path: string, headers: Record<string, string> = {}): Promise<string[]> {
  const statements: string[] = []
  await fetchFile(path, { headers, bindings: watchDatabase((statement) => statements.push(statement)) })
  return statements
}

describe('a public file', () => {
  it('is served with its type, its name, its hash, and headers that prevent rendering it as a page', async () => {
    const file = await seedStoredFile({ name: 'Fotoægge.png' })
    const { status, headers, bytes } = await fetchFile(buildPath(file))
    expect(status).toBe(200)
    expect(bytes).toEqual(file.content)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(file.content.length),
      'content-disposition': `inline; filename="Foto_gge.png"; filename*=UTF-8''Foto%C3%A6gge.png`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"${file.checksum_sha256}"`,
      'last-modified': 'Thu, 15 Jan 2026 09:00:00 GMT',
      'cache-control': 'public, max-age=31536000, s-maxage=60, immutable',
      'accept-ranges': 'bytes',
    })
    expect(headers.get('set-cookie')).toBeNull()
  })

  it('takes one database query, which the log shows', async () => {
    const { headers } = await fetchFile(buildPath(await seedStoredFile()), { headers: { range: 'bytes=0-1' } })
    expect(headers.get('server-timing')).toContain('queries=1 round_trips=1 rows_read=1 rows_written=0')
  })

  it.each([
    ['application/pdf', 'a.pdf', 'attachment'],
    ['text/csv', 'a.csv', 'attachment'],
    ['text/html', 'a.html', 'attachment'],
    ['image/svg+xml', 'a.svg', 'attachment'],
    ['image/gif', 'a.gif', 'inline'],
  ])('has a disposition that fits its type: %s', async (mime_type, name, kind) => {
    const file = await seedStoredFile({ mime_type, name, purpose: 'attachment' })
    const { headers } = await fetchFile(buildPath(file))
    expect(headers.get('content-disposition')).toMatch(new RegExp(`^${kind}; filename="${name}"`))
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  })

  it('answers HEAD as GET, without the bytes', async () => {
    const file = await seedStoredFile()
    const head = await fetchFile(buildPath(file), { method: 'HEAD', headers: { range: 'bytes=0-1' } })
    expect(head.status).toBe(200)
    expect(head.bytes).toHaveLength(0)
    expect(head.headers.get('content-length')).toBe(String(file.content.length))
    expect(head.headers.get('etag')).toBe(`"${file.checksum_sha256}"`)
  })

  it('refuses other methods', async () => {
    const reply = await fetchFile(buildPath(await seedStoredFile()), { method: 'POST' })
    expect(reply.status).toBe(405)
    expect(reply.headers.get('allow')).toBe('GET, HEAD')
  })

  it('takes one database query the first time, and none while it is cached', async () => {
    const file = await seedStoredFile()
    const job = createJob()
    await findServedFile(job, { id: file.id, key: file.access_key, variant: 'original', token: undefined })
    expect(job.db.meter).toEqual({ queries: 1, round_trips: 1, rows_read: 1, rows_written: 0 })
    await fetchFile(buildPath(file))
    expect(await recordStatements(buildPath(file))).toEqual([])
    expect(await recordStatements(buildPath(file), { range: 'bytes=0-1' })).toEqual([])
  })

  it('is limited by network only when it is not cached', async () => {
    const file = await seedStoredFile()
    const LINK_RATE_LIMITER = createCountingLimiter(1)
    const bindings = { LINK_RATE_LIMITER, RATE_LIMIT_PER_MINUTE: '600' }
    const headers = { 'cf-connecting-ip': '192.0.2.7' }
    const ask = (path = buildPath(file)) => fetchFile(path, { bindings, headers })
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(200)
    const other = await ask(buildPath(await seedStoredFile()))
    expect(other.status).toBe(429)
    expect(LINK_RATE_LIMITER.keys).toEqual(Array.from({ length: 2 }, () => 'files 192.0.2.7'))
  })
})

describe('a file that cannot be served', () => {
  it('returns the same 404 when it is unknown, deleted, quarantined, an import, or has a wrong key', async () => {
    const file = await seedStoredFile()
    const other = await seedStoredFile()
    const deleted = await seedStoredFile()
    await write(sql`delete from files where id = ${deleted.id}`)
    const quarantined = await seedStoredFile({ status: 'quarantined' })
    const imported = await seedStoredFile({ purpose: 'import', mime_type: 'text/csv' })
    const pdf = await seedStoredFile({ mime_type: 'application/pdf' })
    const expected = await notFoundBytes(buildPath({ ...file, id: unknownId(file.id) }))
    for (const path of [
      buildPath({ ...file, access_key: other.access_key }),
      buildPath({ ...file, access_key: file.access_key.slice(1) }),
      buildPath(deleted),
      buildPath(quarantined),
      buildPath(quarantined, 'thumbnail'),
      buildPath(imported),
      buildPath(imported, 'thumbnail'),
      buildPath(pdf, 'thumbnail'),
      `/files/${file.id}/${file.access_key}/huge`,
      `/files/${file.id}/${file.access_key}/toString`,
      `/files/${file.id}/%27%20or%201/original`,
      `/files/org_1/${file.access_key}/original`,
      `${buildPath(file)}?token=abc`,
      `${buildPath(file)}?token=`,
    ])
      expect(await notFoundBytes(path), path).toBe(expected)
  })

  it('is refused without a database query when the address cannot be valid', async () => {
    expect(await recordStatements(`/files/fil_1/${'a'.repeat(32)}/original`)).toEqual([])
  })

  it('returns 404 with an entry in the log when its bytes are missing', async () => {
    const file = await seedStoredFile()
    await env.FILES.delete(file.storage_key)
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const logged = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    await notFoundBytes(buildPath(file))
    expect([...log.mock.calls, ...logged.mock.calls].flat().join()).toContain(file.storage_key)
    vi.restoreAllMocks()
  })

  it('is removed from the caches within a minute after the deletion', async () => {
    const file = await seedStoredFile()
    const copy = () => caches.default.match(`https://api.example${buildPath(file)}`)
    await fetchFile(buildPath(file))
    await expect.poll(copy).toBeDefined()
    const headers = (await copy())?.headers
    expect(headers?.get('cache-control')).toContain('s-maxage=60')
    await caches.default.delete(`https://api.example${buildPath(file)}`)
    await write(sql`delete from files where id = ${file.id}`)
    await notFoundBytes(buildPath(file))
  })
})

describe('a private file', () => {
  it('is served by a signed address for 15 minutes, and is never cached', async () => {
    const file = await seedStoredFile({
      purpose: 'import',
      mime_type: 'text/csv',
      name: 'Ordrer.csv',
      content: latin('a,b\n1,2\n'),
    })
    const path = await signed(file)
    for (let time = 0; time < 2; time++) {
      const { status, headers, bytes } = await fetchFile(path)
      expect(status).toBe(200)
      expect(bytes).toEqual(file.content)
      expect(headers.get('cache-control')).toBe('private, no-store')
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="Ordrer.csv"/)
    }
    expect(await caches.default.match(`https://api.example${path}`)).toBeUndefined()
    expect(await caches.default.match(`https://api.example${buildPath(file)}`)).toBeUndefined()
    expect((await fetchFile(path, { headers: { range: 'bytes=0-2' } })).headers.get('cache-control')).toBe(
      'private, no-store',
    )
  })

  it('is refused after 15 minutes, with another file’s or a changed address, or without a signing key', async () => {
    const [file, other] = [await seedStoredFile({ purpose: 'import' }), await seedStoredFile({ purpose: 'import' })]
    const token = (path: string) => path.split('?')[1]
    const now = Date.now()
    expect((await fetchFile(await signed(file, now - 899_000))).status).toBe(200)
    await notFoundBytes(await signed(file, now - 901_000))
    await notFoundBytes(`${buildPath(file)}?${token(await signed(other))}`)
    await notFoundBytes(`${buildPath({ ...file, access_key: other.access_key })}?${token(await signed(file))}`)
    await notFoundBytes(`${buildPath(file, 'thumbnail')}?${token(await signed(file))}`)
    const path = await signed(file)
    await notFoundBytes(path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A'))
    const forged = signFileAddress('', '', { file, now })
    expect((await fetchFile(forged, { bindings: { LINK_SIGNING_KEY: '' } })).status).toBe(404)
  })

  it('is served only to the scanner while it is in quarantine', async () => {
    const file = await seedStoredFile({ status: 'quarantined' })
    await notFoundBytes(await signed(file))
    const { status, headers } = await fetchFile(await signed(file, Date.now(), 'scanner'))
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('private, no-store')
  })
})

describe('the configured FILES_URL', () => {
  const bindings = { FILES_URL: 'https://files.example.test' }
  const origin = 'https://files.example.test'

  it('serves files, and nothing else', async () => {
    const file = await seedStoredFile()
    expect((await fetchFile(buildPath(file), { bindings, origin })).bytes).toEqual(file.content)
    for (const path of [
      '/',
      '/docs',
      '/openapi.json',
      '/healthz',
      '/v1/auth/user-info',
      '/dev/outbox',
      '/files',
      '/file-scans/a',
    ])
      for (const place of [origin, 'https://FILES.example.test', 'https://files.example.test.'])
        expect((await fetchFile(path, { bindings, origin: place })).status, path).toBe(404)
    expect((await fetchFile(buildPath(file), { bindings, origin, method: 'POST' })).status).toBe(405)
  })

  it('is where other hosts redirect to, with the token of a signed address', async () => {
    const file = await seedStoredFile({ purpose: 'import' })
    const path = await signed(file)
    const { status, headers } = await fetchFile(path, { bindings })
    expect(status).toBe(308)
    expect(headers.get('location')).toBe(origin + path)
    expect(headers.get('cache-control')).toBe('no-store')
    expect((await fetchFile('/healthz', { bindings })).status).toBe(200)
  })

  it('is the only host of redirects, for any path', async () => {
    for (const path of ['/files//evil.example/a/original', '/files/a/b/..%2f..%2fc', '/files/@evil.example/a/original'])
      expect(new URL((await fetchFile(path, { bindings })).headers.get('location') ?? '').origin).toBe(origin)
  })

  it.each([
    'files.example.test',
    'https://files.example.test/here',
    'ftp://files.example.test',
    'https://events.example.test',
  ])('is refused at the start: %j', async (FILES_URL) => {
    const { readConfig } = await import('../../src/entry/config.ts')
    expect(() => readConfig({ ...env, FILES_URL })).toThrow(/FILES_URL/)
  })

  it('is refused as a destination of webhooks', async () => {
    const { readConfig } = await import('../../src/entry/config.ts')
    const config = readConfig({ ...env, ...bindings })
    expect(config.webhooks.ownHosts).toEqual(['events.example.test', 'files.example.test'])
    expect(config.files.url).toBe(origin)
    expect(createJob().config.files.url).toBe('https://events.example.test')
  })
})
