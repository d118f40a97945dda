import { beforeAll, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/domain/text/encoding.ts'
import { call, callWith, create, get, patch, publicUrl, remove } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { readCost } from '../support/cost.ts'
import { makeFreshPng, queryRows, sha256Hex, listStoredKeys, uploadRaw } from '../support/files.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedTable } from '../support/seeding/imports/data-imports.ts'
import { givenMember, seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'

let organization: { id: string }
let edition: string
beforeAll(async () => {
  organization = await givenOrganization()
  edition = (await seedEdition(organization)).id
})

const upload = async (bytes = makeFreshPng(), query: Record<string, string> = {}) =>
  (await uploadRaw(organization.id, bytes, { query })).body

describe('uploadFile', () => {
  it('accepts the bytes as the body, the name from Content-Disposition and the fields from the query', async () => {
    const bytes = makeFreshPng()
    const reply = await uploadRaw(organization.id, bytes, {
      name: '../../etc/Poster.png',
      query: { edition_id: edition, title: ' Poster ' },
    })
    expect(reply.status === 201 || reply.text).toBe(true)
    expect(reply.body).toMatchObject({
      organization_id: organization.id,
      edition_id: edition,
      name: 'Poster.png',
      title: 'Poster',
      alt_text: {},
      purpose: 'image',
      mime_type: 'image/png',
      size: bytes.length,
      checksum_sha256: await sha256Hex(bytes),
      width: 640,
      height: 480,
      status: 'ready',
      is_used: false,
      used_by: [],
      tags: [],
      metadata: {},
    })
    expect(reply.headers.get('location')).toMatch(new RegExp(`/v1/files/${reply.body.id}$`))
    expect(reply.body.image.original).toMatch(new RegExp(`^${publicUrl}/files/${reply.body.id}/[0-9a-f]{32}/original$`))
    const [row] = await queryRows<{ storage_key: string }>('select storage_key from files where id = ?', reply.body.id)
    expect(await listStoredKeys()).toContain(row?.storage_key)
  })

  it('accepts a body of unknown length', async () => {
    const text = `name,email\r\n${'Ægir,aegir@example.dk\r\n'.repeat(300_000)}`
    const bytes = utf8(text)
    expect(bytes.length).toBeGreaterThan(6_000_000)
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 1_000_000) controller.enqueue(bytes.slice(at, at + 1_000_000))
        controller.close()
      },
    })
    const reply = await uploadRaw(organization.id, stream, { type: 'text/csv', name: 'orders.csv' })
    expect(reply.status === 201 || reply.text).toBe(true)
    expect(reply.body).toMatchObject({
      purpose: 'import',
      size: bytes.length,
      checksum_sha256: await sha256Hex(bytes),
      url: expect.stringMatching(new RegExp(`^${publicUrl}/files/fil_\\w+/[0-9a-f]{32}/original\\?token=`)),
      image: null,
    })
  })

  it('writes at most 8 rows, for new and for known bytes', async () => {
    const bytes = makeFreshPng()
    const first = await uploadRaw(organization.id, bytes, { query: { edition_id: edition } })
    const secondReply = await uploadRaw(organization.id, bytes, { query: { edition_id: edition } })
    expect(readCost(first)).toMatchObject({ queries: 5, round_trips: 1, rows_written: 8 })
    expect(readCost(secondReply)).toMatchObject({ queries: 5, round_trips: 1, rows_written: 6 })
  })

  describe('of a form with an Idempotency-Key', () => {
    const sendForm = (key: string, content: Uint8Array<ArrayBuffer>, title = 'One') => {
      const form = new FormData()
      form.set('file', new Blob([content], { type: 'image/png' }), 'a.png')
      form.set('organization_id', organization.id)
      form.set('title', title)
      return call('/v1/files', { method: 'POST', raw: form, headers: { 'idempotency-key': key } })
    }

    it('makes one file, also with another boundary', async () => {
      const [key, bytes] = [crypto.randomUUID(), makeFreshPng()]
      const first = await sendForm(key, bytes)
      const keys = await listStoredKeys()
      const { status, headers, body } = await sendForm(key, bytes)
      expect([status, headers.get('idempotency-replayed'), body.id]).toEqual([201, 'true', first.body.id])
      expect(await listStoredKeys()).toEqual(keys)
    })

    it.each([
      ['bytes', (key: string) => sendForm(key, makeFreshPng())],
      ['fields', (key: string, bytes: Uint8Array<ArrayBuffer>) => sendForm(key, bytes, 'Two')],
    ])('refuses other %s with the same key, and stores nothing', async (_, send) => {
      const [key, bytes] = [crypto.randomUUID(), makeFreshPng()]
      await sendForm(key, bytes)
      const keys = await listStoredKeys()
      expect(describeRefusal(await send(key, bytes))).toBe('422 idempotency_key_reused')
      expect(await listStoredKeys()).toEqual(keys)
    })
  })
})

