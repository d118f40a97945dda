import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { files } from '../../src/db/schema/files.ts'
import { insert } from '../../src/db/write.ts'
import { loadTemplate } from '../../src/modules/email-messages/index.ts'
import { fileReferences } from '../../src/modules/files/index.ts'
import { callWith, get, patch, post, publicUrl, remove } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { createContextAt } from '../support/context.ts'
import { makeFreshPng, queryRows, uploadRaw } from '../support/files.ts'
import { image as bytesOf } from '../support/images.ts'
import { requestRefund } from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db, freshId, seededAt, write } from '../support/seeding/rows.ts'
import { seedShop, givenOrder } from '../support/seeding/sales/orders.ts'

interface UploadedImage {
  id: string
  image: Record<'thumbnail' | 'optimized' | 'large' | 'original', string>
}

let organization: Awaited<ReturnType<typeof givenOrganization>>
let edition: string
beforeAll(async () => {
  organization = await givenOrganization()
  edition = (await seedEdition(organization)).id
})

const upload = async (query: Record<string, string> = {}): Promise<UploadedImage> =>
  (await uploadRaw(organization.id, makeFreshPng(), { query })).body
const listUses = async ({ id }: UploadedImage) => (await get(`/v1/files/${id}`)).body.used_by

const message = (place: string | null = edition) => seedMessage({ organization: organization.id, edition: place })
const messagePath = (id: string) => `/v1/email-messages/${id}`
const imageBlock = (data: object) => ({ id: 'poster', type: 'image', data: { alt: { en: 'Poster' }, ...data } })
const show = (id: string, ...data: object[]) =>
  patch(messagePath(id), { blocks: data.map((one, at) => ({ ...imageBlock(one), id: `image-${at}` })) })

async function givenShown() {
  const [one, two] = [await upload(), await upload()]
  const id = await message()
  const reply = await show(id, { file_id: one.id }, { url: two.image.large }, { url: 'https://example.com/a.png' })
  return { id, one, two, reply }
}

/** Files that the organisation may not show, by the reason. */
async function unshowable() {
  const foreign = (await uploadRaw((await givenOrganization()).id, makeFreshPng())).body as UploadedImage
  const hidden = async (columns: object) => {
    const row = {
      id: freshId('file'),
      organization_id: organization.id,
      name: 'a.png',
      name_key: 'a.png',
      purpose: 'image' as const,
      mime_type: 'image/png',
      size: 10,
      access_key: 'a'.repeat(32),
      created_at: seededAt,
      modified_at: seededAt,
      ...columns,
    }
    await write(insert(files, row))
    return row.id
  }
  return {
    foreign: foreign.id,
    attachment: await hidden({ purpose: 'attachment', mime_type: 'application/pdf' }),
    imported: await hidden({ purpose: 'import', mime_type: 'text/csv' }),
    quarantined: await hidden({ status: 'quarantined' }),
    nothing: freshId('file'),
  }
}

async function memberToken(): Promise<string> {
  const account = await seedAccount()
  await seedMember(account, { organization: organization.id, role: 'viewer' })
  return (await seedToken(account)).token
}

