import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { callWith, get, patch, post, remove } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { makeFreshPng, queryRows, uploadRaw } from '../support/files.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { freshId, seededAt, write } from '../support/seeding/rows.ts'

let organization: Awaited<ReturnType<typeof givenOrganization>>
beforeAll(async () => {
  organization = await givenOrganization()
})

const upload = async (): Promise<{ id: string }> => (await uploadRaw(organization.id, makeFreshPng())).body

/** Counts images of the organisation's editions whose file does not exist. */
const danglingImages = () =>
  queryRows(
    `select id from editions where organization_id = ? and meta_image_id is not null
      and meta_image_id not in (select id from files)`,
    organization.id,
  )

const addProduct = (edition: string, id: string, images: readonly string[]) =>
  write(sql`insert into products (id, organization_id, edition_id, name, name_folded, name_key, created_at, modified_at, images)
    values (${id}, ${organization.id}, ${edition}, 'Day', ${id}, ${id}, ${seededAt}, ${seededAt}, ${JSON.stringify(images)})`)

const listImages = (edition: string) => queryRows('select images from products where edition_id = ?', edition)

describe('duplicating an edition', () => {
  it.for([
    ['before its rows are read', /select .* from "events"/],
    ['before the copy is written', /insert into "?editions"? /],
  ] as const)('does not copy an image that is removed and deleted at the same time: %s', async ([, statement]) => {
    const edition = (await seedEdition(organization)).id
    const file = await upload()
    await patch(`/v1/editions/${edition}`, { meta_image_id: file.id })
    const statuses: number[] = []
    const bindings = interruptDatabase(statement, async () => {
      statuses.push((await patch(`/v1/editions/${edition}`, { meta_image_id: null })).status)
      statuses.push((await remove(`/v1/files/${file.id}`)).status)
    })
    const body = { name: `Copy ${edition}` }
    const copy = await callWith(bindings, `/v1/editions/${edition}/duplicate`, { method: 'POST', body })
    expect([statuses, copy.status, copy.body.meta_image_id]).toEqual([[200, 204], 201, null])
    expect((await get(`/v1/editions/${copy.body.id}`)).body).toMatchObject({ meta_image_id: null, meta_image: null })
    expect(await danglingImages()).toEqual([])
  })

  it('keeps an image that the source removes at the same time', async () => {
    const source = (await seedEdition(organization)).id
    const file = await upload()
    await patch(`/v1/editions/${source}`, { meta_image_id: file.id })
    const copies: string[] = []
    const bindings = interruptDatabase(/update "editions"/, async () => {
      copies.push((await post(`/v1/editions/${source}/duplicate`, { name: `Copy ${source}` })).body.id)
    })
    await callWith(bindings, `/v1/editions/${source}`, { method: 'PATCH', body: { meta_image_id: null } })
    const refusal = await remove(`/v1/files/${file.id}`)
    expect([refusal.status, refusal.body.related_objects]).toMatchObject([409, [{ id: copies[0] }]])
  })

  it('copies a product without an image that is removed and deleted at the same time', async () => {
    const edition = (await seedEdition(organization)).id
    const [deletedFile, otherFile] = [await upload(), await upload()]
    const id = freshId('product')
    await addProduct(edition, id, [deletedFile.id, otherFile.id])
    const statuses: number[] = []
    const bindings = interruptDatabase(/insert into "?editions"? /, async () => {
      await write(sql`update products set images = ${JSON.stringify([otherFile.id])} where id = ${id}`)
      statuses.push((await remove(`/v1/files/${deletedFile.id}`)).status)
    })
    const body = { name: `Copy ${edition}` }
    const copy = await callWith(bindings, `/v1/editions/${edition}/duplicate`, { method: 'POST', body })
    expect([statuses, copy.status]).toEqual([[204], 201])
    expect(await listImages(copy.body.id)).toEqual([{ images: JSON.stringify([otherFile.id]) }])
    expect((await remove(`/v1/files/${otherFile.id}`)).body.related_objects).toHaveLength(2)
  })
})

describe('a product', () => {
  it('keeps a file that it begins to show while the file is being deleted or changed', async () => {
    const edition = (await seedEdition(organization)).id
    const requests: [statement: RegExp, request: object][] = [
      [/delete from files/, { method: 'DELETE' }],
      [/update "files"/, { method: 'PATCH', body: { purpose: 'other' } }],
      [/update "files"/, { method: 'PATCH', body: { edition_id: edition } }],
    ]
    for (const [statement, request] of requests) {
      const file = await upload()
      const id = freshId('product')
      const bindings = interruptDatabase(statement, () => addProduct(edition, id, [file.id]))
      const reply = await callWith(bindings, `/v1/files/${file.id}`, request)
      expect(describeRefusal(reply)).toBe('409 file_in_use')
      const { used_by, purpose, edition_id } = (await get(`/v1/files/${file.id}`)).body
      expect([used_by, purpose, edition_id]).toMatchObject([[{ type: 'product', id }], 'image', null])
    }
  })

  it('never shows a deleted file, also after a change', async () => {
    const edition = (await seedEdition(organization)).id
    const [oldFile, deletedFile] = [await upload(), await upload()]
    const id = freshId('product')
    await addProduct(edition, id, [oldFile.id])
    expect((await remove(`/v1/files/${deletedFile.id}`)).status).toBe(204)
    const images = JSON.stringify([oldFile.id, deletedFile.id])
    await expect(write(sql`update products set images = ${images} where id = ${id}`)).rejects.toThrow('FOREIGN KEY')
    await expect(addProduct(edition, freshId('product'), [deletedFile.id])).rejects.toThrow('FOREIGN KEY')
    expect(await listImages(edition)).toEqual([{ images: JSON.stringify([oldFile.id]) }])
  })
})