describe('listFiles', () => {
  const files = { table: '', image: '' }
  let here: { id: string }
  let there: string
  beforeAll(async () => {
    here = await givenOrganization()
    there = (await seedEdition(here)).id
    const csv = utf8('a,b\n1,2\n')
    files.table = (await uploadRaw(here.id, csv, { type: 'text/csv', name: 'Bestillinger Ærø.csv' })).body.id
    files.image = (await uploadRaw(here.id, makeFreshPng(), { query: { edition_id: there, title: 'Scene' } })).body.id
    await patch(`/v1/editions/${there}`, { meta_image_id: files.image })
  })
  const list = async (filters: Record<string, string>): Promise<string[]> => {
    const path = `/v1/files?${new URLSearchParams({ organization_id: here.id, ...filters }).toString()}`
    return (await get(path)).body.results.map(({ id }: { id: string }) => id)
  }

  it.each<[Record<string, string>, (keyof typeof files)[]]>([
    [{}, ['image', 'table']],
    [{ ordering: 'size' }, ['table', 'image']],
    [{ ordering: 'name' }, ['table', 'image']],
    [{ purpose: 'import' }, ['table']],
    [{ mime_type: 'image/png' }, ['image']],
    [{ search: 'aero' }, ['table']],
    [{ search: 'scene' }, ['image']],
    [{ is_used: 'true' }, ['image']],
    [{ is_used: 'false' }, ['table']],
  ])('applies all filters and orderings: %j', async (filters, expected) => {
    expect(await list(filters)).toEqual(expected.map((name) => files[name]))
  })

  it('filters by edition', async () => {
    expect(await list({ edition_id: there })).toEqual([files.image])
  })
})

