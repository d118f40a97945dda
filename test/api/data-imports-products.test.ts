import { describe, expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { csv, pathOf, process, storedImport } from '../support/data-imports.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedProduct } from '../support/seeding/sales/trades.ts'

const table = csv(
  ['Order ID;E-mail;Product;Quantity;Price', 'A-1;ana@example.dk;Day ticket;2;225', 'A-2;bo@example.dk;Camping;1;100']
    .map((line) => `${line}\r\n`)
    .join(''),
)

/** An import of two products that an edition does not have, and that are not made by themselves. */
async function givenProducts(shop: Shop, file = table) {
  const { id } = await givenImport(shop, file, { options: { create_missing_products: false } })
  expect((await process(id)).status).toBe('mapping_products')
  const { body } = await get(pathOf(id, '/product-mappings'))
  const products = body.results as { id: string; product: string; rows_count: number; is_mapped: boolean }[]
  return { id, products, idOf: (name: string) => products.find(({ product }) => product === name)?.id ?? '' }
}

describe('listProductMappings', () => {
  it('shows each product of the file once, with its rows, and whether a user decided on it', async () => {
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
      csv(`Order ID;E-mail;Product;Quantity;Price\r\n${rows.join('')}`),
    )
    const { body } = await get(pathOf(id, '/product-mappings?ordering=product'))
    expect(body.results.map(({ product }: { product: string }) => product)).toEqual(names)
  })
})

describe('updateProductMappings', () => {
  it('makes the import ready once each product is mapped, created or ignored, and refuses products of other editions', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const { id, idOf } = await givenProducts(shop)
    const placeOf = ({ organization_id, edition_id }: Shop) => ({ organization: organization_id, edition: edition_id })
    const [own, foreign] = [await seedProduct(placeOf(shop)), await seedProduct(placeOf(other))]
    const decide = (mapping: object) => patch(pathOf(id, '/product-mappings'), { mappings: [mapping] })
    const refused = await decide({ id: idOf('Day ticket'), action: 'map', product_id: foreign })
    expect([refused.status, refused.body.errors[0].attr]).toEqual([400, 'mappings.0.product_id'])
    const first = await decide({ id: idOf('Day ticket'), action: 'map', product_id: own })
    expect(first.body).toMatchObject({ status: 'mapping_products', unmapped: 1 })
    const last = await decide({ id: idOf('Camping'), action: 'ignore' })
    expect(last.body).toMatchObject({ status: 'ready', unmapped: 0 })
    expect(await storedImport(id)).toMatchObject({ status: 'ready' })
  })
})
