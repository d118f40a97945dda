import { describe, expect, it } from 'vitest'
import { get, patch } from '../../support/api.ts'
import { create, post } from '../../support/api.ts'
import { encodeCsv, mapColumns, pathOf, process, readColumns, work } from '../../support/data-imports.ts'
import { startImport } from '../../support/imported-tables.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { givenImport, givenTable } from '../../support/seeding/imports/data-imports.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

const header = 'Order ID;E-mail;Product;Price;Order date;Hvem kom ind'
const table = (id: string) => encodeCsv(`${header}\r\n${id};${id}@example.dk;Day ticket;225;2026-01-05;Gate 7\r\n`)

interface Colleague {
  shop: Shop
  token: string
}

/** Makes a colleague who manages one new edition of the organisation. */
async function givenManager(organization_id: string): Promise<Colleague> {
  const { id } = await seedEdition({ id: organization_id })
  const { token } = await givenMember({ id: organization_id }, 'manager', id)
  return { shop: { organization_id, edition_id: id }, token }
}

/** Reads a file of the edition as the colleague would. */
async function givenOwnImport({ shop, token }: Colleague, id: string, more: object = {}) {
  const query = { purpose: 'import', edition_id: shop.edition_id }
  const file_id = await givenTable(shop.organization_id, table(id), { query, token })
  const { body } = await post('/v1/data-imports', { ...shop, file_id, ...more }, token)
  await work(body.id)
  return (await get(pathOf(body.id), token)).body as { id: string; remembered_options: string[] }
}

const decisions = (consent: string) => ({
  mappings: [
    { source_index: 5, target_field: 'order.metadata.gate' },
    { source_index: 2, value_map: { Test: { ignore_row: true } } },
  ],
  constants: [
    { target_field: `consent.${consent}`, value: 'yes' },
    { target_field: 'order.payment_reference', value: 'pi_secret' },
    { target_field: 'order.coupon_code', value: 'SECRET' },
  ],
})

async function runWithDecisions({ shop, token }: Colleague, consent: string): Promise<string> {
  const { id } = await givenOwnImport({ shop, token }, 'a-1', {
    external_source: 'shop',
    options: { default_currency: 'sek' },
  })
  const { mappings, constants } = decisions(consent)
  expect((await mapColumns(id, mappings, constants)).status).toBe(200)
  await process(id)
  const reply = await post(pathOf(id, '/start'), {}, token)
  expect(reply.status, reply.text).toBe(200)
  await work(id)
  return id
}

const readMemory = async (id: string) => {
  const { results, constants } = await readColumns(id)
  return {
    remembered: (results as { suggested_by: string | null }[]).filter((one) => one.suggested_by === 'memory').length,
    value_maps: (results as { value_map: object | null }[]).filter((one) => one.value_map !== null).length,
    gate: (results as { target_field: string | null }[])[5]?.target_field ?? null,
    constants: (constants as { target_field: string; value: string }[])
      .map((one) => `${one.target_field}=${one.value}`)
      .toSorted(),
  }
}

const nothing = { remembered: 0, value_maps: 0, gate: null, constants: [] }

async function seedColleagues() {
  const { organization_id } = await seedShop()
  const consent = await givenConsent(organization_id)
  const [first, second] = [await givenManager(organization_id), await givenManager(organization_id)]
  return { organization_id, consent: (consent as unknown as { key: string }).key, first, second }
}

