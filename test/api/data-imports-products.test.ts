import { describe, expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { encodeCsv, loadImport, mapColumns, pathOf, process } from '../support/data-imports.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedProduct } from '../support/seeding/sales/trades.ts'

const table = encodeCsv(
  ['Order ID;E-mail;Product;Quantity;Price', 'A-1;ana@example.dk;Day ticket;2;225', 'A-2;bo@example.dk;Camping;1;100']
    .map((line) => `${line}\r\n`)
    .join(''),
)

/** Makes an import of products that the edition does not have and that the options do not create. */
async function givenProducts(shop: Shop, file = table) {
  const { id } = await givenImport(shop, file, { options: { create_missing_products: false } })
  expect((await process(id)).status).toBe('mapping_products')
  const { body } = await get(pathOf(id, '/product-mappings'))
  const products = body.results as { id: string; product: string; rows_count: number; is_mapped: boolean }[]
  return { id, products, idOf: (name: string) => products.find(({ product }) => product === name)?.id ?? '' }
}

describe('listProductMappings', () => {
  it('lists each product of the file once, with its rows, and says whether a user decided on it', async () => {
    const { products } = await givenProducts(await seedShop())
    expect(products.map(({ product, rows_count, is_mapped }) => [product, rows_count, is_mapped]).toSorted()).toEqual([
      ['Camping', 1, false],
      ['Day ticket', 1, false],
    ])
  })
})

describe('listProductMappings by product', () => {
  it('sorts names without case and accents, and with numbers as numbers', async () => {
    const names = ['alfa', 'Århus', 'hall 9', 'Hall 10', 'Zulu']
    const rows = names.toReversed().map((name, index) => `A-${index};ana@example.dk;${name};1;100\r\n`)
    const { id } = await givenProducts(
      await seedShop(),
      encodeCsv(`Order ID;E-mail;Product;Quantity;Price\r\n${rows.join('')}`),
    )
    const { body } = await get(pathOf(id, '/product-mappings?ordering=product'))
    expect(body.results.map(({ product }: { product: string }) => product)).toEqual(names)
  })
})

describe('updateProductMappings', () => {
  it('makes the import ready once each product is decided, and refuses products of other editions', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const { id, idOf } = await givenProducts(shop)
    const buildPlace = ({ organization_id, edition_id }: Shop) => ({
      organization: organization_id,
      edition: edition_id,
    })
    const [ownProduct, foreign] = [await seedProduct(buildPlace(shop)), await seedProduct(buildPlace(other))]
    const decide = (mapping: object) => patch(pathOf(id, '/product-mappings'), { mappings: [mapping] })
    const refusal = await decide({ id: idOf('Day ticket'), action: 'map', product_id: foreign })
    expect([refusal.status, refusal.body.errors[0].attr]).toEqual([400, 'mappings.0.product_id'])
    const first = await decide({ id: idOf('Day ticket'), action: 'map', product_id: ownProduct })
    expect(first.body).toMatchObject({ status: 'mapping_products', unmapped: 1 })
    const last = await decide({ id: idOf('Camping'), action: 'ignore' })
    expect(last.body).toMatchObject({ status: 'ready', unmapped: 0 })
    expect(await loadImport(id)).toMatchObject({ status: 'ready' })
  })

  it('is kept when the columns change and are processed again', async () => {
    const shop = await seedShop()
    const { id, idOf } = await givenProducts(shop)
    const product_id = await seedProduct({ organization: shop.organization_id, edition: shop.edition_id })
    const mappings = [{ id: idOf('Day ticket'), action: 'map', product_id }]
    expect((await patch(pathOf(id, '/product-mappings'), { mappings })).status).toBe(200)
    const price = [{ target_field: 'item.unit_price', value: '225' }]
    expect((await mapColumns(id, [{ source_column: 'Price', is_ignored: true }], price)).status).toBe(200)
    expect((await loadImport(id)).status).toBe('mapping_columns')
    expect((await process(id)).status).toBe('mapping_products')
    const { body } = await get(pathOf(id, '/product-mappings?ordering=product'))
    expect(body.results).toMatchObject([
      { product: 'Camping', action: null },
      { product: 'Day ticket', action: 'map', product_id },
    ])
  })
})
