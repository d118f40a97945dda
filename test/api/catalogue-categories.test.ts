import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, patch, post, remove } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { buildRefusal, codes } from '../support/editions.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedCategories, seedCategory, seedOwner } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { seedProduct } from '../support/seeding/sales/trades.ts'

const path = '/v1/categories'

const listNames = async (query: string, token: string) =>
  (await get(`${path}?${query}`, token)).body.results.map(({ name }: { name: string }) => name)

const loadCategories = (edition: string) =>
  db.all(sql<{ name: string; position: number }>`select name, position from categories where edition_id = ${edition}`)

describe('listCategories', () => {
  it('lists categories by their position, and finds them without regard to case and accents', async () => {
    const { token, place, owner } = await seedOwner()
    for (const [name, position] of [
      ['Mad', 3],
      ['Øl', 2],
      ['Billetter', 1],
    ] as const)
      await seedCategory(place, { name, position })
    const query = `edition_id=${owner.edition_id}`
    expect(await listNames(query, token)).toEqual(['Billetter', 'Øl', 'Mad'])
    expect(await listNames(`${query}&ordering=-name`, token)).toEqual(['Øl', 'Mad', 'Billetter'])
    expect(await listNames(`${query}&search=OL`, token)).toEqual(['Øl'])
    expect(await listNames(`organization_id=${owner.organization_id}&search=%25`, token)).toEqual([])
  })
})

describe('createCategory', () => {
  it('creates a category of the edition, with an audit entry', async () => {
    const { token, owner } = await seedOwner()
    const body = { ...owner, name: ' Tickets ', name_translations: { DA: 'Billetter' }, position: 4 }
    const reply = await post(path, body, token)
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { ...owner, name: 'Tickets', name_translations: { da: 'Billetter' }, position: 4 },
    ])
    expect(reply.headers.get('location')).toContain(`${path}/${reply.body.id}`)
    expect((await get(`${path}/${reply.body.id}`, token)).body).toEqual(reply.body)
    expect(await listEntries(reply)).toMatchObject([
      { action: 'createCategory', edition_id: owner.edition_id, resource_type: 'category', resource_id: reply.body.id },
    ])
  })

  it.each([
    [{ name: '' }, '#/name blank'],
    [{ name: 'x'.repeat(201) }, '#/name max_length'],
    [{ name_translations: { xx: 'X' } }, '#/name_translations/xx unknown_language'],
    [{ position: -1 }, '#/position min_value'],
    [{ position: 1.5 }, '#/position invalid_type'],
    [{ colour: 'red' }, '#/colour unknown_field'],
  ])('refuses an invalid field: %o', async (more, error) => {
    const { token, owner } = await seedOwner()
    expect(codes(await post(path, { ...owner, name: 'Tickets', ...more }, token))).toEqual(buildRefusal(error))
    expect(await loadCategories(owner.edition_id)).toEqual([])
  })

  it('refuses a name that the edition has in another spelling, and takes it in another edition', async () => {
    const { token, owner, admin } = await seedOwner()
    expect((await post(path, { ...owner, name: 'Øl & Vin' }, token)).status).toBe(201)
    expect(codes(await post(path, { ...owner, name: 'OL & VIN' }, token))).toEqual(buildRefusal('#/name unique'))
    const other = await seedEdition(admin)
    expect((await post(path, { ...owner, edition_id: other.id, name: 'Øl & Vin' }, token)).status).toBe(201)
  })

  it('refuses an edition of another organisation as one that does not exist', async () => {
    const [mine, other] = [await seedOwner(), await seedOwner()]
    const body = { organization_id: mine.owner.organization_id, name: 'Tickets' }
    const refusals = await Promise.all(
      [other.owner.edition_id, `edt_${'0'.repeat(26)}`].map((edition_id) =>
        post(path, { ...body, edition_id }, mine.token),
      ),
    )
    expect(refusals.map(codes)).toEqual([
      buildRefusal('#/edition_id does_not_exist'),
      buildRefusal('#/edition_id does_not_exist'),
    ])
    expect((await post(path, { ...other.owner, name: 'Tickets' }, mine.token)).status).toBe(400)
    expect(await loadCategories(other.owner.edition_id)).toEqual([])
  })

  it('is refused in an edition that has 500 categories, until one is deleted', async () => {
    const { token, place, owner } = await seedOwner()
    const [first] = await seedCategories(place, 500)
    const create = () => post(path, { ...owner, name: 'One more' }, token)
    expect(describeRefusal(await create())).toBe('409 catalogue_full')
    expect((await remove(`${path}/${first}`, token)).status).toBe(204)
    expect((await create()).status).toBe(201)
  })
})

describe('getCategory', () => {
  it('shows a category to viewers of its edition alone', async () => {
    const { admin, place, owner } = await seedOwner()
    const id = await seedCategory(place)
    const other = await seedEdition(admin)
    const [viewer, stranger] = [
      await givenMember(admin, 'viewer', owner.edition_id),
      await givenMember(admin, 'viewer', other.id),
    ]
    expect((await get(`${path}/${id}`, viewer.token)).body).toMatchObject({ id, edition_id: owner.edition_id })
    expect(describeRefusal(await get(`${path}/${id}`, stranger.token))).toBe('404 not_found')
  })
})

describe('updateCategory', () => {
  it('changes what the body has, and the ETag', async () => {
    const { token, owner } = await seedOwner()
    const created = (await post(path, { ...owner, name: 'Tickets', name_translations: { da: 'Billetter' } }, token))
      .body
    const reply = await patch(`${path}/${created.id}`, { name: 'TICKETS', position: 9 }, token)
    expect(reply.body).toEqual({ ...created, name: 'TICKETS', position: 9, modified: reply.body.modified })
    expect((await patch(`${path}/${created.id}`, { name_translations: {} }, token)).body.name_translations).toEqual({})
    expect(await loadCategories(owner.edition_id)).toEqual([{ name: 'TICKETS', position: 9 }])
  })

  it('refuses the name of another category', async () => {
    const { token, place, owner } = await seedOwner()
    const [id] = [await seedCategory(place, { name: 'Tickets' }), await seedCategory(place, { name: 'Food' })]
    expect(codes(await patch(`${path}/${id}`, { name: 'food' }, token))).toEqual(buildRefusal('#/name unique'))
    expect((await loadCategories(owner.edition_id)).map(({ name }) => name).toSorted()).toEqual(['Food', 'Tickets'])
  })
})

describe('deleteCategory', () => {
  it('leaves its products without a category, and those of others alone', async () => {
    const { token, place } = await seedOwner()
    const [id = '', other = ''] = await seedCategories(place, 2)
    const products = [
      await seedProduct(place, { category_id: id }),
      await seedProduct(place, { category_id: id }),
      await seedProduct(place, { category_id: other }),
    ]
    const reply = await remove(`${path}/${id}`, token)
    expect(reply.status).toBe(204)
    expect(await listEntries(reply)).toMatchObject([{ action: 'deleteCategory', resource_id: id }])
    const rows = await db.all(
      sql<{ id: string; category_id: string | null; version: number }>`select id, category_id, version from products
        where edition_id = ${place.edition}`,
    )
    expect(new Map(rows.map((row) => [row.id, row.version]))).toEqual(
      new Map(products.map((product, index) => [product, index < 2 ? 2 : 1])),
    )
    expect(new Map(rows.map((row) => [row.id, row.category_id]))).toEqual(
      new Map([
        [products[0], null],
        [products[1], null],
        [products[2], other],
      ]),
    )
    expect((await get(`${path}/${id}`, token)).status).toBe(404)
  })
})
