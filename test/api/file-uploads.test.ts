import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { toBase64, utf8 } from '../../src/domain/text/encoding.ts'
import { sweepObjects, sweepUploads } from '../../src/modules/files/jobs.ts'
import { completeUpload } from '../../src/modules/files/uploads/complete-upload.ts'
import { findUpload } from '../../src/modules/files/uploads/upload-queries.ts'
import { call, callWith, get, post, remove } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { crashAt } from '../support/crashes.ts'
import { accountOf, freshPng, sha256Hex, storedKeys, uploadRaw, usedBytes } from '../support/files.ts'
import { seedUpload } from '../support/seed-files.ts'
import { next, seedEdition, seedOrganization } from '../support/seed.ts'

const mib = 1024 * 1024
const partSize = 8 * mib

let here: { id: string; event: string }
beforeEach(async () => {
  here = await seedOrganization()
})

/** A table of this many bytes; the number makes it another one. */
function table(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size).fill(0x61)
  bytes.set(utf8(`name,number ${next()}\r\n`))
  bytes.set(utf8(','), 1000)
  return bytes
}

let big: Uint8Array<ArrayBuffer>
beforeAll(() => {
  big = table(partSize + 1000)
})

const start = async (bytes: Uint8Array, name = 'orders.csv') =>
  (await post('/v1/files/uploads', { organization_id: here.id, name, size: bytes.length })).body

const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  `sha-256=:${toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}:`

const slice = (bytes: Uint8Array<ArrayBuffer>, number: number) =>
  bytes.slice((number - 1) * partSize, number * partSize)

async function put(
  id: string,
  number: number | string,
  bytes: Uint8Array<ArrayBuffer>,
  { headers = {}, bindings }: { headers?: Record<string, string>; bindings?: object } = {},
) {
  const request = {
    method: 'PUT',
    raw: bytes,
    headers: { 'content-type': 'application/octet-stream', 'content-digest': await digestOf(bytes), ...headers },
  }
  const path = `/v1/files/uploads/${id}/parts/${number}`
  return bindings ? callWith(bindings, path, request) : call(path, request)
}

const complete = (id: string) => call(`/v1/files/uploads/${id}/complete`, { method: 'POST' })

const isWhole = { isCounted: true, isStored: true, lost: 0 }

