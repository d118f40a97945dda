import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { call, get, patch, post, remove, type Reply } from '../support/api.ts'
import { buildRefusal, codes } from '../support/editions.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedCategory } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { db, freshId, write } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const path = '/v1/products'

const givenProduct = async (shop: Shop, fields: Record<string, unknown> = {}) => {
  const reply = await post(path, { ...shop, name: 'Weekend ticket', ...fields })
  expect([reply.status, reply.text]).toEqual([201, reply.text])
  return reply.body
}

const orderOf = (product: string, item: Record<string, unknown> = {}, order: Record<string, unknown> = {}) =>
  anOrder({ items: [{ product, quantity: 1, unit_price: 100, ...item }], ...order })

const listNames = async ({ edition_id }: Shop): Promise<string[]> =>
  (await get(`${path}?edition_id=${edition_id}&ordering=name`)).body.results.map(({ name }: { name: string }) => name)

const givenCategory = ({ organization_id, edition_id }: Shop): Promise<string> =>
  seedCategory({ organization: organization_id, edition: edition_id })

const readCounts = ({ body }: Reply) => body.counts

describe('createProduct', () => {
  it('returns the product with its variants, options and aliases, and stores all of it', async () => {
    const shop = await seedShop()
    const category_id = await givenCategory(shop)
    const product = await givenProduct(shop, {
      category_id,
      name_translations: { da: 'Weekendbillet' },
      price: 250.5,
      deposit: 10,
      is_wallet_enabled: true,
      aliases: ['Week-end', 'WE'],
      variants: [{ name: 'Adult' }, { name: 'Child', is_active: false }],
      options: [{ name: 'Parking', price_mod: -5.25 }],
    })
    expect(product).toMatchObject({
      ...shop,
      category_id,
      name: 'Weekend ticket',
      name_translations: { da: 'Weekendbillet' },
      price: 250.5,
      deposit: 10,
      is_variant_required: false,
      is_pickup_required: false,
      is_wallet_enabled: true,
      is_draft: false,
      aliases: ['WE', 'Week-end'],
      image_ids: [],
      images: [],
      variants: [
        { name: 'Adult', is_active: true },
        { name: 'Child', is_active: false },
      ],
      options: [{ name: 'Parking', price_mod: -5.25, deposit_mod: 0 }],
    })
    expect((await get(`${path}/${product.id}`)).body).toEqual(product)
  })

  it('creates a product with a name alone', async () => {
    const shop = await seedShop()
    const product = await givenProduct(shop)
    expect(product).toMatchObject({ price: null, deposit: null, category_id: null, variants: [], options: [] })
  })

  it.each([
    [{ name: ' ' }, '#/name blank'],
    [{ price: -1 }, '#/price min_value'],
    [{ price: 1.005 }, '#/price max_decimal_places'],
    [{ price: 2.5e-42 }, '#/price max_decimal_places'],
    [{ name_translations: { xx: 'x' } }, '#/name_translations/xx unknown_language'],
    [{ variants: [{ name: 'A' }, { name: 'á' }] }, '#/variants/1/name duplicate'],
    [{ variants: [{ id: 'var_none', name: 'A' }] }, '#/variants/0/id does_not_exist'],
    [{ options: [{ id: 'opt_none', name: 'A' }] }, '#/options/0/id does_not_exist'],
    [{ aliases: ['WEEKEND  ticket'] }, '#/aliases/0 duplicate'],
    [{ category_id: 'cat_none' }, '#/category_id does_not_exist'],
    [{ image_ids: ['fil_none'] }, '#/image_ids/0 does_not_exist'],
  ])('refuses an invalid field: %o', async (fields, error) => {
    const shop = await seedShop()
    expect(codes(await post(path, { ...shop, name: 'Weekend ticket', ...fields }))).toEqual(buildRefusal(error))
    expect(await listNames(shop)).toEqual([])
  })

  it('refuses the name or the alias of another product of the edition alone', async () => {
    const shop = await seedShop()
    await givenProduct(shop, { aliases: ['WE'] })
    expect(codes(await post(path, { ...shop, name: 'wéekend TICKET' }))).toEqual(buildRefusal('#/name unique'))
    expect(codes(await post(path, { ...shop, name: 'we' }))).toEqual(buildRefusal('#/name unique'))
    expect(codes(await post(path, { ...shop, name: 'Day', aliases: ['Weekend ticket'] }))).toEqual(
      buildRefusal('#/aliases/0 unique'),
    )
    const other = await seedEdition({ id: shop.organization_id })
    await givenProduct({ ...shop, edition_id: other.id }, { aliases: ['WE'] })
  })

  it('refuses a category and an image of another edition or organisation', async () => {
    const shop = await seedShop()
    const other = await seedEdition({ id: shop.organization_id })
    const category_id = await givenCategory({ ...shop, edition_id: other.id })
    expect(codes(await post(path, { ...shop, name: 'Day', category_id }))).toEqual(
      buildRefusal('#/category_id does_not_exist'),
    )
  })

  it('refuses an archived edition', async () => {
    const shop = await seedShop({ is_archived: true })
    expect(describeRefusal(await post(path, { ...shop, name: 'Day' }))).toBe('409 edition_archived')
  })

  it('lets one of two requests take a name', async () => {
    const shop = await seedShop()
    const replies = await Promise.all([
      post(path, { ...shop, name: 'Day' }),
      post(path, { ...shop, name: 'Week', aliases: ['day'] }),
    ])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 400])
  })
})

