import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { maxNestedRows } from '../../src/db/cel/lowering.ts'
import { chooseStepSize } from '../../src/modules/segments/calculation/calculation.ts'
import { get, post } from '../support/api.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { calculate, listMembers } from '../support/segments.ts'

const nested = 'purchases.exists(p, purchases.exists(q, q.product_id == p.product_id))'

const importPurchases = async (shop: Shop, email: string, quantity: number): Promise<void> => {
  const order = anOrder({ customer: { email }, items: [{ product: 'Day ticket', quantity, unit_price: 1 }] })
  expect((await importOrders(shop, [order])).body.created_orders).toBe(1)
}

const findUser = async (shop: Shop, email: string): Promise<string> => {
  const row = await db.first(
    sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id} and email = ${email}`,
  )
  if (!row) throw new Error(`there is no ${email}`)
  return row.id
}

describe('a list inside another list', () => {
  describe('for somebody with 200 purchases and somebody with more', () => {
    let shop: Shop
    let few: string
    let many: string
    let segment: string
    beforeAll(async () => {
      shop = await seedShop()
      await importPurchases(shop, 'few@example.dk', maxNestedRows)
      await importPurchases(shop, 'many@example.dk', maxNestedRows + 1)
      few = await findUser(shop, 'few@example.dk')
      many = await findUser(shop, 'many@example.dk')
      const { id } = await givenSegment({ organization_id: shop.organization_id, expression: nested })
      segment = id as string
    })

    it('makes only the first a member', async () => {
      expect(await calculate(segment)).toMatchObject({ status: 'ready', user_count: 1 })
      expect(await listMembers(segment)).toEqual([few])
    })

    it('counts only the first in an estimate', async () => {
      const body = { organization_id: shop.organization_id, expression: nested }
      expect((await post('/v1/segments/validate-cel', body)).body).toMatchObject({
        is_valid: true,
        estimated_user_count: 1,
        is_estimate: false,
      })
    })

    it('explains that it has no value for the second', async () => {
      const explain = async (user: string) => (await get(`/v1/segments/${segment}/explain?user_id=${user}`)).body
      expect(await explain(few)).toMatchObject({ is_member: true, parts: [{ value: true }] })
      expect(await explain(many)).toMatchObject({
        is_member: false,
        excluded_for: 'expression',
        parts: [{ value: null }],
      })
    })
  })

  it('does not count purchases in other editions for a segment of an edition', async () => {
    const shop = await seedShop()
    const other = { ...shop, edition_id: (await seedEdition({ id: shop.organization_id })).id }
    await importPurchases(shop, 'a@example.dk', 2)
    await importPurchases(other, 'a@example.dk', maxNestedRows)
    const { organization_id, edition_id } = shop
    const ofEdition = await givenSegment({ organization_id, edition_id, expression: nested })
    const ofOrganization = await givenSegment({ organization_id, expression: nested })
    expect((await calculate(ofEdition.id as string)).user_count).toBe(1)
    expect((await calculate(ofOrganization.id as string)).user_count).toBe(0)
  })

  it('works with any length when it belongs to the element', async () => {
    const shop = await seedShop()
    await importPurchases(shop, 'many@example.dk', maxNestedRows + 1)
    const expression = 'purchases.exists(p, p.option_ids.all(o, o == p.variant_id))'
    const { id } = await givenSegment({ organization_id: shop.organization_id, expression })
    expect((await calculate(id as string)).user_count).toBe(1)
  })
})

describe('the number of people in a step of a calculation', () => {
  it('grows at most tenfold up to 20,000 people, and shrinks to what fits into 200 ms', () => {
    expect(chooseStepSize(100, 0)).toBe(1000)
    expect(chooseStepSize(100, 100)).toBe(200)
    expect(chooseStepSize(10_000, 10)).toBe(20_000)
    expect(chooseStepSize(100, 2000)).toBe(10)
    expect(chooseStepSize(1, 60_000)).toBe(1)
  })
})