describe('an upload in parts', () => {
  it('takes its parts in any order, says which are there, and becomes one file', async () => {
    const upload = await start(big)
    expect(upload).toMatchObject({ part_size: partSize, part_count: 2, parts: [], file_id: null })
    expect(await usedBytes(here.id)).toBe(big.length)
    const second = await put(upload.id, 2, slice(big, 2))
    expect(second.status === 200 || second.text).toBe(true)
    expect(second.body.parts).toEqual([{ number: 2, size: 1000, checksum_sha256: await sha256Hex(slice(big, 2)) }])
    const early = await complete(upload.id)
    expect([early.status, early.body.code, early.body.missing_parts]).toEqual([409, 'upload_incomplete', [1]])
    await put(upload.id, 1, slice(big, 1))
    const there = (await get(`/v1/files/uploads/${upload.id}`)).body
    expect(there.parts.map(({ number }: { number: number }) => number)).toEqual([1, 2])
    const file = await complete(upload.id)
    expect(file.status === 201 || file.text).toBe(true)
    expect(file.body).toMatchObject({
      name: 'orders.csv',
      purpose: 'import',
      mime_type: 'text/csv',
      size: big.length,
      checksum_sha256: await sha256Hex(big),
    })
    const again = await complete(upload.id)
    expect([again.status, again.body.id]).toEqual([201, file.body.id])
    expect((await get(`/v1/files/uploads/${upload.id}`)).body.file_id).toBe(file.body.id)
    expect((await put(upload.id, 1, slice(big, 1))).body.code).toBe('upload_completed')
    expect((await remove(`/v1/files/uploads/${upload.id}`)).body.code).toBe('upload_completed')
    expect(await accountOf(here.id)).toEqual({ objects: 1, references: [1], ...isWhole })
  })

  it('refuses parts with a wrong checksum, size, number or without a digest', async () => {
    const upload = await start(big)
    const last = slice(big, 2)
    const cases = [
      [
        await put(upload.id, 2, last, { headers: { 'content-digest': await digestOf(new Uint8Array(1)) } }),
        400,
        'checksum_mismatch',
      ],
      [await put(upload.id, 2, last.slice(1)), 400, 'validation_error'],
      [await put(upload.id, 1, last), 400, 'validation_error'],
      [await put(upload.id, 3, last), 404, 'not_found'],
      [await put(upload.id, 0, last), 404, 'not_found'],
      [await put(upload.id, '02', last), 404, 'not_found'],
      [await put(upload.id, 2, last, { headers: { 'content-digest': 'md5=:AAAA:' } }), 400, 'validation_error'],
      [await put(upload.id, 2, last, { headers: { 'content-type': 'text/csv' } }), 415, 'unsupported_media_type'],
      [await put(upload.id, 1, new Uint8Array(partSize + 1)), 413, 'file_too_large'],
    ] as const
    for (const [index, [reply, status, code]] of cases.entries())
      expect([index, reply.status, reply.body.code]).toEqual([index, status, code])
    expect((await get(`/v1/files/uploads/${upload.id}`)).body.parts).toEqual([])
  })

  it('of bytes that the organisation has already counts them once', async () => {
    const bytes = table(5000)
    await uploadRaw(here.id, bytes, { type: 'text/csv', name: 'a.csv' })
    const upload = await start(bytes)
    expect(await usedBytes(here.id)).toBe(10_000)
    await put(upload.id, 1, bytes)
    expect((await complete(upload.id)).status).toBe(201)
    expect(await accountOf(here.id)).toEqual({ objects: 1, references: [2], ...isWhole })
    expect(await usedBytes(here.id)).toBe(5000)
  })

  it('counts for the limit from its start', async () => {
    await env.DB.prepare('insert into organization_storage values (?, 0, 6000)').bind(here.id).run()
    const bytes = table(5000)
    const upload = await start(bytes)
    const refused = await post('/v1/files/uploads', { organization_id: here.id, name: 'b.csv', size: 5000 })
    expect([refused.status, refused.body.code]).toEqual([409, 'storage_full'])
    expect((await remove(`/v1/files/uploads/${upload.id}`)).status).toBe(204)
    expect((await get(`/v1/files/uploads/${upload.id}`)).status).toBe(404)
    expect(await usedBytes(here.id)).toBe(0)
    expect((await start(bytes)).id).toMatch(/^upl_/)
  })

  it('may have 500 MB as a table, and no more than others as an image', async () => {
    const completeAs = async (size: number, bytes: Uint8Array<ArrayBuffer>) => {
      const edition = await seedEdition(here)
      const id = await seedUpload({ organization: here.id, edition }, bytes, { hasPart: true })
      const ctx = contextAt(Date.now())
      // The store says that there is more of it than the test wants to send.
      const read: typeof ctx.files.read = async (...asked) => {
        const stored = await ctx.files.read(...asked)
        return stored && { ...stored, size }
      }
      return completeUpload({ ...ctx, files: { ...ctx.files, read } }, await findUpload(ctx, id))
    }
    expect(await completeAs(500_000_000, table(5000))).toMatchObject({ mime_type: 'text/csv', size: 500_000_000 })
    await expect(completeAs(10_000_001, freshPng())).rejects.toMatchObject({ code: 'file_too_large' })
    const later = contextAt(Date.now() + 86_400_001)
    await sweepUploads(later)
    await sweepObjects(later)
  })

  it('of what is no table is refused at its end', async () => {
    const bytes = utf8('<svg xmlns="http://www.w3.org/2000/svg"/>')
    const upload = await start(bytes)
    await put(upload.id, 1, bytes)
    const reply = await complete(upload.id)
    expect([reply.status, reply.body.code]).toEqual([415, 'unsupported_file_type'])
    expect((await remove(`/v1/files/uploads/${upload.id}`)).status).toBe(204)
    await sweepObjects(contextAt(Date.now()))
    expect(await accountOf(here.id)).toMatchObject({ objects: 0, ...isWhole })
  })

  it('of text in one column is a table where it was declared as one, as in one request', async () => {
    const send = async (content_type?: string | null) => {
      const bytes = utf8(`name\r\nperson ${next()}\r\n`)
      const input = { organization_id: here.id, name: 'names.csv', size: bytes.length, content_type }
      const upload = (await post('/v1/files/uploads', input)).body
      await put(upload.id, 1, bytes)
      return { upload, bytes, reply: await complete(upload.id) }
    }
    const declared = await send('Text/CSV; charset=utf-8')
    expect(declared.upload.content_type).toBe('text/csv')
    expect(declared.reply.status === 201 || declared.reply.text).toBe(true)
    expect(declared.reply.body).toMatchObject({ mime_type: 'text/csv', purpose: 'import' })
    expect((await get(`/v1/files/uploads/${declared.upload.id}`)).body.content_type).toBe('text/csv')
    for (const type of [undefined, null, 'application/octet-stream']) {
      const { upload, bytes, reply } = await send(type)
      expect([type, upload.content_type, reply.status, reply.body.code]).toEqual([
        type,
        null,
        415,
        'unsupported_file_type',
      ])
      const whole = await uploadRaw(here.id, bytes, { type: type ?? 'application/octet-stream' })
      expect(whole.body.code).toBe('unsupported_file_type')
      expect((await remove(`/v1/files/uploads/${upload.id}`)).status).toBe(204)
    }
    const wrong = await send('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
    expect([wrong.reply.status, wrong.reply.body.code]).toEqual([415, 'unsupported_file_type'])
    await remove(`/v1/files/uploads/${wrong.upload.id}`)
    await sweepObjects(contextAt(Date.now()))
    expect(await accountOf(here.id)).toMatchObject({ objects: 1, references: [1], ...isWhole })
  })

  it('of a table that was declared as another is refused, and what can be no table from the start', async () => {
    const bytes = table(3000)
    const input = { organization_id: here.id, name: 'a.csv', size: bytes.length }
    const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
    const upload = (await post('/v1/files/uploads', { ...input, content_type: xlsx })).body
    await put(upload.id, 1, bytes)
    const reply = await complete(upload.id)
    expect([reply.status, reply.body.code]).toEqual([400, 'type_mismatch'])
    await remove(`/v1/files/uploads/${upload.id}`)
    const before = await usedBytes(here.id)
    for (const content_type of ['image/png', 'text/html', 'csv', '', 'x'.repeat(256), 7]) {
      const refused = await post('/v1/files/uploads', { ...input, content_type })
      const expected = content_type === '' ? [201, undefined] : [400, '#/content_type']
      expect([content_type, refused.status, refused.body.errors?.[0]?.pointer]).toEqual([content_type, ...expected])
      if (refused.status === 201) await remove(`/v1/files/uploads/${refused.body.id}`)
    }
    expect(await usedBytes(here.id)).toBe(before)
    await sweepObjects(contextAt(Date.now()))
  })

  it('that is left is dropped after a day, its bytes and what was counted for it too', async () => {
    const before = await storedKeys()
    const [open, joined] = [table(5000), table(6000)]
    const first = await start(open)
    await put(first.id, 1, open)
    const second = await start(joined)
    await put(second.id, 1, joined)
    // Its parts were joined, and the request died before it was a file.
    const [row] = (await env.DB.prepare('select * from file_uploads where id = ?').bind(second.id).all()).results
    const [part] = (await env.DB.prepare('select * from file_upload_parts where upload_id = ?').bind(second.id).all())
      .results
    const upload = env.FILES.resumeMultipartUpload(String(row?.['storage_key']), String(row?.['store_upload_id']))
    await upload.complete([{ partNumber: 1, etag: String(part?.['store_etag']) }])
    const job = contextAt(Date.now() + 86_400_001)
    await sweepUploads(job)
    expect(await usedBytes(here.id)).toBe(0)
    await sweepObjects(job)
    expect(await storedKeys()).toEqual(before)
    expect((await get(`/v1/files/uploads/${first.id}`)).status).toBe(404)
    expect(await accountOf(here.id)).toMatchObject({ objects: 0, ...isWhole })
  })

  it('takes many parts at once', async () => {
    const bytes = table(3 * partSize)
    const upload = await start(bytes)
    const replies = await Promise.all([1, 2, 3].map((number) => put(upload.id, number, slice(bytes, number))))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    const file = await complete(upload.id)
    expect(file.body.checksum_sha256).toBe(await sha256Hex(bytes))
  })

  it('goes on after a crash at any call of the store or the database', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const bytes = table(5000)
    const upload = await start(bytes)
    for (let at = 1; ; at++) {
      const { bindings, hasCrashed } = crashAt(at)
      await put(upload.id, 1, bytes, { bindings })
      expect(await accountOf(here.id)).toMatchObject({ objects: 0, ...isWhole })
      if (!hasCrashed()) break
    }
    for (let at = 1; ; at++) {
      const { bindings, hasCrashed } = crashAt(at)
      const reply = await callWith(bindings, `/v1/files/uploads/${upload.id}/complete`, { method: 'POST' })
      expect(await accountOf(here.id)).toMatchObject(isWhole)
      if (hasCrashed()) continue
      expect(reply.status).toBe(201)
      break
    }
    expect(await accountOf(here.id)).toEqual({ objects: 1, references: [1], ...isWhole })
    vi.restoreAllMocks()
  })
})