describe('the avatar of an organisation', () => {
  const path = () => `/v1/organizations/${organization.id}`

  it('has four addresses wherever the organisation is shown, and prevents the deletion of its file', async () => {
    const file = await upload()
    const reply = await patch(path(), { avatar_file_id: file.id })
    expect([reply.status, reply.body.avatar, reply.body.avatar_file_id]).toEqual([200, file.image, file.id])
    const avatars = [
      (await get(path())).body.avatar,
      (await get(`/v1/editions/${edition}`)).body.organization.avatar,
      (await get(`/v1/editions?organization_id=${organization.id}`)).body.results[0].organization.avatar,
      (await get(messagePath(await message()))).body.organization.avatar,
      (await get('/v1/auth/user-info', await memberToken())).body.organizations[0].avatar,
    ]
    expect(avatars).toEqual(avatars.map(() => file.image))
    const use = { type: 'organization', id: organization.id, field: 'avatar_file_id' }
    const refusal = await remove(`/v1/files/${file.id}`)
    expect(describeRefusal(refusal)).toBe('409 file_in_use')
    expect(refusal.body.related_objects).toMatchObject([use])
    expect((await patch(path(), { avatar_file_id: null })).body).toMatchObject({ avatar: null, avatar_file_id: null })
    expect((await remove(`/v1/files/${file.id}`)).status).toBe(204)
  })

  it('must be a ready image of the organisation; any other file is answered as missing', async () => {
    for (const [what, id] of Object.entries(await unshowable())) {
      const reply = await patch(path(), { avatar_file_id: id })
      expect([what, describeRefusal(reply)]).toEqual([what, '400 validation_error: does_not_exist #/avatar_file_id'])
    }
    expect((await get(path())).body.avatar_file_id).toBeNull()
  })

  it('is refused when its file is deleted at the same time, or stops a deletion that has begun', async () => {
    const [deletedFile, otherFile] = [await upload(), await upload()]
    const deleting = interruptDatabase(/update "organizations"/, () => remove(`/v1/files/${deletedFile.id}`))
    const lost = await callWith(deleting, path(), { method: 'PATCH', body: { avatar_file_id: deletedFile.id } })
    expect(describeRefusal(lost)).toBe('400 validation_error: does_not_exist #/avatar_file_id')
    const choosing = interruptDatabase(/delete from files/, () => patch(path(), { avatar_file_id: otherFile.id }))
    expect((await callWith(choosing, `/v1/files/${otherFile.id}`, { method: 'DELETE' })).status).toBe(409)
    expect((await get(path())).body.avatar_file_id).toBe(otherFile.id)
    await patch(path(), { avatar_file_id: null })
  })
})

