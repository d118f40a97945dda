import { beforeAll, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/domain/text/encoding.ts'
import { call, callWith, get, patch } from '../support/api.ts'
import { makeFreshPng, queryRows, uploadRaw } from '../support/files.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { fakeImages, fetchFile } from '../support/served-files.ts'

let organization: { id: string }
beforeAll(async () => {
  organization = await givenOrganization()
})

const upload = async (bytes = makeFreshPng(), query: Record<string, string> = {}) =>
  (await uploadRaw(organization.id, bytes, { query })).body

const readPath = (address: string) => {
  const { pathname, search } = new URL(address)
  return pathname + search
}

describe('the address of a file', () => {
  const table = async () =>
    (await uploadRaw(organization.id, utf8(`a,b\n1,${crypto.randomUUID()}\n`), { type: 'text/csv', name: 'a.csv' }))
      .body

  it('opens an image and its variants permanently', async () => {
    const bytes = makeFreshPng()
    const { url, image } = await upload(bytes)
    expect(url).toBe(image.original)
    expect((await fetchFile(readPath(url))).bytes).toEqual(bytes)
    for (const variant of ['thumbnail', 'optimized', 'large'])
      expect((await fetchFile(readPath(image[variant]), { bindings: fakeImages() })).headers.get('content-type')).toBe(
        'image/webp',
      )
  })

  it('exists for images of any purpose', async () => {
    const file = await upload(makeFreshPng(), { purpose: 'attachment' })
    expect(file.image.original).toBe(file.url)
  })

  it('is signed in every answer for an import file, and opens it for any client', async () => {
    const file = await table()
    const path = `/v1/files/${file.id}`
    const [listed] = (await get(`/v1/files?organization_id=${organization.id}&purpose=import&page_size=1`)).body.results
    const changeReply = await patch(path, { title: 'Changed' })
    const answers = [file, (await get(path)).body, listed, changeReply.body]
    expect(answers.map(({ id }) => id)).toEqual(answers.map(() => file.id))
    for (const { url } of answers) {
      const { status, headers } = await fetchFile(readPath(url))
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store'])
      expect((await fetchFile(readPath(url).split('?')[0] ?? '')).status).toBe(404)
    }
  })

  it('is returned for an import file to roles that may run imports, and not to viewers', async () => {
    const edition = (await seedEdition(organization)).id
    const bytes = utf8(`a,b\n1,${crypto.randomUUID()}\n`)
    const query = { edition_id: edition }
    const file = (await uploadRaw(organization.id, bytes, { type: 'text/csv', name: 'a.csv', query })).body
    const image = await upload(makeFreshPng(), query)
    for (const place of [undefined, edition])
      for (const role of ['admin', 'manager', 'viewer'] as const) {
        const account = await seedAccount()
        await seedMember(account, { organization: organization.id, ...(place ? { edition: place } : {}), role })
        const { token } = await seedToken(account)
        const body = (await get(`/v1/files/${file.id}`, token)).body
        const listed = (await get(`/v1/files?edition_id=${edition}&purpose=import`, token)).body.results
        for (const { id, url } of [body, ...listed]) {
          expect(id).toBe(file.id)
          if (role === 'viewer') expect([place, url]).toEqual([place, null])
          else expect((await fetchFile(readPath(url))).bytes).toEqual(bytes)
        }
        expect(listed).toHaveLength(1)
        expect((await get(`/v1/files/${image.id}`, token)).body.url).toBe(image.url)
      }
  })

  it('is not returned for an import file to a role elsewhere', async () => {
    const [here, elsewhere] = [(await seedEdition(organization)).id, (await seedEdition(organization)).id]
    const bytes = utf8(`a,b\n1,${crypto.randomUUID()}\n`)
    const options = { type: 'text/csv', name: 'a.csv', query: { edition_id: here } }
    const file = (await uploadRaw(organization.id, bytes, options)).body
    const account = await seedAccount()
    await seedMember(account, { organization: organization.id, edition: here, role: 'viewer' })
    await seedMember(account, { organization: organization.id, edition: elsewhere, role: 'admin' })
    const { token } = await seedToken(account)
    expect((await get(`/v1/files/${file.id}`, token)).body).toMatchObject({ id: file.id, url: null })
  })

  it('does not change the ETag when it is signed, and such an answer never comes from a cache', async () => {
    const file = await table()
    const path = `/v1/files/${file.id}`
    const first = await get(path)
    await scheduler.wait(1100)
    const etag = first.headers.get('etag') ?? ''
    const second = await call(path, { headers: { 'if-none-match': etag } })
    expect([second.status, second.headers.get('etag')]).toEqual([200, etag])
    expect(second.body.url).not.toBe(first.body.url)
    expect(second.headers.get('cache-control')).toBe('private, no-store')
    const headers = { 'if-match': etag }
    const changeReply = await call(path, { method: 'PATCH', body: { title: 'Changed' }, headers })
    expect(changeReply.status).toBe(200)
    expect((await call(path, { method: 'PATCH', body: { title: 'Again' }, headers })).status).toBe(412)
    const next = changeReply.headers.get('etag') ?? ''
    expect((await call(path, { method: 'DELETE', headers: { 'if-match': next } })).status).toBe(204)
  })

  it('is in no audit entry when it is signed', async () => {
    const file = await table()
    await patch(`/v1/files/${file.id}`, { title: 'Changed' })
    await patch(`/v1/files/${file.id}`, { purpose: 'other' })
    const entries = await queryRows<{ changes: string }>('select * from audit_log where resource_id = ?', file.id)
    expect(entries).toHaveLength(3)
    expect(JSON.stringify(entries)).not.toContain('token=')
  })

  it('has the host of FILES_URL if that is set, in editions too', async () => {
    const FILES_URL = 'https://files.example.test'
    const there = (await seedEdition(organization)).id
    const image = await upload()
    await patch(`/v1/editions/${there}`, { meta_image_id: image.id })
    const imported = await table()
    const ask = async (path: string) => (await callWith({ FILES_URL }, path)).body
    const metaImage = (await ask(`/v1/editions/${there}`)).meta_image
    const { image: ownImage, url } = await ask(`/v1/files/${image.id}`)
    for (const address of [...Object.values<string>(metaImage), ...Object.values<string>(ownImage), url])
      expect(address).toMatch(new RegExp(`^${FILES_URL}/files/${image.id}/`))
    const signed: string = (await ask(`/v1/files/${imported.id}`)).url
    const options = { bindings: { FILES_URL }, origin: FILES_URL }
    expect((await fetchFile(readPath(signed), options)).status).toBe(200)
  })
})
