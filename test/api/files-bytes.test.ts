import { describe, expect, it } from 'vitest'
import { sweepObjects } from '../../src/modules/files/jobs.ts'
import { remove } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { accountOf, freshPng, png, rowsOf, sha256Hex, storedKeys, uploadRaw, usedBytes } from '../support/files.ts'
import { seedOrganization } from '../support/seed.ts'

describe('bytes', () => {
  it('are kept once for an organisation, and go with their last file', async () => {
    const here = await seedOrganization()
    const bytes = freshPng()
    const [one, two] = [(await uploadRaw(here.id, bytes)).body, (await uploadRaw(here.id, bytes)).body]
    expect(one.id).not.toBe(two.id)
    expect(await accountOf(here.id)).toEqual({ objects: 1, references: [2], isCounted: true, isStored: true, lost: 0 })
    expect(await usedBytes(here.id)).toBe(bytes.length)
    await sweepObjects(contextAt(Date.now()))
    const keys = await storedKeys()
    expect((await remove(`/v1/files/${one.id}`)).status).toBe(204)
    expect(await accountOf(here.id)).toEqual({ objects: 1, references: [1], isCounted: true, isStored: true, lost: 0 })
    expect((await remove(`/v1/files/${two.id}`)).status).toBe(204)
    expect(await accountOf(here.id)).toEqual({ objects: 0, references: [], isCounted: true, isStored: true, lost: 0 })
    await sweepObjects(contextAt(Date.now()))
    expect((await storedKeys()).length).toBe(keys.length - 1)
    expect(await rowsOf('select * from objects_to_delete')).toEqual([])
  })

  it('are never shared between organisations', async () => {
    const [one, two] = [await seedOrganization(), await seedOrganization()]
    const bytes = freshPng()
    for (const { id } of [one, two]) await uploadRaw(id, bytes)
    const keys = await rowsOf<{ storage_key: string }>(
      'select storage_key from stored_objects where checksum_sha256 = ?',
      await sha256Hex(bytes),
    )
    expect(new Set(keys.map(({ storage_key }) => storage_key)).size).toBe(2)
  })

  it('stop at the limit of the organisation, exactly', async () => {
    const here = await seedOrganization()
    const size = freshPng().length
    const limit = (bytes: number) =>
      rowsOf(
        'insert into organization_storage values (?, 0, ?) on conflict do update set limit_bytes = excluded.limit_bytes',
        here.id,
        bytes,
      )
    await limit(2 * size)
    const first = freshPng()
    const replies = await Promise.all(
      [first, freshPng(), freshPng(), freshPng()].map((bytes) => uploadRaw(here.id, bytes)),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409])
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('storage_full')
    expect(await accountOf(here.id)).toMatchObject({ objects: 2, isCounted: true, isStored: true, lost: 0 })
    await limit(1)
    const known = await uploadRaw(here.id, replies[0]?.status === 201 ? first : png('never'))
    if (replies[0]?.status === 201) expect(known.status).toBe(201)
  })

  it('are counted and kept right under 200 uploads at once, of the same and of different bytes', async () => {
    const here = await seedOrganization()
    await sweepObjects(contextAt(Date.now()))
    const before = (await storedKeys()).length
    const contents = Array.from({ length: 20 }, () => freshPng())
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) => uploadRaw(here.id, contents[index % 20] ?? png())),
    )
    expect(replies.map(({ status }) => status).filter((status) => status !== 201)).toEqual([])
    const account = await accountOf(here.id)
    expect(account).toMatchObject({ objects: 20, isCounted: true, isStored: true, lost: 0 })
    expect(account.references).toEqual(Array.from({ length: 20 }, () => 10))
    for (const _ of [1, 2]) await sweepObjects(contextAt(Date.now()))
    expect((await storedKeys()).length).toBe(before + 20)
  }, 90_000)

  it('stay right while the same bytes come and go', async () => {
    const here = await seedOrganization()
    const bytes = freshPng()
    const round = async () => {
      const { body } = await uploadRaw(here.id, bytes)
      return (await remove(`/v1/files/${body.id}`)).status
    }
    expect(new Set(await Promise.all(Array.from({ length: 20 }, round)))).toEqual(new Set([204]))
    expect(await accountOf(here.id)).toEqual({ objects: 0, references: [], isCounted: true, isStored: true, lost: 0 })
    const { body } = await uploadRaw(here.id, bytes)
    expect(body.size).toBe(bytes.length)
    expect(await accountOf(here.id)).toEqual({ objects: 1, references: [1], isCounted: true, isStored: true, lost: 0 })
  })
})