describe('an image of an e-mail', () => {
  it('is accepted by id or by any of its addresses, and both are returned', async () => {
    const { one, two, reply } = await givenShown()
    expect(reply.status === 200 || reply.text).toBe(true)
    const data = reply.body.blocks.map((block: { data: object }) => block.data)
    expect(data).toMatchObject([
      { file_id: one.id, url: one.image.original },
      { file_id: two.id, url: two.image.large },
      { url: 'https://example.com/a.png' },
    ])
    expect(data[2]).not.toHaveProperty('file_id')
  })

  it('stays the same when the returned blocks are sent back', async () => {
    const { id, reply } = await givenShown()
    const secondReply = await patch(messagePath(id), { blocks: reply.body.blocks })
    expect(secondReply.body).toEqual(reply.body)
  })

  it('is shown in the message and in its preview', async () => {
    const { id, one, two } = await givenShown()
    const html = (await loadTemplate(createContextAt(seededAt), id, 'en'))?.html ?? ''
    for (const address of [one.image.original, two.image.large]) expect(html).toContain(new URL(address).pathname)
    expect((await post(`${messagePath(id)}/preview`, { mode: 'html' })).text).toContain(one.image.original)
  })

  it('is served as its optimized variant when it is large or of a rare type', async () => {
    const id = await message()
    const webp = (await uploadRaw(organization.id, bytesOf('webp'), { name: 'a.webp', type: 'image/webp' })).body
    const reply = await show(id, { file_id: webp.id })
    expect(reply.body.blocks[0].data.url).toBe(webp.image.optimized)
  })

  it('prevents the deletion of its file, also in columns, until the block or the message is deleted', async () => {
    const [one, two] = [await upload(), await upload()]
    const id = await message()
    const columns = [{ blocks: [imageBlock({ file_id: one.id })] }, { blocks: [] }]
    const blocks = [
      { id: 'columns', type: 'columns', data: { columns } },
      { ...imageBlock({ file_id: two.id }), id: 'two' },
    ]
    expect((await patch(messagePath(id), { blocks })).status).toBe(200)
    const use = { type: 'email_message', id, field: 'blocks' }
    for (const file of [one, two]) {
      expect(await listUses(file)).toMatchObject([use])
      const refusal = await remove(`/v1/files/${file.id}`)
      expect([refusal.status, refusal.body.related_objects]).toMatchObject([409, [use]])
    }
    await patch(messagePath(id), { blocks: [imageBlock({ file_id: two.id })] })
    expect((await remove(`/v1/files/${one.id}`)).status).toBe(204)
    expect((await remove(messagePath(id))).status).toBe(204)
    expect((await remove(`/v1/files/${two.id}`)).status).toBe(204)
  })

  it('must be a ready image of the organisation, saved or previewed, and is otherwise missing', async () => {
    const id = await message()
    for (const [what, file] of Object.entries(await unshowable())) {
      const blocks = [imageBlock({ file_id: file })]
      const fault = [what, '400 validation_error: does_not_exist #/blocks/0/data/file_id']
      expect([what, describeRefusal(await patch(messagePath(id), { blocks }))]).toEqual(fault)
      expect([what, describeRefusal(await post(`${messagePath(id)}/preview`, { mode: 'html', blocks }))]).toEqual(fault)
    }
    expect((await get(messagePath(id))).body.blocks).not.toMatchObject([{ id: 'poster' }])
  })

  it('must name exactly one file by a valid, unsigned address', async () => {
    const [one, two] = [await upload(), await upload()]
    const id = await message()
    const at = '#/blocks/0/data/url'
    const refuseImage = async (data: object) =>
      describeRefusal(await patch(messagePath(id), { blocks: [imageBlock(data)] }))
    const stranger = `${publicUrl}/files/${one.id}/${'0'.repeat(32)}/large`
    for (const address of [
      stranger,
      `${one.image.large}?token=a`,
      `${publicUrl}/files/${one.id}`,
      `${publicUrl}/files/../files/a`,
    ])
      expect([address, await refuseImage({ url: address })]).toEqual([
        address,
        `400 validation_error: does_not_exist ${at}`,
      ])
    expect(await refuseImage({ file_id: one.id, url: two.image.large })).toBe(
      `400 validation_error: file_mismatch ${at}`,
    )
    expect(await refuseImage({ file_id: one.id, url: 'https://example.com/a.png' })).toBe(
      `400 validation_error: file_mismatch ${at}`,
    )
    expect(await refuseImage({})).toBe(`400 validation_error: required ${at}`)
    expect([await listUses(one), await listUses(two)]).toEqual([[], []])
  })

  it('is refused when its file is deleted at the same time, or stops a deletion that has begun', async () => {
    const [deletedFile, otherFile] = [await upload(), await upload()]
    const id = await message()
    const body = { blocks: [imageBlock({ file_id: deletedFile.id })] }
    const deleting = interruptDatabase(/update "email_messages"/, () => remove(`/v1/files/${deletedFile.id}`))
    const lost = await callWith(deleting, messagePath(id), { method: 'PATCH', body })
    expect(describeRefusal(lost)).toBe('400 validation_error: does_not_exist #/blocks/0/data/file_id')
    const choosing = interruptDatabase(/delete from files/, () => show(id, { file_id: otherFile.id }))
    expect((await callWith(choosing, `/v1/files/${otherFile.id}`, { method: 'DELETE' })).status).toBe(409)
    expect(await listUses(otherFile)).toMatchObject([{ id }])
  })

  it('prevents the deletion in every copy: adopted, duplicated, and in a duplicated edition', async () => {
    const file = await upload()
    const template = await message(null)
    expect((await show(template, { file_id: file.id })).status).toBe(200)
    const adopted = (await post(`${messagePath(template)}/adopt`, { edition_id: edition })).body.id
    const duplicate = (await post(`${messagePath(adopted)}/duplicate`, {})).body.id
    await patch(`/v1/editions/${edition}`, { transaction_receipt_email_id: null })
    await write(sql`update email_messages set type = 'receipt' where id = ${adopted}`)
    await patch(`/v1/editions/${edition}`, { transaction_receipt_email_id: adopted, meta_image_id: file.id })
    const copy = await post(`/v1/editions/${edition}/duplicate`, { name: 'Copy', email_template_mode: 'copy' })
    expect(copy.status === 201 || copy.text).toBe(true)
    expect(copy.body.meta_image).toEqual(file.image)
    const uses = (await listUses(file)).map(({ id }: { id: string }) => id)
    const copied = copy.body.transaction_receipt_email_id
    expect(copied).not.toBe(adopted)
    expect(uses.toSorted()).toEqual([template, adopted, duplicate, copied, edition, copy.body.id].toSorted())
    await patch(`/v1/editions/${edition}`, { transaction_receipt_email_id: null, meta_image_id: null })
  })

  it('is addressed on the current host of files', async () => {
    const file = await upload()
    const id = await message()
    await show(id, { file_id: file.id })
    const FILES_URL = 'https://files.example.test'
    const { body } = await callWith({ FILES_URL }, messagePath(id), {})
    expect(body.blocks[0].data.url).toBe(file.image.original.replace(publicUrl, FILES_URL))
    const other = await callWith({ FILES_URL }, messagePath(id), { method: 'PATCH', body: { blocks: body.blocks } })
    expect([other.status, other.body.blocks[0].data.file_id]).toEqual([200, file.id])
  })
})

