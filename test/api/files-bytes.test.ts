import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { sweepObjects } from '../../src/modules/files/jobs.ts'
import { remove } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { jpegMetadata, makeJpeg } from '../support/file-bytes.ts'
import {
  checkAccount,
  makeFreshPng,
  makePng,
  queryRows,
  sha256Hex,
  listStoredKeys,
  uploadRaw,
  loadUsedBytes,
} from '../support/files.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'

describe('the bytes of a file', () => {
  it('give the width and height of a photo behind half a megabyte of metadata', async () => {
    const { id } = await givenOrganization()
    const photo = makeJpeg(1600, 900, jpegMetadata(...Array.from({ length: 10 }, () => 60_000)))
    const reply = await uploadRaw(id, photo, { type: 'image/jpeg', name: 'photo.jpg' })
    expect(reply.status === 201 || reply.text).toBe(true)
    expect(reply.body).toMatchObject({ width: 1600, height: 900, size: photo.length })
  })

  it('are stored once for an organisation, and are deleted with their last file', async () => {
    const here = await givenOrganization()
    const bytes = makeFreshPng()
    const [one, two] = [(await uploadRaw(here.id, bytes)).body, (await uploadRaw(here.id, bytes)).body]
    expect(one.id).not.toBe(two.id)
    expect(await checkAccount(here.id)).toEqual({
      objects: 1,
      references: [2],
      isCounted: true,
      isStored: true,
      lost: 0,
    })
    expect(await loadUsedBytes(here.id)).toBe(bytes.length)
    await sweepObjects(createContextAt(Date.now()))
    const keys = await listStoredKeys()
    expect((await remove(`/v1/files/${one.id}`)).status).toBe(204)
    expect(await checkAccount(here.id)).toEqual({
      objects: 1,
      references: [1],
      isCounted: true,
      isStored: true,
      lost: 0,
    })
    expect((await remove(`/v1/files/${two.id}`)).status).toBe(204)
    expect(await checkAccount(here.id)).toEqual({
      objects: 0,
      references: [],
      isCounted: true,
      isStored: true,
      lost: 0,
    })
    await sweepObjects(createContextAt(Date.now()))
    expect((await listStoredKeys()).length).toBe(keys.length - 1)
    expect(await queryRows('select * from objects_to_delete')).toEqual([])
  })

  it('are never shared between organisations', async () => {
    const [one, two] = [await givenOrganization(), await givenOrganization()]
    const bytes = makeFreshPng()
    for (const { id } of [one, two]) await uploadRaw(id, bytes)
    const keys = await queryRows<{ storage_key: string }>(
      'select storage_key from stored_objects where checksum_sha256 = ?',
      await sha256Hex(bytes),
    )
    expect(new Set(keys.map(({ storage_key }) => storage_key)).size).toBe(2)
  })

  it('are limited for each organisation, to the exact byte', async () => {
    const here = await givenOrganization()
    // The number may gain a digit.
    const sized = () => makePng(crypto.randomUUID())
    const size = sized().length
    const limit = (bytes: number) =>
      queryRows(
        'insert into organization_storage (organization_id, used_bytes, limit_bytes) values (?, 0, ?) on conflict do update set limit_bytes = excluded.limit_bytes',
        here.id,
        bytes,
      )
    await limit(2 * size)
    const first = sized()
    const replies = await Promise.all([first, sized(), sized(), sized()].map((bytes) => uploadRaw(here.id, bytes)))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409])
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('storage_full')
    expect(await checkAccount(here.id)).toMatchObject({ objects: 2, isCounted: true, isStored: true, lost: 0 })
    await limit(1)
    const repeatedUpload = await uploadRaw(here.id, replies[0]?.status === 201 ? first : makePng('never'))
    if (replies[0]?.status === 201) expect(repeatedUpload.status).toBe(201)
  })

  it('are counted exactly under 200 simultaneous uploads of equal and of different bytes', async () => {
    const here = await givenOrganization()
    await sweepObjects(createContextAt(Date.now()))
    const before = (await listStoredKeys()).length
    const same = makeFreshPng()
    const sent = Array.from({ length: 200 }, (_, index) => (index % 2 ? makeFreshPng() : same))
    const replies = await Promise.all(sent.map((bytes) => uploadRaw(here.id, bytes)))
    expect(replies.map(({ status }) => status).filter((status) => status !== 201)).toEqual([])
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(200)
    const checksums = await Promise.all(sent.map((bytes) => sha256Hex(bytes)))
    expect(replies.map(({ body }) => body.checksum_sha256)).toEqual(checksums)
    const account = await checkAccount(here.id)
    expect(account).toMatchObject({ objects: 101, isCounted: true, isStored: true, lost: 0 })
    expect(account.references.toSorted((one, other) => other - one)).toEqual([
      100,
      ...Array.from({ length: 100 }, () => 1),
    ])
    const different = sent.filter((bytes) => bytes !== same)
    expect(await loadUsedBytes(here.id)).toBe([same, ...different].reduce((sum, { length }) => sum + length, 0))
    // The files of the other 99 uploads of the same bytes are deleted, and no others.
    for (const _ of [1, 2]) await sweepObjects(createContextAt(Date.now()))
    expect((await listStoredKeys()).length).toBe(before + 101)
    const [stored] = await queryRows<{ storage_key: string }>(
      'select storage_key from stored_objects where checksum_sha256 = ?',
      checksums[0],
    )
    expect(await (await env.FILES.get(stored?.storage_key ?? ''))?.bytes()).toEqual(same)
  })

  it('stay stored and counted while equal bytes are uploaded and deleted', async () => {
    const here = await givenOrganization()
    const bytes = makeFreshPng()
    const round = async () => {
      const { body } = await uploadRaw(here.id, bytes)
      return (await remove(`/v1/files/${body.id}`)).status
    }
    expect(new Set(await Promise.all(Array.from({ length: 20 }, round)))).toEqual(new Set([204]))
    expect(await checkAccount(here.id)).toEqual({
      objects: 0,
      references: [],
      isCounted: true,
      isStored: true,
      lost: 0,
    })
    const { body } = await uploadRaw(here.id, bytes)
    expect(body.size).toBe(bytes.length)
    expect(await checkAccount(here.id)).toEqual({
      objects: 1,
      references: [1],
      isCounted: true,
      isStored: true,
      lost: 0,
    })
  })

  it('are accepted only where the caller may write, and are deleted when they are refused', async () => {
    const [here, there] = [await givenOrganization(), await givenOrganization()]
    const [edition, sibling] = [(await seedEdition(here)).id, (await seedEdition(here)).id]
    const archived = (await seedEdition(here, { is_archived: true })).id
    const account = await seedAccount()
    await seedMember(account, { organization: here.id, edition, role: 'manager' })
    const { token } = await seedToken(account)
    const before = await listStoredKeys()
    const refusals = [
      [await uploadRaw(there.id, makeFreshPng(), { token }), 400, '#/organization_id'],
      [await uploadRaw(here.id, makeFreshPng(), { token, query: { edition_id: sibling } }), 400, '#/edition_id'],
      [await uploadRaw(here.id, makeFreshPng(), { token }), 403, undefined],
      [await uploadRaw(there.id, makeFreshPng(), { query: { edition_id: edition } }), 400, '#/edition_id'],
      // The answer does not reveal whether the edition exists elsewhere.
      [await uploadRaw(there.id, makeFreshPng(), { query: { edition_id: archived } }), 400, '#/edition_id'],
    ] as const
    for (const [reply, status, pointer] of refusals)
      expect([reply.status, reply.body.errors[0]?.pointer]).toEqual([status, pointer])
    expect(await listStoredKeys()).toEqual(before)
    expect(await checkAccount(there.id)).toMatchObject({ objects: 0, lost: 0 })
    const editionUpload = await uploadRaw(here.id, makeFreshPng(), { token, query: { edition_id: edition } })
    expect([editionUpload.status, editionUpload.body.uploaded_by]).toEqual([201, account])
  })
})
