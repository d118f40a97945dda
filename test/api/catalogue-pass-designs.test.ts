import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { sweepPassUpdates } from '../../src/modules/wallet/jobs.ts'
import { get, patch, post, remove } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { createJob } from '../support/campaigns.ts'
import { buildRefusal, codes } from '../support/editions.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPassDesign, seedPassDesigns, seedOwner } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedFile } from '../support/seeding/files.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedProduct } from '../support/seeding/sales/trades.ts'
import { givenPass } from '../support/seeding/sales/wallet-passes.ts'
import { listCaptured } from '../support/wallet.ts'

const path = '/v1/pass-designs'

const loadDesigns = (edition: string) =>
  db.all(sql<{ id: string; product_id: string | null }>`select id, product_id from pass_designs
    where edition_id = ${edition}`)

/** Lists the colours that Google's copy of a pass got, one for each update. */
async function sweepColors(pass: { id: string }): Promise<string[]> {
  await sweepPassUpdates(createJob())
  const updates = (await listCaptured(pass.id)).filter(({ subject }) => subject === 'Update of a pass')
  return updates.map(({ body }) => JSON.parse(body).hexBackgroundColor)
}

describe('listPassDesigns', () => {
  it('lists the designs of an edition and of a product', async () => {
    const { token, place } = await seedOwner()
    const product = await seedProduct(place)
    const first = await seedPassDesign(place, { name: 'Night blue', created_at: 1 })
    const second = await seedPassDesign(place, { name: 'Day yellow', product_id: product, created_at: 2 })
    const listIds = async (query: string) =>
      (await get(`${path}?edition_id=${place.edition}${query}`, token)).body.results.map(({ id }: { id: string }) => id)
    expect(await listIds('')).toEqual([second, first])
    expect(await listIds(`&product_id=${product}`)).toEqual([second])
    expect(await listIds('&search=BLUE')).toEqual([first])
  })
})

describe('createPassDesign', () => {
  it('stores colours, texts and a logo, and makes the health check of its product pass', async () => {
    const { token, owner, place } = await seedOwner()
    const product = await seedProduct(place, { is_wallet_enabled: true })
    const logo = await seedFile(place)
    const hasPassed = async () =>
      (await get(`/v1/editions/${place.edition}/healthcheck`, token)).body.checks.find(
        ({ check_id }: { check_id: string }) => check_id === 'fulfilment.pass_design',
      ).passed
    expect(await hasPassed()).toBe(false)
    const fields = { product_id: product, name: 'Night blue', logo_text: 'Nordlys', logo_image_id: logo }
    const reply = await post(path, { ...owner, ...fields, background_color: '#10204F' }, token)
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { ...owner, ...fields, background_color: '#10204f', label_color: null, description: null },
    ])
    expect(reply.body.logo.original).toContain(`/files/${logo}/`)
    expect((await get(`${path}/${reply.body.id}`, token)).body).toEqual(reply.body)
    expect(await hasPassed()).toBe(true)
    expect(await listEntries(reply)).toMatchObject([{ action: 'createPassDesign', resource_id: reply.body.id }])
    expect(describeRefusal(await remove(`/v1/files/${logo}`, token))).toBe('409 file_in_use')
    expect((await get(`/v1/files/${logo}`, token)).body.used_by).toEqual([
      { type: 'pass_design', id: reply.body.id, name: 'Night blue', field: 'logo_image_id' },
    ])
  })

  it.each([
    [{ background_color: 'blue' }, '#/background_color invalid'],
    [{ background_color: '#10204' }, '#/background_color invalid'],
    [{ label_color: '#102040;}' }, '#/label_color invalid'],
    [{ logo_text: '' }, '#/logo_text blank'],
    [{ description: 'x'.repeat(201) }, '#/description max_length'],
    [{ logo_url: 'https://pictures.example/logo.png' }, '#/logo_url unknown_field'],
  ])('refuses an invalid field: %o', async (more, error) => {
    const { token, owner } = await seedOwner()
    expect(codes(await post(path, { ...owner, name: 'Night blue', ...more }, token))).toEqual(buildRefusal(error))
    expect(await loadDesigns(owner.edition_id)).toEqual([])
  })

  it('refuses products of another edition, and files that are no image of the organisation', async () => {
    const { token, admin, owner, place } = await seedOwner()
    const other = await seedEdition(admin)
    const stranger = await seedOwner()
    const create = (fields: object) => post(path, { ...owner, name: 'Night blue', ...fields }, token)
    for (const product_id of [
      await seedProduct({ ...place, edition: other.id }),
      await seedProduct(stranger.place),
      await seedProduct(place, { merged_into_id: await seedProduct(place) }),
      `prd_${'0'.repeat(26)}`,
    ])
      expect(codes(await create({ product_id }))).toEqual(buildRefusal('#/product_id does_not_exist'))
    for (const logo_image_id of [
      await seedFile(stranger.place),
      await seedFile(place, { purpose: 'import' }),
      await seedFile(place, { status: 'quarantined' }),
      `fil_${'0'.repeat(26)}`,
    ])
      expect(codes(await create({ logo_image_id }))).toEqual(buildRefusal('#/logo_image_id does_not_exist'))
    const manager = await givenMember(admin, 'manager', place.edition)
    const hidden = await seedFile({ ...place, edition: other.id })
    expect(codes(await post(path, { ...owner, name: 'Night blue', logo_image_id: hidden }, manager.token))).toEqual(
      buildRefusal('#/logo_image_id does_not_exist'),
    )
    expect(await loadDesigns(place.edition)).toEqual([])
  })

  it('does not tell whether a product of another organisation exists', async () => {
    const [mine, stranger] = [await seedOwner(), await seedOwner()]
    const product = await seedProduct(stranger.place)
    const owner = { ...mine.owner, edition_id: stranger.owner.edition_id }
    const refusals = await Promise.all(
      [product, `prd_${'0'.repeat(26)}`].map((product_id) =>
        post(path, { ...owner, name: 'Night blue', product_id }, mine.token),
      ),
    )
    expect(codes(refusals[0] ?? expect.unreachable())).toEqual(codes(refusals[1] ?? expect.unreachable()))
  })

  it('is refused in an edition that has 500 designs', async () => {
    const { token, owner, place } = await seedOwner()
    await seedPassDesigns(place, 500)
    expect(describeRefusal(await post(path, { ...owner, name: 'One more' }, token))).toBe('409 catalogue_full')
  })
})

