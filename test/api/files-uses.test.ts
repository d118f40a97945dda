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

async function seedHiddenFile(columns: object): Promise<string> {
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

/** Makers of files that the organisation may not show. */
const foreignFiles: [string, () => Promise<string>][] = [
  [
    'one of another organisation',
    async () => (await uploadRaw((await givenOrganization()).id, makeFreshPng())).body.id,
  ],
  ['an attachment', () => seedHiddenFile({ purpose: 'attachment', mime_type: 'application/pdf' })],
  ['one for an import', () => seedHiddenFile({ purpose: 'import', mime_type: 'text/csv' })],
  ['one that does not exist', () => Promise.resolve(freshId('file'))],
]
const unshowableFiles: typeof foreignFiles = [
  ...foreignFiles,
  ['a quarantined one', () => seedHiddenFile({ status: 'quarantined' })],
]

async function memberToken(): Promise<string> {
  const account = await seedAccount()
  await seedMember(account, { organization: organization.id, role: 'viewer' })
  return (await seedToken(account)).token
}

describe('the avatar of an organisation', () => {
  const path = () => `/v1/organizations/${organization.id}`

  it('has four addresses wherever the organisation is shown', async () => {
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
  })

  it('prevents the deletion of its file until it is removed', async () => {
    const file = await upload()
    await patch(path(), { avatar_file_id: file.id })
    const refusal = await remove(`/v1/files/${file.id}`)
    expect(describeRefusal(refusal)).toBe('409 file_in_use')
    expect(refusal.body.related_objects).toMatchObject([
      { type: 'organization', id: organization.id, field: 'avatar_file_id' },
    ])
    expect((await patch(path(), { avatar_file_id: null })).body).toMatchObject({ avatar: null, avatar_file_id: null })
    expect((await remove(`/v1/files/${file.id}`)).status).toBe(204)
  })

  it.each(unshowableFiles)('must be a ready image of the organisation, and not %s', async (_, makeFile) => {
    const { avatar_file_id } = (await get(path())).body
    const reply = await patch(path(), { avatar_file_id: await makeFile() })
    expect(describeRefusal(reply)).toBe('400 validation_error: does_not_exist #/avatar_file_id')
    expect((await get(path())).body.avatar_file_id).toBe(avatar_file_id)
  })

  it('is refused when its file is deleted at the same time', async () => {
    const file = await upload()
    const { avatar_file_id } = (await get(path())).body
    const deleting = interruptDatabase(/update "organizations"/, () => remove(`/v1/files/${file.id}`))
    const reply = await callWith(deleting, path(), { method: 'PATCH', body: { avatar_file_id: file.id } })
    expect(describeRefusal(reply)).toBe('400 validation_error: does_not_exist #/avatar_file_id')
    expect((await get(path())).body.avatar_file_id).toBe(avatar_file_id)
  })

  it('stops a deletion of its file that has begun', async () => {
    const file = await upload()
    const choosing = interruptDatabase(/delete from files/, () => patch(path(), { avatar_file_id: file.id }))
    const reply = await callWith(choosing, `/v1/files/${file.id}`, { method: 'DELETE' })
    expect(describeRefusal(reply)).toBe('409 file_in_use')
    expect((await get(path())).body.avatar_file_id).toBe(file.id)
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

  it.each(unshowableFiles)('must be a ready image, saved or previewed, and not %s', async (_, makeFile) => {
    const id = await message()
    const blocks = [imageBlock({ file_id: await makeFile() })]
    const refusal = '400 validation_error: does_not_exist #/blocks/0/data/file_id'
    expect(describeRefusal(await patch(messagePath(id), { blocks }))).toBe(refusal)
    expect(describeRefusal(await post(`${messagePath(id)}/preview`, { mode: 'html', blocks }))).toBe(refusal)
    expect((await get(messagePath(id))).body.blocks).not.toMatchObject([{ id: 'poster' }])
  })

  describe('with an address', () => {
    let one: UploadedImage
    let two: UploadedImage
    beforeAll(async () => {
      one = await upload()
      two = await upload()
    })

    it.each<[string, string, () => object]>([
      [
        'another key than its file',
        'does_not_exist',
        () => ({ url: `${publicUrl}/files/${one.id}/${'0'.repeat(32)}/large` }),
      ],
      ['a signature', 'does_not_exist', () => ({ url: `${one.image.large}?token=a` })],
      ['no variant', 'does_not_exist', () => ({ url: `${publicUrl}/files/${one.id}` })],
      ['dots in its path', 'does_not_exist', () => ({ url: `${publicUrl}/files/../files/a` })],
      ['the id of another file', 'file_mismatch', () => ({ file_id: one.id, url: two.image.large })],
      [
        'the id of a file for another host',
        'file_mismatch',
        () => ({ file_id: one.id, url: 'https://example.com/a.png' }),
      ],
      ['neither address nor id', 'required', () => ({})],
    ])('is refused with %s', async (_, code, build) => {
      const reply = await patch(messagePath(await message()), { blocks: [imageBlock(build())] })
      expect(describeRefusal(reply)).toBe(`400 validation_error: ${code} #/blocks/0/data/url`)
      expect([await listUses(one), await listUses(two)]).toEqual([[], []])
    })
  })

  it('is refused when its file is deleted at the same time', async () => {
    const file = await upload()
    const id = await message()
    const body = { blocks: [imageBlock({ file_id: file.id })] }
    const deleting = interruptDatabase(/update "email_messages"/, () => remove(`/v1/files/${file.id}`))
    const reply = await callWith(deleting, messagePath(id), { method: 'PATCH', body })
    expect(describeRefusal(reply)).toBe('400 validation_error: does_not_exist #/blocks/0/data/file_id')
  })

  it('stops a deletion of its file that has begun', async () => {
    const file = await upload()
    const id = await message()
    const choosing = interruptDatabase(/delete from files/, () => show(id, { file_id: file.id }))
    const reply = await callWith(choosing, `/v1/files/${file.id}`, { method: 'DELETE' })
    expect(describeRefusal(reply)).toBe('409 file_in_use')
    expect(await listUses(file)).toMatchObject([{ id }])
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
  const seedProduct = async (images: string[], place = edition): Promise<string> => {
    const id = freshId('product')
    await write(sql`insert into products (id, organization_id, edition_id, name, name_folded, name_key, created_at, modified_at, images)
      values (${id}, ${organization.id}, ${place}, 'Day', ${id}, ${id}, ${seededAt}, ${seededAt}, ${JSON.stringify(images)})`)
    return id
  }

  it('prevent the deletion of their files', async () => {
    const [one, two] = [await upload(), await upload()]
    const id = await seedProduct([two.id, one.id])
    const use = { type: 'product', id, name: 'Day', field: 'images' }
    const refusal = await remove(`/v1/files/${one.id}`)
    expect([refusal.status, refusal.body.related_objects]).toEqual([409, [use]])
    await write(sql`update products set images = ${JSON.stringify([two.id])} where id = ${id}`)
    expect([await listUses(one), await listUses(two)]).toEqual([[], [use]])
    expect((await remove(`/v1/files/${one.id}`)).status).toBe(204)
  })

  it('are those of the product in a duplicated edition too', async () => {
    const file = await upload()
    const place = (await seedEdition(organization)).id
    await seedProduct([file.id], place)
    const copy = await post(`/v1/editions/${place}/duplicate`, { name: 'Of images' })
    const uses = (await listUses(file)).map(({ type }: { type: string }) => type)
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

  it.each(foreignFiles)(
    'are never files that the organisation may not show, even when a row names %s',
    async (_, makeFile) => {
      const [file, place] = [await makeFile(), (await seedEdition(organization)).id]
      await expect(seedProduct([file], place)).rejects.toThrow('FOREIGN KEY')
      expect(await db.all(sql`select 1 from products where edition_id = ${place}`)).toEqual([])
    },
  )
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