describe('listProducts', () => {
  it('shows the products of an edition with the number of their variants', async () => {
    const shop = await seedShop()
    await givenProduct(shop, { name: 'Øl', variants: [{ name: 'Small' }], is_draft: true })
    await givenOrders(shop, [orderOf('Åben billet', { variant: 'VIP', options: ['Mad', 'Drikke'] })])
    expect(await listNames(shop)).toEqual(['Åben billet', 'Øl'])
    const { body } = await get(`${path}?edition_id=${shop.edition_id}&search=aben&is_draft=false`)
    expect(body.results).toMatchObject([{ name: 'Åben billet', price: null, variants_count: 1, options_count: 2 }])
    expect((await get(`${path}?edition_id=${shop.edition_id}&is_draft=true`)).body.count).toBe(1)
  })
})

describe('getProduct', () => {
  it('answers a caller of another edition as if the product did not exist', async () => {
    const shop = await seedShop()
    const other = await seedEdition({ id: shop.organization_id })
    const product = await givenProduct(shop)
    const { token } = await givenMember({ id: shop.organization_id }, 'admin', other.id)
    expect((await get(`${path}/${product.id}`, token)).status).toBe(404)
    expect((await patch(`${path}/${product.id}`, { name: 'Mine' }, token)).status).toBe(404)
    expect((await remove(`${path}/${product.id}`, token)).status).toBe(404)
  })
})