describe('the memory of imports', () => {
  it('of one edition is neither shown nor taken in another one, by source, headers or first mapping', async () => {
    const { consent, first, second } = await seedColleagues()
    await runWithDecisions(first, consent)
    const named = await givenOwnImport(second, 'b-1', { external_source: 'shop' })
    expect(await readMemory(named.id)).toEqual(nothing)
    expect(named.remembered_options).toEqual([])
    const unnamed = await givenOwnImport(second, 'b-2')
    expect(unnamed).toMatchObject({ source_suggested_by: 'headers' })
    expect(await readMemory(unnamed.id)).toEqual(nothing)
    const own = await givenOwnImport(first, 'a-2')
    expect(own).toMatchObject({ external_source: 'shop', remembered_options: ['group_by', 'default_currency'] })
    expect(await readMemory(own.id)).toMatchObject({
      gate: 'order.metadata.gate',
      constants: [`consent.${consent}=yes`, 'order.coupon_code=SECRET'],
    })
  })

  it('of the organisation is used by roles of the organisation alone, and never repeats consents and payments', async () => {
    const { organization_id, consent, first, second } = await seedColleagues()
    const { token } = await givenMember({ id: organization_id }, 'manager')
    await runWithDecisions({ shop: first.shop, token }, consent)
    expect(await readMemory((await givenOwnImport(second, 'b-1')).id)).toEqual(nothing)
    const ofOrganization = await givenOwnImport({ shop: second.shop, token }, 'b-2')
    expect(ofOrganization.remembered_options).toEqual(['group_by', 'default_currency'])
    expect(await readMemory(ofOrganization.id)).toMatchObject({
      gate: 'order.metadata.gate',
      constants: ['order.coupon_code=SECRET'],
    })
  })

  it('of the organisation does not learn from an import that a role of an edition starts', async () => {
    const { organization_id, consent, first, second } = await seedColleagues()
    await runWithDecisions(first, consent)
    const { token } = await givenMember({ id: organization_id }, 'admin')
    expect(await readMemory((await givenOwnImport({ shop: second.shop, token }, 'b-1')).id)).toEqual(nothing)
  })

  it('is that of whoever has the file read again', async () => {
    const { organization_id, consent, first, second } = await seedColleagues()
    const { token } = await givenMember({ id: organization_id }, 'admin')
    await runWithDecisions({ shop: first.shop, token }, consent)
    const { id } = await givenOwnImport(second, 'b-1')
    const read = async (who: string, quotes: string) => {
      const reply = await patch(pathOf(id), { external_source: 'shop', options: { quotes } }, who)
      expect(reply.status, reply.text).toBe(200)
      await work(id)
      return (await readMemory(id)).constants
    }
    expect(await read(token, 'double')).toEqual(['order.coupon_code=SECRET'])
    expect(await read(second.token, 'none')).toEqual([])
  })

  it('of the edition wins over that of the organisation', async () => {
    const { organization_id, consent, first, second } = await seedColleagues()
    const { token } = await givenMember({ id: organization_id }, 'admin')
    await runWithDecisions(second, consent)
    const { id } = await givenOwnImport({ shop: first.shop, token }, 'a-1', { external_source: 'shop' })
    await mapColumns(id, [{ source_index: 5, target_field: 'order.metadata.door' }])
    await process(id)
    await startImport(id)
    expect((await readMemory((await givenOwnImport({ shop: second.shop, token }, 'b-2')).id)).gate).toBe(
      'order.metadata.gate',
    )
  })
})

/** Makes products of the edition by an import of orders. */
const givenProducts = async (shop: Shop, ...names: string[]) => {
  const items = names.map((product) => ({ product, quantity: 1, unit_price: 100 }))
  const order = { external_id: 'P-1', currency: 'dkk', customer: { email: 'p@example.dk' }, items }
  await create('/v1/data-imports/external-orders', { ...shop, source: 'shop', orders: [order] })
  const { body } = await get(`/v1/purchases?edition_id=${shop.edition_id}`)
  return new Map(
    (body.results as { product: { api_id: string; name: string } }[]).map(({ product }) => [
      product.name,
      product.api_id,
    ]),
  )
}

const productTable = (...names: string[]) =>
  encodeCsv(
    [
      'Order ID;E-mail;Product;Price;Order date',
      ...names.map((name, at) => `${name}-${at};a@b.dk;${name};225;2026-01-05`),
    ]
      .map((line) => `${line}\r\n`)
      .join(''),
  )

interface Mapping {
  id: string
  product: string
  action: string | null
  product_id: string | null
  is_suggested: boolean
  similar_product: { id: string; name: string } | null
}

async function readProducts(shop: Shop, ...names: string[]) {
  const { id } = await givenImport(shop, productTable(...names))
  const { status } = await process(id)
  const results = (await get(pathOf(id, '/product-mappings'))).body.results as Mapping[]
  return { id, status: status as string, of: (name: string) => results.find(({ product }) => product === name) }
}