describe('getPassDesign', () => {
  it('leaves out what an operator stored in a wrong form', async () => {
    const { token, place } = await seedOwner()
    const id = await seedPassDesign(place, {
      design: { background_color: 'blue', label_color: '#FFFFFF', logo_text: 7 },
    })
    expect((await get(`${path}/${id}`, token)).body).toMatchObject({
      background_color: null,
      label_color: '#ffffff',
      logo_text: null,
      logo: null,
    })
  })
})

describe('updatePassDesign', () => {
  it('changes what the body has, and takes the logo away', async () => {
    const { token, place } = await seedOwner()
    const logo = await seedFile(place)
    const id = await seedPassDesign(place, { name: 'Night blue', logo_image_id: logo })
    const recoloured = await patch(`${path}/${id}`, { label_color: '#c0d0ff' }, token)
    expect(recoloured.body).toMatchObject({ background_color: '#102040', label_color: '#c0d0ff', logo_image_id: logo })
    expect(recoloured.body.logo.original).toContain(logo)
    const cleared = await patch(`${path}/${id}`, { logo_image_id: null, background_color: null }, token)
    expect(cleared.body).toMatchObject({ background_color: null, label_color: '#c0d0ff', logo: null })
    expect((await remove(`/v1/files/${logo}`, token)).status).toBe(204)
  })

  it('updates passes that show it', async () => {
    const pass = await givenPass('google')
    const [design] = await loadDesigns(pass.edition)
    expect((await patch(`${path}/${design?.id}`, { background_color: '#ff0000' })).status).toBe(200)
    expect(await sweepColors(pass)).toEqual(['#ff0000'])
    expect((await patch(`${path}/${design?.id}`, { name: 'Red' })).status).toBe(200)
    expect(await sweepColors(pass)).toEqual(['#ff0000'])
  })
})

describe('deletePassDesign', () => {
  it('gives its passes the design of the edition, and then the look of the platform', async () => {
    const pass = await givenPass('google')
    const [design] = await loadDesigns(pass.edition)
    const owner = { organization_id: pass.organization, edition_id: pass.edition }
    const { body } = await post(path, { ...owner, name: 'All', background_color: '#00ff00' })
    expect(await sweepColors(pass)).toEqual(['#102040'])
    expect((await remove(`${path}/${design?.id}`)).status).toBe(204)
    expect(await sweepColors(pass)).toEqual(['#102040', '#00ff00'])
    expect((await remove(`${path}/${body.id}`)).status).toBe(204)
    expect((await sweepColors(pass)).slice(2)).toEqual([null])
    expect(await loadDesigns(pass.edition)).toEqual([])
  })

  it('lets another design of the product take its place', async () => {
    const pass = await givenPass('google')
    const [design] = await loadDesigns(pass.edition)
    const owner = { organization_id: pass.organization, edition_id: pass.edition }
    const fields = { name: 'Next', product_id: design?.product_id, background_color: '#0000ff' }
    expect((await post(path, { ...owner, ...fields })).status).toBe(201)
    await write(sql`update wallet_editions set google_marked_to = null where edition_id = ${pass.edition}`)
    expect((await remove(`${path}/${design?.id}`)).status).toBe(204)
    expect((await sweepColors(pass)).at(-1)).toBe('#0000ff')
  })
})
