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

  it('makes one file for one Idempotency-Key, also with another boundary', async () => {
    const bytes = makeFreshPng()
    const key = { 'idempotency-key': crypto.randomUUID() }
    const send = (content: Uint8Array<ArrayBuffer>, title = 'One') => {
      const form = new FormData()
      form.set('file', new Blob([content], { type: 'image/png' }), 'a.png')
      form.set('organization_id', organization.id)
      form.set('title', title)
      return call('/v1/files', { method: 'POST', raw: form, headers: key })
    }
    const first = await send(bytes)
    const keys = await listStoredKeys()
    const secondReply = await send(bytes)
    expect([secondReply.status, secondReply.headers.get('idempotency-replayed'), secondReply.body.id]).toEqual([
      201,
      'true',
      first.body.id,
    ])
    for (const other of [await send(makeFreshPng()), await send(bytes, 'Two')])
      expect(describeRefusal(other)).toBe('422 idempotency_key_reused')
    expect(await listStoredKeys()).toEqual(keys)
  })
})

describe('listFiles', () => {
  it('applies all filters and orderings', async () => {
    const here = await givenOrganization()
    const there = (await seedEdition(here)).id
    const csv = utf8('a,b\n1,2\n')
    const table = (await uploadRaw(here.id, csv, { type: 'text/csv', name: 'Bestillinger Ærø.csv' })).body
    const image = (await uploadRaw(here.id, makeFreshPng(), { query: { edition_id: there, title: 'Scene' } })).body
    const list = async (query: Record<string, string>) => {
      const path = `/v1/files?${new URLSearchParams({ organization_id: here.id, ...query }).toString()}`
      return (await get(path)).body.results.map(({ id }: { id: string }) => id)
    }
    expect(await list({})).toEqual([image.id, table.id])
    expect(await list({ ordering: 'size' })).toEqual([table.id, image.id])
    expect(await list({ ordering: 'name' })).toEqual([table.id, image.id])
    expect(await list({ edition_id: there })).toEqual([image.id])
    expect(await list({ purpose: 'import' })).toEqual([table.id])
    expect(await list({ mime_type: 'image/png' })).toEqual([image.id])
    expect(await list({ search: 'aero' })).toEqual([table.id])
    expect(await list({ search: 'scene' })).toEqual([image.id])
    expect(await list({ is_used: 'true' })).toEqual([])
    await patch(`/v1/editions/${there}`, { meta_image_id: image.id })
    expect(await list({ is_used: 'true' })).toEqual([image.id])
    expect(await list({ is_used: 'false' })).toEqual([table.id])
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
    const refusal = await patch(`/v1/files/${file.id}`, { purpose: 'import' })
    expect([refusal.status, refusal.body.errors[0].pointer]).toEqual([400, '#/purpose'])
  })
})

describe('deleteFile', () => {
  it('refuses to delete a file that an edition shows, and names the edition', async () => {
    const file = await upload()
    await patch(`/v1/editions/${edition}`, { meta_image_id: file.id })
    const fileReply = (await get(`/v1/files/${file.id}`)).body
    const use = { type: 'edition', id: edition, field: 'meta_image_id' }
    expect([fileReply.is_used, fileReply.used_by]).toMatchObject([true, [use]])
    const refusal = await remove(`/v1/files/${file.id}`)
    expect(describeRefusal(refusal)).toBe('409 file_in_use')
    expect(refusal.body.related_objects).toMatchObject([use])
    expect((await patch(`/v1/files/${file.id}`, { purpose: 'other' })).body.code).toBe('file_in_use')
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
  it('names imports only to roles that may read imports', async () => {
    const place = { organization: organization.id, edition }
    const file = await seedTable(place)
    const shop = { organization_id: organization.id, edition_id: edition }
    const { id } = await create('/v1/data-imports', { ...shop, file_id: file })
    const uses = [{ type: 'data_import', id, field: 'file_id' }]
    for (const [role, expectedUses] of [
      ['manager', uses],
      ['viewer', []],
    ] as const)
      for (const at of [undefined, edition]) {
        const { token } = await givenMember(organization, role, at)
        const { body } = await get(`/v1/files/${file}`, token)
        expect([role, body.is_used, body.used_by]).toMatchObject([role, true, expectedUses])
        expect([role, body.used_by.length]).toEqual([role, expectedUses.length])
        const listReply = await get(`/v1/files?edition_id=${edition}&purpose=import`, token)
        expect([role, listReply.body.count, listReply.text.includes(id)]).toEqual([role, 1, role === 'manager'])
      }
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