describe('images of products', () => {
  it('are in the stored order, and prevent the deletion of their files', async () => {
    const [one, two] = [await upload(), await upload()]
    const id = freshId('product')
    await write(sql`insert into products (id, organization_id, edition_id, name, name_folded, name_key, created_at, modified_at, images)
      values (${id}, ${organization.id}, ${edition}, 'Day', ${id}, ${id}, ${seededAt}, ${seededAt}, ${JSON.stringify([two.id, one.id])})`)
    const use = { type: 'product', id, name: 'Day', field: 'images' }
    const refusal = await remove(`/v1/files/${one.id}`)
    expect([refusal.status, refusal.body.related_objects]).toEqual([409, [use]])
    await write(sql`update products set images = ${JSON.stringify([two.id])} where id = ${id}`)
    expect([await listUses(one), await listUses(two)]).toEqual([[], [use]])
    const copy = await post(`/v1/editions/${edition}/duplicate`, { name: 'Of images' })
    const uses = (await listUses(two)).map(({ type }: { type: string }) => type)
    expect([copy.status, uses]).toEqual([201, ['product', 'product']])
  })

  it('are in the stored order in purchases, carts and refund requests', async () => {
    const shop = await seedShop()
    const bought = await givenOrder(shop)
    const images = [
      (await uploadRaw(shop.organization_id, makeFreshPng())).body,
      (await uploadRaw(shop.organization_id, makeFreshPng())).body,
    ].toReversed() as UploadedImage[]
    await write(sql`update products set images = ${JSON.stringify(images.map(({ id }) => id))}
      where edition_id = ${shop.edition_id}`)
    const order = (await get(`/v1/orders/${bought.order}`)).body
    const refund = await requestRefund({ purchase_id: bought.purchases[0], amount: 1 })
    const soldItems = [
      order.cart.items[0],
      order.purchases[0],
      (await get(`/v1/purchases/${bought.purchases[0]}`)).body,
      (await get(`/v1/purchases?edition_id=${shop.edition_id}`)).body.results[0],
      refund.body.purchase,
      (await get(`/v1/refund-requests/${refund.body.id}`)).body.purchase,
    ]
    expect(soldItems.map(({ product }) => product.images)).toEqual(
      soldItems.map(() => images.map(({ image }) => image)),
    )
  })

  it('never show files of another organisation, even when a row names them', async () => {
    const id = freshId('product')
    for (const [what, file] of Object.entries(await unshowable())) {
      if (what === 'quarantined') continue
      const writing =
        write(sql`insert into products (id, organization_id, edition_id, name, name_folded, name_key, created_at, modified_at, images)
        values (${id}, ${organization.id}, ${edition}, 'Day', ${id}, ${id}, ${seededAt}, ${seededAt}, ${JSON.stringify([file])})`)
      await expect(writing).rejects.toThrow('FOREIGN KEY')
    }
    expect(await db.all(sql`select 1 from products where id = ${id}`)).toEqual([])
  })
})

describe('the table of references to files', () => {
  it('has every column that names a file or an image', async () => {
    const tables = await queryRows<{ name: string }>("select name from sqlite_master where type = 'table'")
    const references: string[] = []
    for (const { name } of tables) {
      if (/^_cf|^sqlite|^d1_/.test(name)) continue
      const columns = await queryRows<{ name: string }>(`select name from pragma_table_info('${name}')`)
      const keys = await queryRows<{ from: string }>(
        `select "from" from pragma_foreign_key_list('${name}') where "table" = 'files'`,
      )
      const named = columns.filter((column) =>
        /(?:^|_)(?:file|image|avatar|logo|picture|photo|attachment)s?(?:_ids?)?$/.test(column.name),
      )
      references.push(
        ...new Set(
          [...named.map((column) => column.name), ...keys.map((key) => key.from)].map((column) => `${name}.${column}`),
        ),
      )
    }
    // An upload stores only the id of its file, a scan is deleted with its file, and ids in JSON also have a table.
    const others = ['file_scans.file_id', 'file_uploads.file_id', 'products.images']
    const listedReferences = [...fileReferences.map(({ table, column }) => `${table}.${column}`), ...others]
    expect(references.toSorted()).toEqual(listedReferences.toSorted())
  })
})