describe('updateFile', () => {
  it('changes the fields of a file, and keeps its bytes', async () => {
    const file = await upload()
    const reply = await patch(`/v1/files/${file.id}`, {
      name: 'a/b\u202egnp.png',
      title: 'Title',
      alt_text: { da: 'En scene' },
      tags: ['x'],
      metadata: { a: 1 },
      purpose: 'other',
      edition_id: edition,
    })
    expect(reply.status === 200 || reply.text).toBe(true)
    expect(reply.body).toMatchObject({
      name: 'bgnp.png',
      title: 'Title',
      alt_text: { da: 'En scene' },
      tags: ['x'],
      metadata: { a: 1 },
      purpose: 'other',
      edition_id: edition,
      checksum_sha256: file.checksum_sha256,
    })
    expect((await get(`/v1/files/${file.id}`)).body).toEqual(reply.body)
  })

  it('refuses another purpose for a file that an edition shows', async () => {
    const file = await upload()
    const { id } = await seedEdition(organization)
    await patch(`/v1/editions/${id}`, { meta_image_id: file.id })
    expect(describeRefusal(await patch(`/v1/files/${file.id}`, { purpose: 'other' }))).toBe('409 file_in_use')
    expect((await get(`/v1/files/${file.id}`)).body.purpose).toBe('image')
  })

  it('refuses a purpose that the type of the file does not have', async () => {
    const file = await upload()
    const refusal = await patch(`/v1/files/${file.id}`, { purpose: 'import' })
    expect(describeRefusal(refusal)).toMatch(/^400 validation_error: \w+ #\/purpose$/)
    expect((await get(`/v1/files/${file.id}`)).body.purpose).toBe('image')
  })
})

describe('deleteFile', () => {
  it('refuses to delete a file that an edition shows, names the edition, and deletes it afterwards', async () => {
    const file = await upload()
    await patch(`/v1/editions/${edition}`, { meta_image_id: file.id })
    const fileReply = (await get(`/v1/files/${file.id}`)).body
    const use = { type: 'edition', id: edition, field: 'meta_image_id' }
    expect([fileReply.is_used, fileReply.used_by]).toMatchObject([true, [use]])
    const refusal = await remove(`/v1/files/${file.id}`)
    expect(describeRefusal(refusal)).toBe('409 file_in_use')
    expect(refusal.body.related_objects).toMatchObject([use])
    expect((await get(`/v1/editions/${edition}`)).body.meta_image.original).toBe(fileReply.image.original)
    await patch(`/v1/editions/${edition}`, { meta_image_id: null })
    expect((await remove(`/v1/files/${file.id}`)).status).toBe(204)
    expect((await get(`/v1/files/${file.id}`)).status).toBe(404)
  })

  it('deletes a file before an edition begins to show it, and the edition does not show it', async () => {
    const file = await upload()
    const statuses: number[] = []
    const bindings = interruptDatabase(/update "editions"/, async () => {
      statuses.push((await remove(`/v1/files/${file.id}`)).status)
    })
    const reply = await callWith(bindings, `/v1/editions/${edition}`, {
      method: 'PATCH',
      body: { meta_image_id: file.id },
    })
    expect([statuses, reply.status, reply.body.errors[0]?.pointer]).toEqual([[204], 400, '#/meta_image_id'])
    expect((await get(`/v1/editions/${edition}`)).body.meta_image_id).toBeNull()
  })

  it('keeps a file that an edition begins to show at the same time', async () => {
    const file = await upload()
    const bindings = interruptDatabase(/delete from files/, () =>
      patch(`/v1/editions/${edition}`, { meta_image_id: file.id }),
    )
    const reply = await callWith(bindings, `/v1/files/${file.id}`, { method: 'DELETE' })
    expect(describeRefusal(reply)).toBe('409 file_in_use')
    expect((await get(`/v1/editions/${edition}`)).body.meta_image_id).toBe(file.id)
    await patch(`/v1/editions/${edition}`, { meta_image_id: null })
  })
})

describe('getFile', () => {
  describe('of the file of an import', () => {
    let place: { organization: { id: string }; edition: string }
    let file: string
    let importId: string
    beforeAll(async () => {
      const own = await givenOrganization()
      place = { organization: own, edition: (await seedEdition(own)).id }
      file = await seedTable({ organization: own.id, edition: place.edition })
      const shop = { organization_id: own.id, edition_id: place.edition }
      importId = (await create('/v1/data-imports', { ...shop, file_id: file })).id
    })

    it.each([
      ['manager', 'organisation'],
      ['manager', 'edition'],
      ['viewer', 'organisation'],
      ['viewer', 'edition'],
    ] as const)('names the import only to roles that may read imports: a %s of the %s', async (role, at) => {
      const uses = role === 'manager' ? [{ type: 'data_import', id: importId, field: 'file_id' }] : []
      const { token } = await givenMember(place.organization, role, at === 'edition' ? place.edition : undefined)
      const { body } = await get(`/v1/files/${file}`, token)
      expect([body.is_used, body.used_by, body.used_by.length]).toMatchObject([true, uses, uses.length])
      const listReply = await get(`/v1/files?edition_id=${place.edition}&purpose=import`, token)
      expect([listReply.body.count, listReply.text.includes(importId)]).toEqual([1, role === 'manager'])
    })
  })

  it('names only those users of the file that the caller may see', async () => {
    const other = (await seedEdition(organization)).id
    const file = (await uploadRaw(organization.id, makeFreshPng(), { query: { edition_id: edition } })).body
    await patch(`/v1/editions/${other}`, { meta_image_id: file.id })
    const account = await seedAccount()
    await seedMember(account, { organization: organization.id, edition, role: 'admin' })
    const { token } = await seedToken(account)
    const fileBody = (await get(`/v1/files/${file.id}`, token)).body
    expect([fileBody.is_used, fileBody.used_by]).toEqual([true, []])
    const refusal = await remove(`/v1/files/${file.id}`, token)
    expect([refusal.status, refusal.body.related_objects]).toEqual([409, []])
  })
})
