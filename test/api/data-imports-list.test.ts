import { describe, expect, it } from 'vitest'
import { get, post } from '../support/api.ts'
import { encodeCsv, pathOf, process, loadStagedRows, loadImport } from '../support/data-imports.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { givenMember } from '../support/seeding/members.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

const table = encodeCsv('Order ID;E-mail;Product;Quantity;Price\r\nA-1;ana@example.dk;Day ticket;2;225,00\r\n')
const listIds = (reply: Awaited<ReturnType<typeof get>>) => reply.body.results.map(({ id }: { id: string }) => id)

describe('listDataImports', () => {
  it('lists the imports of an edition, from files and from calls', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const ofFile = await givenImport(shop, table)
    const { body: ofCall } = await importOrders(shop, [anOrder()])
    await importOrders(other, [anOrder()])
    const list = (query: string) => get(`/v1/data-imports?organization_id=${shop.organization_id}&${query}`)
    expect(listIds(await list(''))).toEqual(expect.arrayContaining([ofFile.id, ofCall.id]))
    expect((await list('')).body.count).toBe(2)
    expect(listIds(await list('status=mapping_columns'))).toEqual([ofFile.id])
    const sibling = await seedEdition({ id: shop.organization_id })
    expect(listIds(await list(`edition_id=${sibling.id}`))).toEqual([])
  })
})

describe('getDataImport', () => {
  it('returns the file, the counts of its rows and the possible next steps, only to roles of its edition', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, table)
    const mapping = { status: 'mapping_columns', source: 'csv', total_rows: 1, file: { name: 'orders.csv' } }
    expect((await get(pathOf(id))).body).toMatchObject(mapping)
    await process(id)
    expect((await get(pathOf(id))).body).toMatchObject({ valid_rows: 1, invalid_rows: 0, total_orders: 1 })
    const sibling = await seedEdition({ id: shop.organization_id })
    const { token } = await givenMember({ id: shop.organization_id }, 'admin', sibling.id)
    expect((await get(pathOf(id), token)).status).toBe(404)
  })
})

describe('cancelDataImport', () => {
  it('ends an import before its start, only once, and no orders are made', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, table)
    await process(id)
    expect(await loadStagedRows(id)).toHaveLength(1)
    const cancelled = { status: 'cancelled', allowed_actions: [] }
    expect(await post(pathOf(id, '/cancel'), {})).toMatchObject({ status: 200, body: cancelled })
    expect(await loadImport(id)).toMatchObject({ status: 'cancelled', phase: null, created_orders: 0 })
    for (const action of ['/cancel', '/start'])
      expect((await post(pathOf(id, action), {})).body.code).toBe('invalid_transition')
    expect((await get(`/v1/orders?edition_id=${shop.edition_id}`)).body.count).toBe(0)
  })
})
