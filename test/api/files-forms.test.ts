import { beforeAll, describe, expect, it } from 'vitest'
import { call, get } from '../support/api.ts'
import {
  type FormPart,
  makeFreshPng,
  makePng,
  sha256Hex,
  listStoredKeys,
  uploadForm,
  uploadRaw,
} from '../support/files.ts'
import { image } from '../support/images.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'

let organization: { id: string }
beforeAll(async () => {
  organization = await givenOrganization()
})

describe('uploadFile with a form', () => {
  it('accepts the parts of a form in any order, and JSON for fields of other types', async () => {
    const bytes = makePng(`form \r\n--boundary-of-the-test ${'x'.repeat(70_000)}`)
    const fields = [
      ['organization_id', organization.id],
      ['alt_text', '{"en":"A stage"}'],
      ['tags', '["a","b"]'],
      ['metadata', '{"k":1}'],
    ] as const
    for (const at of [0, 2, 4]) {
      const parts: FormPart[] = fields.map(([name, value]) => [name, value])
      const form: FormPart[] = [...parts.slice(0, at), ['file', bytes, 'a.png', 'image/png'], ...parts.slice(at)]
      const reply = await uploadForm(form)
      expect(reply.status === 201 || reply.text).toBe(true)
      expect(reply.body).toMatchObject({
        name: 'a.png',
        size: bytes.length,
        checksum_sha256: await sha256Hex(bytes),
        alt_text: { en: 'A stage' },
        tags: ['a', 'b'],
        metadata: { k: 1 },
      })
    }
  })

  it('takes an image by its content when its name and its Content-Type say another image', async () => {
    const reply = await uploadForm([
      ['organization_id', organization.id],
      ['file', image('jpeg'), 'a.png', 'image/png'],
    ])
    expect([reply.status, reply.body.mime_type, reply.body.status], reply.text).toEqual([201, 'image/jpeg', 'ready'])
    expect([reply.body.width, reply.body.height]).toEqual([16, 9])
  })

  it('takes a table by its content when its Content-Type says another table', async () => {
    const reply = await uploadForm([
      ['organization_id', organization.id],
      ['file', 'a,b\n1,2\n', 'a.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ])
    expect([reply.status, reply.body.mime_type], reply.text).toEqual([201, 'text/csv'])
  })

  it('refuses an image that is cut off, wherever, and stores nothing of it', async () => {
    const jpeg = image('jpeg')
    // The compressed data of this JPEG are longer than the part that is kept in memory.
    const longJpeg = Uint8Array.from([...jpeg.subarray(0, -2), ...new Uint8Array(1_500_000), ...jpeg.subarray(-2)])
    const own = await givenOrganization()
    const cutImages = [image('png').slice(0, -12), image('png').slice(0, 100), jpeg.slice(0, -2), longJpeg.slice(0, -2)]
    for (const cut of cutImages) {
      const reply = await uploadForm([
        ['organization_id', own.id],
        ['file', cut, 'a.png', 'image/png'],
      ])
      expect(describeRefusal(reply), reply.text).toBe('400 invalid_image: invalid_image #/file')
    }
    expect((await get(`/v1/files?organization_id=${own.id}`)).body.count).toBe(0)
    expect((await uploadRaw(own.id, longJpeg, { name: 'a.jpg', type: 'image/jpeg' })).status).toBe(201)
  })

  it('refuses a field that comes twice in the JSON of a part', async () => {
    const reply = await uploadForm([
      ['organization_id', organization.id],
      ['metadata', '{"a":{"k":1,"k":2}}'],
      ['file', makePng('twice'), 'a.png', 'image/png'],
    ])
    expect(describeRefusal(reply)).toBe('400 validation_error: repeated #/metadata/a/k')
  })

  it('accepts tags as one part each, in their order, or as one JSON part', async () => {
    const many = Array.from({ length: 50 }, (_, index) => `tag ${49 - index}`)
    const cases: [parts: FormPart[], tags: string[]][] = [
      [[['tags', '0']], ['0']],
      [[['tags', 'poster']], ['poster']],
      [
        [
          ['tags', 'b'],
          ['tags', 'a'],
        ],
        ['b', 'a'],
      ],
      [
        [
          ['tags', 'true'],
          ['tags', '["a"]'],
          ['tags', '{"b":1}'],
        ],
        ['true', '["a"]', '{"b":1}'],
      ],
      [many.map((tag): FormPart => ['tags', tag]), many],
      [[['tags', '["b","a"]']], ['b', 'a']],
      [[['tags', '[]']], []],
      [[['tags', ' ["c"] ', undefined, 'application/json; charset=utf-8']], ['c']],
      [[['tags', '[c']], ['[c']],
      [[], []],
    ]
    for (const [parts, tags] of cases) {
      const reply = await uploadForm([
        ['organization_id', organization.id],
        ...parts.slice(0, 1),
        ['file', makeFreshPng(), 'a.png', 'image/png'],
        ...parts.slice(1),
      ])
      expect([reply.status, reply.body.tags], reply.text).toEqual([201, tags])
    }
  })

  it('treats another order of tags under one key as another request, and of fields as the same', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const bytes = makeFreshPng()
    const send = (...parts: FormPart[]) =>
      uploadForm([['organization_id', organization.id], ...parts, ['file', bytes, 'a.png', 'image/png']], { headers })
    const first = await send(['tags', 'b'], ['title', 'A'], ['tags', 'a'])
    expect(first.status === 201 || first.text).toBe(true)
    const moved = await send(['title', 'A'], ['tags', 'b'], ['tags', 'a'])
    expect([moved.status, moved.body.id, moved.headers.get('idempotency-replayed')]).toEqual([
      201,
      first.body.id,
      'true',
    ])
    const other = await send(['tags', 'a'], ['title', 'A'], ['tags', 'b'])
    expect(describeRefusal(other)).toBe('422 idempotency_key_reused')
  })

  it('accepts the form that a browser sends', async () => {
    const form = new FormData()
    form.set('organization_id', organization.id)
    form.set('file', new Blob([makeFreshPng()], { type: 'image/png' }), 'Ærø "1".png')
    const reply = await call('/v1/files', { method: 'POST', raw: form })
    expect(reply.status === 201 || reply.text).toBe(true)
    expect(reply.body.name).toBe('Ærø _1_.png')
  })

  it('points at each fault of a form or a body, and stores nothing', async () => {
    const before = await listStoredKeys()
    const bytes = makeFreshPng()
    const org = ['organization_id', organization.id] as [string, string]
    const file = ['file', bytes, 'a.png', 'image/png'] as [string, Uint8Array, string, string]
    const buildTags = (count: number): FormPart[] => Array.from({ length: count }, (_, index) => ['tags', `${index}`])
    const cases = [
      [await uploadForm([org]), 400, 'validation_error', '#/file'],
      [await uploadForm([org, file, file]), 400, 'validation_error', '#/file'],
      [await uploadForm([file, org, org]), 400, 'validation_error', '#/organization_id'],
      [await uploadForm([file]), 400, 'validation_error', '#/organization_id'],
      [await uploadForm([file, org, ['tags', 'a'], ['tags', 'a']]), 400, 'validation_error', '#/tags'],
      [await uploadForm([file, org, ['tags', '']]), 400, 'validation_error', '#/tags/0'],
      [await uploadForm([file, org, ['tags', '["a",1]']]), 400, 'validation_error', '#/tags/1'],
      [
        await uploadForm([file, org, ['tags', '"a"', undefined, 'application/json']]),
        400,
        'validation_error',
        '#/tags',
      ],
      [await uploadForm([file, org, ['tags', 'a', undefined, 'application/json']]), 400, 'validation_error', '#/tags'],
      [await uploadForm([file, org, ...buildTags(51)]), 400, 'validation_error', '#/tags'],
      [await uploadForm([file, org, ...buildTags(100)]), 400, 'validation_error', '#/tags'],
      [await uploadForm([file, org, ['alt_text', '{}'], ['alt_text', '{}']]), 400, 'validation_error', '#/alt_text'],
      [await uploadForm([file, org, ['tags', '["a","a"]']]), 400, 'validation_error', '#/tags'],
      [await uploadForm([file, org, ['colour', 'red']]), 400, 'validation_error', '#/colour'],
      [await uploadForm([file, org, ['title', 'a\0']]), 400, 'validation_error', '#/title'],
      [await uploadForm([file, org, ['purpose', 'import']]), 400, 'validation_error', '#/purpose'],
      [await uploadForm([file, org, ['edition_id', 'edt_none']]), 400, 'validation_error', '#/edition_id'],
      [await uploadForm([org, ['file', 'a', 'a.svg', 'image/svg+xml']]), 415, 'unsupported_file_type', '#/file'],
      [await uploadForm([org, ['file', bytes, 'a.csv', 'text/csv']]), 400, 'type_mismatch', '#/file'],
      [await uploadForm([org, ['file', '', 'a.png']]), 400, 'empty_file', '#/file'],
      [await uploadRaw(organization.id, new Uint8Array()), 400, 'empty_file', '#/file'],
      [await uploadRaw(organization.id, bytes, { type: 'text/html' }), 415, 'unsupported_media_type', undefined],
      [
        await uploadRaw(organization.id, bytes, { headers: { 'content-encoding': 'gzip' } }),
        415,
        'unsupported_media_type',
        undefined,
      ],
      [await uploadRaw(organization.id, makePng('big', { size: 10_000_001 })), 413, 'file_too_large', '#/file'],
    ] as const
    for (const [index, [reply, status, code, pointer]] of cases.entries())
      expect([index, reply.status, reply.body.code, reply.body.errors[0]?.pointer]).toEqual([
        index,
        status,
        code,
        pointer,
      ])
    expect(await listStoredKeys()).toEqual(before)
  })

  it('refuses a truncated form, and a form without a boundary or a file name', async () => {
    const before = await listStoredKeys()
    const send = (raw: string, type = 'multipart/form-data; boundary=x') =>
      call('/v1/files', { method: 'POST', raw, headers: { 'content-type': type } })
    for (const raw of [
      '',
      '--x',
      '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nabc',
      '--x\r\nContent-Type: text/plain\r\n\r\nabc\r\n--x--',
      `--x\r\nContent-Disposition: form-data; name="${'n'.repeat(9000)}"\r\n\r\n\r\n--x--`,
    ]) {
      const reply = await send(raw)
      expect([raw.slice(0, 60), reply.status, reply.body.code]).toEqual([raw.slice(0, 60), 400, 'malformed_body'])
    }
    expect((await send('', 'multipart/form-data')).body.code).toBe('malformed_body')
    expect(await listStoredKeys()).toEqual(before)
  })
})
