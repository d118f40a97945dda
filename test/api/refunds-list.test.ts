import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { seedShop, givenOrder, type Shop } from '../support/seeding/sales/orders.ts'
import { act, ask, askFor, refundRow, refundsOf, threePurchases } from '../support/refunds.ts'
import { db } from '../support/seeding/rows.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'

describe('listRefundRequests', () => {
  it('applies each filter, and reads the same rows for any number of foreign requests', async () => {
    const own = await seedShop()
    const bought = await givenOrder(own, { order_number: 'A-77', ...threePurchases })
    const { body: whole } = await ask({ order_id: bought.order, amount: 10 })
    const { body: single } = await askFor(bought.purchases[0] ?? '', { reason: 'duplicate', amount: 20 })
    await act(single.id, 'reject')
    const found = async (query: string) =>
      (await get(`/v1/refund-requests?edition_id=${own.edition_id}&${query}`)).body.results.map(
        ({ id }: { id: string }) => id,
      )
    const user = whole.customer.api_id
    for (const query of [
      'search=a-77',
      `order_id=${bought.order}`,
      `customer_id=${user}`,
      `purchase_id=${bought.purchases[0]}`,
    ])
      expect([query, await found(query)]).toEqual([query, [single.id, whole.id]])
    expect(await found('status=rejected')).toEqual([single.id])
    expect(await found('reason=customer_request')).toEqual([whole.id])
    expect(await found(`search=${single.id}`)).toEqual([single.id])
    expect(await found(`purchase_id=${bought.purchases[1]}`)).toEqual([whole.id])
    expect(await found('ordering=requested_amount')).toEqual([whole.id, single.id])
    expect(await found('source=provider')).toEqual([])
    const paths = [
      `edition_id=${own.edition_id}`,
      `order_id=${bought.order}`,
      `customer_id=${user}`,
      `purchase_id=${bought.purchases[0]}`,
      `organization_id=${own.organization_id}`,
    ]
    const read = () =>
      Promise.all(paths.map(async (query) => costOf(await get(`/v1/refund-requests?${query}`)).rows_read))
    await seedElsewhere(10)
    const before = await read()
    await seedElsewhere(10_000)
    expect(await read()).toEqual(before)
  })
})

it.each(['', 'modified', 'requested_amount', 'status'])(
  'requests of one order, purchase or customer are found by few rows among those of their edition, ordered by "%s"',
  async (ordering) => {
    const shop = await seedShop()
    const one = await givenOrder(shop, threePurchases)
    const { body } = await askFor(one.purchases[0] ?? '', { amount: 1 })
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const read = async () => {
      const filters = [
        `order_id=${one.order}`,
        `purchase_id=${one.purchases[0]}`,
        `customer_id=${body.customer.api_id}`,
      ]
      const rows = []
      for (const filter of [...filters, `order_id=${one.order}&status=pending`])
        for (const as of [rootToken, token]) {
          const reply = await get(
            `/v1/refund-requests?edition_id=${shop.edition_id}&${filter}${ordering && `&ordering=${ordering}`}`,
            as,
          )
          expect([filter, reply.body.count]).toEqual([filter, 1])
          rows.push(costOf(reply).rows_read)
        }
      return rows
    }
    const before = await read()
    await seedMore(shop, 2000)
    // The end of a range of an index is one row more where others follow.
    for (const [index, rows] of (await read()).entries()) expect(rows).toBeLessThanOrEqual((before[index] ?? 0) + 6)
  },
)

/** Requests of another organisation, of one purchase. */
async function seedElsewhere(count: number): Promise<void> {
  const other = await seedShop()
  await seedMore(other, count)
  expect((await refundsOf(other)).length).toBe(count + 1)
}

/** Requests of one more order. */
async function seedMore(other: Shop, count: number): Promise<void> {
  const { purchases } = await givenOrder(other)
  const { body } = await askFor(purchases[0] ?? '', { amount: 1 })
  const row = await refundRow(body.id)
  const names = Object.keys(row).filter((name) => name !== 'id')
  await db.all(sql`insert into refund_requests (id, ${sql.raw(names.join(', '))})
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    select ${`${row.id}-`} || i, ${sql.raw(names.join(', '))} from n, refund_requests where id = ${row.id}`)
  await db.all(sql`insert into refund_items (refund_request_id, purchase_id, amount_minor)
    select id, purchase_id, 0 from refund_requests where id like ${`${row.id}-%`}`)
}

describe('getRefundRequest', () => {
  it('answers amounts and possible next steps, and is 404 in another edition', async () => {
    const shop = await seedShop()
    const { purchases, order } = await givenOrder(shop)
    const { body: asked } = await askFor(purchases[0] ?? '', { amount: 100, comment: 'Ill' })
    const path = `/v1/refund-requests/${asked.id}`
    expect((await get(path)).body).toMatchObject({
      status: 'pending',
      order: { id: order },
      purchase: { id: purchases[0] },
      requested_amount: 100,
      approved_amount: null,
      comment: 'Ill',
      allowed_actions: ['approve', 'reject', 'cancel'],
    })
    await act(asked.id, 'reject')
    expect((await get(path)).body).toMatchObject({ status: 'rejected', rejection_reason: 'No', allowed_actions: [] })
    const sibling = await seedEdition({ id: shop.organization_id })
    const { token } = await givenMember({ id: shop.organization_id }, 'admin', sibling.id)
    expect((await get(path, token)).status).toBe(404)
  })
})