describe('updateProduct', () => {
  it('changes what the body has and keeps the rest', async () => {
    const shop = await seedShop()
    const product = await givenProduct(shop, { price: 10, variants: [{ name: 'Adult' }] })
    const category_id = await givenCategory(shop)
    const { body } = await patch(`${path}/${product.id}`, { price: null, deposit: 5, category_id, is_draft: true })
    const expected = { ...product, price: null, deposit: 5, category_id, is_draft: true, modified: body.modified }
    expect(body).toEqual(expected)
    expect((await get(`${path}/${product.id}`)).body).toEqual(expected)
  })

  it('keeps the former name as an alias, so that an import with it finds the product', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [orderOf('Weekend tickett')])
    const [product] = (await get(`${path}?edition_id=${shop.edition_id}`)).body.results
    const { body } = await patch(`${path}/${product.id}`, { name: 'Weekend ticket' })
    expect(body).toMatchObject({ name: 'Weekend ticket', aliases: ['Weekend tickett'] })
    const reply = await importOrders(shop, [orderOf('WEEKEND TICKETT'), orderOf('Weekend ticket')])
    expect(reply.body.results.map(({ warnings }: { warnings: unknown[] }) => warnings)).toEqual([[], []])
    expect(await listNames(shop)).toEqual(['Weekend ticket'])
    const { body: purchases } = await get(`/v1/purchases?edition_id=${shop.edition_id}&product_id=${product.id}`)
    expect(purchases.results.map((one: { product: { name: string } }) => one.product.name)).toEqual(
      Array(3).fill('Weekend ticket'),
    )
  })

  it('takes back a former name, and gives an alias away', async () => {
    const shop = await seedShop()
    const { id } = await givenProduct(shop, { name: 'Never sold' })
    expect((await patch(`${path}/${id}`, { name: 'Day' })).body.aliases).toEqual([])
    await givenOrders(shop, [orderOf('Day')])
    await patch(`${path}/${id}`, { name: 'Week' })
    expect((await patch(`${path}/${id}`, { name: 'Day' })).body).toMatchObject({ name: 'Day', aliases: ['Week'] })
    expect((await patch(`${path}/${id}`, { name: 'DAY' })).body).toMatchObject({ name: 'DAY', aliases: ['Week'] })
    expect((await patch(`${path}/${id}`, { aliases: [] })).body.aliases).toEqual([])
    await givenProduct(shop, { name: 'week' })
    expect(codes(await patch(`${path}/${id}`, { aliases: ['Week'] }))).toEqual(buildRefusal('#/aliases/0 unique'))
    expect(codes(await patch(`${path}/${id}`, { name: 'WEEK' }))).toEqual(buildRefusal('#/name unique'))
  })

  it('changes, adds and removes variants and options, and exchanges their names', async () => {
    const shop = await seedShop()
    const product = await givenProduct(shop, {
      variants: [{ name: 'A' }, { name: 'B' }, { name: 'C' }],
      options: [{ name: 'Parking', price_mod: 1, deposit_mod: 2 }],
    })
    const [a, b] = product.variants
    const { body } = await patch(`${path}/${product.id}`, {
      variants: [{ id: b.id, name: 'A', is_active: false }, { id: a.id, name: 'B' }, { name: 'D' }],
      options: [{ name: 'parking', price_mod: 3 }, { name: 'Breakfast' }],
    })
    expect(body.variants).toMatchObject([{ ...a, name: 'B' }, { ...b, name: 'A', is_active: false }, { name: 'D' }])
    expect(body.options).toMatchObject([
      { id: product.options[0].id, name: 'parking', price_mod: 3, deposit_mod: 2 },
      { name: 'Breakfast' },
    ])
    const stored = (await get(`${path}/${product.id}`)).body
    expect(stored).toEqual(body)
  })

  it('refuses the variant of another product', async () => {
    const shop = await seedShop()
    const other = await givenProduct(shop, { name: 'Day', variants: [{ name: 'A' }] })
    const product = await givenProduct(shop)
    const variants = [{ id: other.variants[0].id, name: 'Stolen' }]
    expect(codes(await patch(`${path}/${product.id}`, { variants }))).toEqual(
      buildRefusal('#/variants/0/id does_not_exist'),
    )
    expect((await get(`${path}/${other.id}`)).body).toEqual(other)
  })

  it('refuses to remove a variant or an option that was bought, and counts what uses it', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [orderOf('Day', { variant: 'VIP', options: ['Parking'], quantity: 2 })])
    const [{ id }] = (await get(`${path}?edition_id=${shop.edition_id}`)).body.results
    for (const field of ['variants', 'options']) {
      const refusal = await patch(`${path}/${id}`, { [field]: [] })
      expect(describeRefusal(refusal)).toBe('409 product_in_use')
      expect(readCounts(refusal)).toEqual({
        purchases: 2,
        orders: 1,
        data_imports: 0,
        pass_designs: 0,
        segments: 0,
        email_messages: 0,
      })
    }
    expect((await get(`${path}/${id}`)).body).toMatchObject({
      variants: [{ name: 'VIP' }],
      options: [{ name: 'Parking' }],
    })
  })

  it('writes nothing for a body that changes nothing', async () => {
    const shop = await seedShop()
    const {
      created: _,
      modified: _modified,
      images: _images,
      ...product
    } = await givenProduct(shop, {
      variants: [{ name: 'A' }],
      aliases: ['B'],
    })
    await patch(`${path}/${product.id}`, product)
    const row = await db.first(sql<{ version: number }>`select version from products where id = ${product.id}`)
    expect(row?.version).toBe(1)
  })

  it('refuses a change of another state', async () => {
    const shop = await seedShop()
    const { id } = await givenProduct(shop)
    const etag = (await get(`${path}/${id}`)).headers.get('etag') ?? ''
    await givenOrders(shop, [orderOf('Weekend ticket', { variant: 'Late' })])
    const stale = await call(`${path}/${id}`, {
      method: 'PATCH',
      body: { variants: [] },
      headers: { 'if-match': etag },
    })
    expect(stale.status).toBe(412)
  })

  it('marks the passes of the edition when the name changes', async () => {
    const shop = await seedShop()
    const { id } = await givenProduct(shop)
    await write(sql`insert into wallet_editions (edition_id, has_google_passes) values (${shop.edition_id}, 1)`)
    const read = () =>
      db.first(sql`select apple_marked_to, google_marked_to from wallet_editions where edition_id = ${shop.edition_id}`)
    await patch(`${path}/${id}`, { price: 3 })
    expect(await read()).toEqual({ apple_marked_to: null, google_marked_to: null })
    await patch(`${path}/${id}`, { name_translations: { da: 'Dag' } })
    expect(await read()).toEqual({ apple_marked_to: '', google_marked_to: '' })
  })
})

