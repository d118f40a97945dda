import { describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { actOnBatch, importPaidOrders, workUntilDone } from '../support/refund-batches.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { makeBatch } from '../support/seeding/sales/refund-batches.ts'

describe('listRefundBatches', () => {
  it('lists the batches of the edition, newest first', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const [first, second] = [await makeBatch(shop), await makeBatch(shop)]
    await makeBatch(other)
    const { body } = await get(`/v1/editions/${shop.edition_id}/refund-batches`)
    expect(body.results.map(({ id }: { id: string }) => id)).toEqual([second.body.id, first.body.id])
    expect(body.results[0].is_own).toBe(true)
    const colleague = await givenMember({ id: shop.organization_id }, 'admin')
    const ofColleague = await get(`/v1/refund-batches/${first.body.id}`, colleague.token)
    expect(ofColleague.body.is_own).toBe(false)
    const { token } = await givenMember({ id: other.organization_id }, 'admin')
    expect((await get(`/v1/editions/${shop.edition_id}/refund-batches`, token)).status).toBe(404)
  })
})

describe('getRefundBatch', () => {
  it('returns the counts of the dry run and of the requests since then', async () => {
    const shop = await seedShop()
    await importPaidOrders(shop, 2)
    const { body: batch } = await makeBatch(shop)
    const path = `/v1/refund-batches/${batch.id}`
    const counted = { orders: 2, purchases: 4, amounts: [{ currency: 'dkk', amount: 900 }] }
    const zeros = { orders: 0, purchases: 0, amounts: [] }
    expect((await get(path)).body).toMatchObject({ status: 'draft', dry_run: counted, requested: zeros })
    expect((await actOnBatch(batch.id, 'start')).status).toBe(200)
    await workUntilDone(batch.id)
    expect((await get(path)).body).toMatchObject({ dry_run: counted, requested: counted })
    const requests = await get(`/v1/refund-requests?edition_id=${shop.edition_id}&refund_batch_id=${batch.id}`)
    expect(requests.body.results).toMatchObject([{ refund_batch_id: batch.id }, { refund_batch_id: batch.id }])
    const others = await get(`/v1/refund-requests?refund_batch_id=${(await makeBatch(shop)).body.id}`)
    expect(others.body.count).toBe(0)
    const { token } = await givenMember({ id: (await seedShop()).organization_id }, 'admin')
    expect((await get(path, token)).status).toBe(404)
  })
})