describe('a product whose name is near that of a product of the edition', () => {
  it('is asked for before the start, with the name that it may mean', async () => {
    const shop = await seedShop()
    const ids = await givenProducts(shop, 'Dagsbillet', 'Weekend 2026')
    const { id, status, of } = await readProducts(shop, 'Dagsbilet', 'Weekend 2027', 'Parkering')
    expect(status).toBe('mapping_products')
    expect(of('Dagsbilet')).toMatchObject({
      action: null,
      similar_product: { id: ids.get('Dagsbillet'), name: 'Dagsbillet' },
    })
    expect(of('Weekend 2027')).toMatchObject({ action: 'create', similar_product: null })
    const refused = await post(pathOf(id, '/start'), {})
    expect(describeRefusal(refused)).toBe('409 product_mapping_incomplete')
    const mapping = { id: of('Dagsbilet')?.id, action: 'map', product_id: ids.get('Dagsbillet') }
    const mapped = await patch(pathOf(id, '/product-mappings'), { mappings: [mapping] })
    expect(mapped.body).toMatchObject({ status: 'ready', results: [{ similar_product: null }] })
    expect(await startImport(id)).toMatchObject({ created_orders: 3 })
    const { body } = await get(`/v1/purchases?edition_id=${shop.edition_id}&page_size=100`)
    const names = (body.results as { product: { name: string } }[]).map(({ product }) => product.name)
    expect(names.toSorted()).toEqual(['Dagsbillet', 'Dagsbillet', 'Parkering', 'Weekend 2026', 'Weekend 2027'])
  })

  it('is asked for when only its variant is near one of the product', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [
      anOrder({ items: [{ product: 'Dagsbillet', variant: 'Voksen', quantity: 1, unit_price: 225 }] }),
    ])
    const rows = [
      'A;a@example.dk;2026-05-01;Dagsbillet;Voksne;225',
      'B;b@example.dk;2026-05-01;Dagsbillet;Studerende;90',
    ]
    const lines = ['Order ID;Email;Order date;Product;Variant;Price', ...rows]
    const { id } = await givenImport(shop, encodeCsv(lines.map((line) => `${line}\r\n`).join('')))
    expect((await process(id)).status).toBe('mapping_products')
    const { results } = (await get(pathOf(id, '/product-mappings'))).body
    expect(results).toMatchObject([
      { variant: 'Voksne', action: null, similar_product: { name: 'Voksen' } },
      { variant: 'Studerende', action: 'create', similar_product: null },
    ])
    expect((await post(pathOf(id, '/start'), {})).status).toBe(409)
  })

  it('is not asked for again in the next file of the edition, and in another edition it is', async () => {
    const shop = await seedShop()
    const ids = await givenProducts(shop, 'Dagsbillet')
    const { id, of } = await readProducts(shop, 'Dagsbilet', 'Frokost')
    const mappings = [
      { id: of('Dagsbilet')?.id, action: 'map', product_id: ids.get('Dagsbillet') },
      { id: of('Frokost')?.id, action: 'ignore' },
    ]
    expect((await patch(pathOf(id, '/product-mappings'), { mappings })).status).toBe(200)
    await startImport(id)
    const next = await readProducts(shop, 'DAGSBILET', 'Frokost')
    expect(next.status).toBe('ready')
    expect(next.of('DAGSBILET')).toMatchObject({ product_id: ids.get('Dagsbillet'), is_suggested: true })
    expect(next.of('Frokost')).toMatchObject({ action: 'ignore', is_suggested: true })
    expect((await get(pathOf(next.id))).body.product_summary).toEqual({ total: 2, mapped: 1, ignored: 1, unmapped: 0 })
    const sibling = { ...shop, edition_id: (await seedEdition({ id: shop.organization_id })).id }
    await givenProducts(sibling, 'Dagsbillet')
    const other = await readProducts(sibling, 'Dagsbilet', 'Frokost')
    expect([other.of('Dagsbilet')?.action, other.of('Frokost')?.action]).toEqual([null, 'create'])
  })
})