describe('deleteProduct', () => {
  it('deletes a product with its variants, options and aliases', async () => {
    const shop = await seedShop()
    const { id } = await givenProduct(shop, {
      variants: [{ name: 'A' }],
      options: [{ name: 'B' }],
      aliases: ['C'],
    })
    expect((await remove(`${path}/${id}`)).status).toBe(204)
    expect((await get(`${path}/${id}`)).status).toBe(404)
    for (const table of ['variants', 'options', 'product_aliases'])
      expect(await db.all(sql`select 1 from ${sql.raw(table)} where product_id = ${id}`)).toEqual([])
    await givenProduct(shop, { name: 'C' })
  })

  it('refuses a product that was bought, and counts its purchases', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [orderOf('Day'), orderOf('Day', { quantity: 3 })])
    const [{ id }] = (await get(`${path}?edition_id=${shop.edition_id}`)).body.results
    const refusal = await remove(`${path}/${id}`)
    expect(describeRefusal(refusal)).toBe('409 product_in_use')
    expect(readCounts(refusal)).toEqual({
      purchases: 4,
      orders: 2,
      data_imports: 0,
      pass_designs: 0,
      segments: 0,
      email_messages: 0,
    })
  })

  it('refuses a product that a segment, a pass design or the condition of a block names', async () => {
    const shop = await seedShop()
    const { id } = await givenProduct(shop)
    await post('/v1/segments', {
      ...shop,
      name: 'Buyers',
      communication_type: 'transactional',
      communication_channel: 'email',
      expression: `purchases.exists(p, p.product_id == "${id}")`,
    })
    await write(sql`insert into pass_designs (id, organization_id, edition_id, product_id, name, name_key, name_folded, created_at, modified_at)
      values (${freshId('pass_design')}, ${shop.organization_id}, ${shop.edition_id}, ${id}, 'Dark', 'dark', 'dark', 1, 1)`)
    const condition = `purchases.exists(p, p.product_id == "${id}")`
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const blocks = [aBlock('For all'), { ...aBlock('For buyers', 'blk_2'), condition }]
    await seedMessage(place, { type: 'campaign', blocks })
    // An id in a text is not looked up, so it does not matter.
    await seedMessage(place, { type: 'campaign', blocks: [aBlock(id), { ...aBlock('x', 'blk_2'), condition: 'true' }] })
    expect(readCounts(await remove(`${path}/${id}`))).toMatchObject({
      pass_designs: 1,
      segments: 1,
      email_messages: 1,
    })
  })

  it('counts only segments that the caller sees, and says that others use it', async () => {
    const shop = await seedShop()
    const organization = { id: shop.organization_id }
    const { token } = await givenMember(organization, 'manager', shop.edition_id)
    const { id } = await givenProduct(shop, { variants: [{ name: 'Adult' }] })
    const variant = (await get(`${path}/${id}`)).body.variants[0].id
    const expression = `purchases.exists(p, p.product_id == "${id}" && p.variant_id == "${variant}")`
    const other = await seedEdition(organization)
    await seedSegment({ organization: organization.id, edition: null }, { expression })
    await seedSegment({ organization: organization.id, edition: other.id }, { expression })
    const none = { purchases: 0, orders: 0, data_imports: 0, pass_designs: 0 }
    for (const send of [
      (as?: string) => remove(`${path}/${id}`, as),
      (as?: string) => patch(`${path}/${id}`, { variants: [] }, as),
    ]) {
      const refusal = await send(token)
      expect([describeRefusal(refusal), refusal.body.counts, refusal.body.counted_up_to]).toEqual([
        '409 product_in_use',
        { ...none, segments: 0, email_messages: 0 },
        1000,
      ])
      expect(refusal.body.detail).toMatch(/ is in use\. Something outside your editions uses it\.$/)
      const full = (await send()).body
      expect([full.counts, full.detail.includes('outside')]).toEqual([
        { ...none, segments: 2, email_messages: 0 },
        false,
      ])
    }
    await seedSegment({ organization: organization.id, edition: shop.edition_id }, { expression })
    expect(readCounts(await remove(`${path}/${id}`, token))).toEqual({ ...none, segments: 1, email_messages: 0 })
  })
})
