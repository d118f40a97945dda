import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../../src/domain/text/encoding.ts'
import { sweepObjects, sweepUploads } from '../../../src/modules/files/jobs.ts'
import { completeFileUpload } from '../../../src/modules/files/uploads/complete-upload.ts'
import { findUpload } from '../../../src/modules/files/uploads/upload-queries.ts'
import { get, post, remove } from '../../support/api.ts'
import { createContextAt } from '../../support/context.ts'
import {
  completeParts,
  computeDigest,
  isWhole,
  slicePart,
  partSize,
  putPart,
  startUpload,
  makeTable,
} from '../../support/file-uploads.ts'
import { checkAccount, makeFreshPng, sha256Hex, listStoredKeys, uploadRaw, loadUsedBytes } from '../../support/files.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { seedUpload } from '../../support/seeding/files.ts'
import { givenAdmin } from '../../support/seeding/members.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { next } from '../../support/seeding/rows.ts'

let here: { id: string }
beforeEach(async () => {
  here = await givenOrganization()
})

let big: Uint8Array<ArrayBuffer>
beforeAll(() => {
  big = makeTable(partSize + 1000)
})

const buildImageUpload = () => {
  const bytes = makeFreshPng()
  return { bytes, input: { organization_id: here.id, name: 'a.csv', size: bytes.length } }
}

