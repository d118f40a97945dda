import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { latin } from '../../support/file-bytes.ts'
import { isWhole } from '../../support/file-uploads.ts'
import { checkAccount, listStoredKeys, makeFreshPng, queryRows, uploadForm, uploadRaw } from '../../support/files.ts'
import { harmlessFiles, hostileFiles } from '../../support/hostile-files.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedStoredFile } from '../../support/seeding/files.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { type Fetch, fetchFile, buildPath } from '../../support/served-files.ts'

/** Accepted files that are sent completely, because the table has only the beginning of the others. */
const acceptedFiles = [...hostileFiles, ...harmlessFiles].filter(
  ({ expected: [type], size }) => type.includes('/') && size === undefined,
)

const isInline = (type: string) => type.startsWith('image/')

function expectHarmless(headers: Headers, type: string): void {
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': type,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  })
  const disposition = headers.get('content-disposition') ?? ''
  expect(disposition).toMatch(isInline(type) ? /^inline; / : /^attachment; /)
  expect(disposition).toMatch(/^[a-z]+; filename="[\u0020\u0021\u0023-\u007e]*"; filename\*=UTF-8''[\w!#$&+.^`|~%-]+$/)
  expect(headers.get('set-cookie')).toBeNull()
}

const refusedFiles = hostileFiles.filter(({ expected: [code], size }) => !code.includes('/') && size === undefined)
const statusOf: Record<string, number> = {
  empty_file: 400,
  invalid_image: 400,
  type_mismatch: 400,
  unsupported_file_type: 415,
}

describe('a malicious file', () => {
  it('is refused with a reason, for any declared type, and is not stored', async () => {
    const { id } = await givenOrganization()
    const before = await listStoredKeys()
    expect(refusedFiles.length).toBeGreaterThanOrEqual(40)
    for (const { name, content, declared, expected } of refusedFiles) {
      const [code, words] = expected
      const reply = await uploadForm([
        ['organization_id', id],
        ['file', content, 'photo.png', declared],
      ])
      const [fault] = reply.body.errors
      expect([name, reply.status, reply.body.code, fault.pointer]).toEqual([name, statusOf[code], code, '#/file'])
      expect(fault.detail).toMatch(words as RegExp)
    }
    expect(await listStoredKeys()).toEqual(before)
    expect(await checkAccount(id)).toEqual({ objects: 0, references: [], ...isWhole })
  })
})

describe('a file that is valid as two types', () => {
  it('is served byte by byte with the type that was detected, and never with the other', async () => {
    const { id } = await givenOrganization()
    expect(acceptedFiles.length).toBeGreaterThanOrEqual(25)
    for (const { name, content, declared, expected } of acceptedFiles) {
      const [type] = expected
      const sent = declared?.startsWith('text/') ? 'text/csv' : 'application/octet-stream'
      const reply = await uploadRaw(id, content, { type: sent, name: 'index.html' })
      expect([name, reply.status]).toEqual([name, 201])
      expect(reply.body.name).toMatch(/^index\.html\.\w+$/)
      const { pathname, search } = new URL(reply.body.url)
      const served = await fetchFile(pathname + search, { headers: { accept: 'text/html' } })
      expect([name, served.status]).toEqual([name, 200])
      expect(served.bytes).toEqual(content)
      expectHarmless(served.headers, type)
      const part = await fetchFile(pathname + search, { headers: { range: 'bytes=1-3' } })
      expect(part.status).toBe(206)
      expectHarmless(part.headers, type)
    }
  })
})

describe('a malicious file name', () => {
  it.each([
    [`attachment; filename*=UTF-8''a%0D%0ASet-Cookie:%20a=b.png`, 'aSet-Cookie_ a=b.png'],
    [`attachment; filename*=UTF-8''photo%00.html`, 'photo.html.png'],
    [`attachment; filename*=UTF-8''%E2%80%AEgnp.exe`, 'gnp.exe.png'],
    [`attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd`, 'passwd.png'],
    [`attachment; filename*=UTF-8''a%2522.png`, 'a%22.png'],
    [`attachment; filename="a%0d%0aLocation: x.png"`, 'aLocation_ x.png'],
    [String.raw`attachment; filename="a\"; filename*=x.html"`, 'a_; filename_=x.html.png'],
    [`attachment; filename="page.html"; filename*=UTF-8''photo.png`, 'photo.png'],
    [`attachment; filename="%2e%2e%5cphoto.png"`, '%2e%2e%5cphoto.png'],
    [`attachment; filename=.htaccess`, 'htaccess.png'],
    [`inline; filename="aux.png"`, '_aux.png'],
    [`attachment`, 'file.png'],
  ])('is stored and served without harm: %j', async (disposition, expected) => {
    const { id } = await givenOrganization()
    const bytes = makeFreshPng()
    const reply = await uploadRaw(id, bytes, { headers: { 'content-disposition': disposition } })
    expect([reply.status, reply.body.name]).toEqual([201, expected])
    const { headers } = await fetchFile(new URL(reply.body.url).pathname)
    expectHarmless(headers, 'image/png')
    const [, encoded = ''] = /filename\*=UTF-8''(.*)$/.exec(headers.get('content-disposition') ?? '') ?? []
    expect(decodeURIComponent(encoded)).toBe(expected)
  })

  it.each([`attachment; filename*=UTF-8''%FF.png`, `attachment; filename*=UTF-8''%`])(
    'is refused, and nothing is stored: %j',
    async (disposition) => {
      const { id } = await givenOrganization()
      const reply = await uploadRaw(id, latin('a,b\n1,2\n'), {
        type: 'text/csv',
        headers: { 'content-disposition': disposition },
      })
      expect(describeRefusal(reply)).toBe('400 malformed_body: invalid #')
      expect(await queryRows('select id from files where organization_id = ?', id)).toEqual([])
    },
  )
})

describe('the caches of the service', () => {
  const findCopy = (path: string) => caches.default.match(`https://api.example${path}`)

  it('never store signed addresses, refusals, partial answers or answers to HEAD', async () => {
    const imported = await seedStoredFile({ purpose: 'import', mime_type: 'text/csv' })
    const file = await seedStoredFile()
    const requests: Fetch[] = [
      { method: 'HEAD' },
      { headers: { range: 'bytes=0-1' } },
      { headers: { 'if-match': '"x"' } },
    ]
    for (const options of requests) await fetchFile(buildPath(file), options)
    await fetchFile(buildPath(file), { headers: { 'if-none-match': '*' } })
    await fetchFile(buildPath(imported))
    await fetchFile(`${buildPath(file)}?token=abc`)
    expect(await findCopy(buildPath(file))).toBeUndefined()
    expect(await findCopy(buildPath(imported))).toBeUndefined()
  })

  it('serve a file for at most a minute longer after it became private or went into quarantine', async () => {
    const file = await seedStoredFile()
    await fetchFile(buildPath(file))
    expect((await findCopy(buildPath(file)))?.headers.get('cache-control')).toContain('s-maxage=60')
    await caches.default.delete(`https://api.example${buildPath(file)}`)
    for (const change of ["status = 'quarantined'", "status = 'ready', purpose = 'import'"]) {
      await env.DB.prepare(`update files set ${change} where id = ?`).bind(file.id).run()
      expect((await fetchFile(buildPath(file))).status).toBe(404)
      expect(await findCopy(buildPath(file))).toBeUndefined()
    }
  })

  it('answer conditions, ranges and HEAD as the store does', async () => {
    const [cached, fresh] = [await seedStoredFile({ name: 'same.png' }), await seedStoredFile({ name: 'same.png' })]
    await fetchFile(buildPath(cached))
    expect(await findCopy(buildPath(cached))).toBeDefined()
    const buildConditions = (etag: string): Record<string, string>[] => [
      { 'if-none-match': etag },
      { 'if-none-match': etag, range: 'bytes=0-1' },
      { 'if-none-match': '"x"', range: 'bytes=0-1' },
      { 'if-match': '"x"' },
      { 'if-match': '"x"', range: 'bytes=0-1' },
      { 'if-match': etag, range: 'bytes=2-4' },
      { 'if-range': '"x"', range: 'bytes=2-4' },
      { 'if-range': `W/${etag}`, range: 'bytes=2-4' },
      { 'if-range': etag, range: 'bytes=2-4' },
      { 'if-modified-since': 'Thu, 15 Jan 2026 09:00:00 GMT' },
      { 'if-unmodified-since': 'Wed, 14 Jan 2026 09:00:00 GMT' },
      { range: 'bytes=999999-' },
    ]
    const answers = async (file: typeof cached) => {
      const serverAnswers: unknown[] = []
      for (const headers of buildConditions(`"${file.checksum_sha256}"`))
        for (const method of ['GET', 'HEAD']) {
          const reply = await fetchFile(buildPath(file), { method, headers, isWaiting: false })
          const cache = reply.headers.get('cache-control')
          serverAnswers.push([headers, method, reply.status, reply.status === 206 ? reply.bytes.length : null, cache])
        }
      return JSON.stringify(serverAnswers).replaceAll(file.checksum_sha256, 'HASH')
    }
    expect(await answers(cached)).toBe(await answers(fresh))
  })
})