describe('startFileUpload', () => {
  it('counts the announced bytes against the limit of the organisation at once', async () => {
    await env.DB.prepare(
      'insert into organization_storage (organization_id, used_bytes, limit_bytes) values (?, 0, 6000)',
    )
      .bind(here.id)
      .run()
    const bytes = makeTable(5000)
    const upload = await startUpload(here, bytes)
    const refusal = await post('/v1/files/uploads', { organization_id: here.id, name: 'b.csv', size: 5000 })
    expect(describeRefusal(refusal)).toBe('409 storage_full')
    expect((await remove(`/v1/files/uploads/${upload.id}`)).status).toBe(204)
    expect((await get(`/v1/files/uploads/${upload.id}`)).status).toBe(404)
    expect(await loadUsedBytes(here.id)).toBe(0)
    expect((await startUpload(here, bytes)).id).toMatch(/^upl_/)
  })

  it.each([
    ['an image', 'image/png'],
    ['a page', 'text/html'],
    ['a word', 'csv'],
    ['a long text', 'x'.repeat(256)],
    ['a number', 7],
  ])('refuses %s as the type of a table', async (_, type) => {
    const before = await loadUsedBytes(here.id)
    const refusal = await post('/v1/files/uploads', { ...buildImageUpload().input, content_type: type })
    expect(describeRefusal(refusal)).toMatch(/^400 validation_error: \w+ #\/content_type/)
    expect(await loadUsedBytes(here.id)).toBe(before)
  })

  it('takes an empty type as none', async () => {
    const { status, body } = await post('/v1/files/uploads', { ...buildImageUpload().input, content_type: '' })
    expect([status, body.content_type]).toEqual([201, null])
    await remove(`/v1/files/uploads/${body.id}`)
    await sweepObjects(createContextAt(Date.now()))
  })
})

describe('putFileUploadPart', () => {
  it('refuses parts with a wrong checksum, size or number, and without a digest', async () => {
    const upload = await startUpload(here, big)
    const last = slicePart(big, 2)
    const cases = [
      [
        await putPart(upload.id, 2, last, { headers: { 'content-digest': await computeDigest(new Uint8Array(1)) } }),
        400,
        'checksum_mismatch',
      ],
      [await putPart(upload.id, 2, last.slice(1)), 400, 'validation_error'],
      [await putPart(upload.id, 1, last), 400, 'validation_error'],
      [await putPart(upload.id, 3, last), 404, 'not_found'],
      [await putPart(upload.id, 0, last), 404, 'not_found'],
      [await putPart(upload.id, '02', last), 404, 'not_found'],
      [await putPart(upload.id, 2, last, { headers: { 'content-digest': 'md5=:AAAA:' } }), 400, 'validation_error'],
      [await putPart(upload.id, 2, last, { headers: { 'content-type': 'text/csv' } }), 415, 'unsupported_media_type'],
      [await putPart(upload.id, 1, new Uint8Array(partSize + 1)), 413, 'file_too_large'],
    ] as const
    for (const [index, [reply, status, code]] of cases.entries())
      expect([index, reply.status, reply.body.code]).toEqual([index, status, code])
    expect((await get(`/v1/files/uploads/${upload.id}`)).body.parts).toEqual([])
  })

  it('stores many parts at once', async () => {
    const bytes = makeTable(3 * partSize)
    const upload = await startUpload(here, bytes)
    const replies = await Promise.all([1, 2, 3].map((number) => putPart(upload.id, number, slicePart(bytes, number))))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    const file = await completeParts(upload.id)
    expect(file.body.checksum_sha256).toBe(await sha256Hex(bytes))
  })
})

describe('getFileUpload', () => {
  it('lists the parts that have arrived, to roles that may write there', async () => {
    const upload = await startUpload(here, big)
    await putPart(upload.id, 2, slicePart(big, 2))
    const path = `/v1/files/uploads/${upload.id}`
    const there = { number: 2, size: 1000, checksum_sha256: await sha256Hex(slicePart(big, 2)) }
    expect((await get(path)).body).toMatchObject({ part_size: partSize, part_count: 2, parts: [there], file_id: null })
    const { token } = await givenAdmin()
    expect((await get(path, token)).status).toBe(404)
  })
})

describe('abortFileUpload', () => {
  it('deletes the parts, which no longer count, and ends the upload', async () => {
    const [before, bytes] = [await listStoredKeys(), makeTable(5000)]
    const upload = await startUpload(here, bytes)
    await putPart(upload.id, 1, bytes)
    expect((await remove(`/v1/files/uploads/${upload.id}`)).status).toBe(204)
    expect([(await putPart(upload.id, 1, bytes)).status, (await completeParts(upload.id)).status]).toEqual([404, 404])
    expect(await loadUsedBytes(here.id)).toBe(0)
    await sweepObjects(createContextAt(Date.now()))
    expect((await listStoredKeys()).filter((key) => !before.includes(key))).toEqual([])
  })
})

describe('completeFileUpload', () => {
  it('makes one file of parts that came in any order', async () => {
    const upload = await startUpload(here, big)
    expect(upload).toMatchObject({ part_size: partSize, part_count: 2, parts: [], file_id: null })
    expect(await loadUsedBytes(here.id)).toBe(big.length)
    const second = await putPart(upload.id, 2, slicePart(big, 2))
    expect(second.status === 200 || second.text).toBe(true)
    expect(second.body.parts).toEqual([{ number: 2, size: 1000, checksum_sha256: await sha256Hex(slicePart(big, 2)) }])
    await putPart(upload.id, 1, slicePart(big, 1))
    const there = (await get(`/v1/files/uploads/${upload.id}`)).body
    expect(there.parts.map(({ number }: { number: number }) => number)).toEqual([1, 2])
    const file = await completeParts(upload.id)
    expect(file.status === 201 || file.text).toBe(true)
    expect(file.body).toMatchObject({
      name: 'orders.csv',
      purpose: 'import',
      mime_type: 'text/csv',
      size: big.length,
      checksum_sha256: await sha256Hex(big),
    })
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [1], ...isWhole })
  })

  it('names missing parts', async () => {
    const upload = await startUpload(here, big)
    await putPart(upload.id, 2, slicePart(big, 2))
    const early = await completeParts(upload.id)
    expect(describeRefusal(early)).toBe('409 upload_incomplete')
    expect(early.body.missing_parts).toEqual([1])
  })

  it('answers with the same file again, and ends the upload', async () => {
    const small = makeTable(2000)
    const upload = await startUpload(here, small)
    await putPart(upload.id, 1, small)
    const file = await completeParts(upload.id)
    const secondReply = await completeParts(upload.id)
    expect([secondReply.status, secondReply.body.id]).toEqual([201, file.body.id])
    expect((await get(`/v1/files/uploads/${upload.id}`)).body.file_id).toBe(file.body.id)
    expect((await putPart(upload.id, 1, small)).body.code).toBe('upload_completed')
    expect((await remove(`/v1/files/uploads/${upload.id}`)).body.code).toBe('upload_completed')
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [1], ...isWhole })
  })

  it('makes one file for several simultaneous requests', async () => {
    const bytes = makeTable(5000)
    const upload = await startUpload(here, bytes)
    await putPart(upload.id, 1, bytes)
    const replies = await Promise.all(Array.from({ length: 5 }, () => completeParts(upload.id)))
    expect(new Set(replies.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect([replies[0]?.status, (await get(`/v1/files?organization_id=${here.id}`)).body.count]).toEqual([201, 1])
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [1], ...isWhole })
    expect(await loadUsedBytes(here.id)).toBe(bytes.length)
  })

  it('accepts 500 MB as a table, and as large an image as an upload by one request', async () => {
    const completeAs = async (size: number, bytes: Uint8Array<ArrayBuffer>) => {
      const edition = (await seedEdition(here)).id
      const id = await seedUpload({ organization: here.id, edition }, bytes, { hasPart: true })
      const ctx = createContextAt(Date.now())
      // The store reports a larger size, so that the test need not send 500 MB.
      const read: typeof ctx.files.read = async (...args) => {
        const stored = await ctx.files.read(...args)
        return stored && { ...stored, size }
      }
      return completeFileUpload({ ...ctx, files: { ...ctx.files, read } }, await findUpload(ctx, id))
    }
    expect(await completeAs(500_000_000, makeTable(5000))).toMatchObject({ mime_type: 'text/csv', size: 500_000_000 })
    await expect(completeAs(10_000_001, makeFreshPng())).rejects.toMatchObject({ code: 'file_too_large' })
    const later = createContextAt(Date.now() + 86_400_001)
    await sweepUploads(later)
    await sweepObjects(later)
  })

  it('counts bytes once that the organisation already stores', async () => {
    const bytes = makeTable(5000)
    await uploadRaw(here.id, bytes, { type: 'text/csv', name: 'a.csv' })
    const upload = await startUpload(here, bytes)
    expect(await loadUsedBytes(here.id)).toBe(10_000)
    await putPart(upload.id, 1, bytes)
    expect((await completeParts(upload.id)).status).toBe(201)
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [2], ...isWhole })
    expect(await loadUsedBytes(here.id)).toBe(5000)
  })

  it('refuses files that are not tables', async () => {
    const bytes = utf8('<svg xmlns="http://www.w3.org/2000/svg"/>')
    const upload = await startUpload(here, bytes)
    await putPart(upload.id, 1, bytes)
    const reply = await completeParts(upload.id)
    expect(describeRefusal(reply)).toBe('415 unsupported_file_type: unsupported_file_type #/file')
    expect((await remove(`/v1/files/uploads/${upload.id}`)).status).toBe(204)
    await sweepObjects(createContextAt(Date.now()))
    expect(await checkAccount(here.id)).toMatchObject({ objects: 0, ...isWhole })
  })

  it('accepts one column of text as a table only when it was declared as CSV, as uploadFile does', async () => {
    const send = async (content_type?: string | null) => {
      const bytes = utf8(`name\r\nperson ${next()}\r\n`)
      const input = { organization_id: here.id, name: 'names.csv', size: bytes.length, content_type }
      const upload = (await post('/v1/files/uploads', input)).body
      await putPart(upload.id, 1, bytes)
      return { upload, bytes, reply: await completeParts(upload.id) }
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
      const uploadReply = await uploadRaw(here.id, bytes, { type: type ?? 'application/octet-stream' })
      expect(uploadReply.body.code).toBe('unsupported_file_type')
      expect((await remove(`/v1/files/uploads/${upload.id}`)).status).toBe(204)
    }
    const refusal = await send('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
    expect(describeRefusal(refusal.reply)).toBe('415 unsupported_file_type: unsupported_file_type #/file')
    await remove(`/v1/files/uploads/${refusal.upload.id}`)
    await sweepObjects(createContextAt(Date.now()))
    expect(await checkAccount(here.id)).toMatchObject({ objects: 1, references: [1], ...isWhole })
  })

  it('refuses content that was declared as a table and is none', async () => {
    const { bytes, input } = buildImageUpload()
    const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
    const upload = (await post('/v1/files/uploads', { ...input, content_type: xlsx })).body
    await putPart(upload.id, 1, bytes)
    const reply = await completeParts(upload.id)
    expect(describeRefusal(reply)).toBe('400 type_mismatch: type_mismatch #/file')
    await remove(`/v1/files/uploads/${upload.id}`)
    await sweepObjects(createContextAt(Date.now()))
  })
})
