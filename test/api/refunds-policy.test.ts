import { describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { listAnnounced } from '../support/purchases.ts'
import { actOnBatch } from '../support/refund-batches.ts'
import { actOnRefund, requestPurchaseRefund, expectCountersToBeSums } from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedShopWithAccount, givenOrder } from '../support/seeding/sales/orders.ts'
import { makeBatch } from '../support/seeding/sales/refund-batches.ts'

describe('the refund policy of an organisation', () => {
  const policy = async (refund_policy: Record<string, unknown>) => {
    const policyShop = await seedShopWithAccount('manual')
    const { body } = await patch(`/v1/organizations/${policyShop.organization_id}`, { refund_policy })
    return { policyShop, shown: body.refund_policy }
  }

  it('requires two people: a second token of the same account is not enough', async () => {
    const { policyShop, shown } = await policy({ four_eyes: true })
    expect(shown).toEqual({ four_eyes: true, manager_limit: null, auto_approve_below: null })
    const [asker, reviewer] = [
      await givenMember({ id: policyShop.organization_id }, 'admin'),
      await givenMember({ id: policyShop.organization_id }, 'manager'),
    ]
    const { purchases } = await givenOrder(policyShop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', {}, asker.token)
    const other = await post('/v1/auth/tokens', { name: 'another', member_id: asker.id })
    for (const token of [asker.token, other.body.token])
      expect(await actOnRefund(body.id, 'approve', {}, token)).toMatchObject({
        status: 409,
        body: { code: 'four_eyes_required' },
      })
    const path = `/v1/refund-requests/${body.id}`
    for (const [token, is_own] of [[other.body.token, true] as const, [reviewer.token, false] as const])
      expect((await get(path, token)).body.is_own).toBe(is_own)
    expect(await actOnRefund(body.id, 'approve', {}, reviewer.token)).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    })
  })

  it('limits the amounts that managers approve, and not those of admins', async () => {
    const { policyShop } = await policy({ manager_limit: 100 })
    const manager = await givenMember({ id: policyShop.organization_id }, 'manager')
    const admin = await givenMember({ id: policyShop.organization_id }, 'admin', policyShop.edition_id)
    const { purchases } = await givenOrder(policyShop)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '', {}, manager.token)
    expect(await actOnRefund(body.id, 'approve', {}, manager.token)).toMatchObject({
      status: 403,
      body: { code: 'above_limit', manager_limit: 100, currency: 'dkk' },
    })
    expect(await actOnRefund(body.id, 'approve', {}, admin.token)).toMatchObject({ status: 200 })
    const second = await requestPurchaseRefund(purchases[1] ?? '', {}, manager.token)
    expect(await actOnRefund(second.body.id, 'approve', { amount: 100 }, manager.token)).toMatchObject({ status: 200 })
  })

  it('applies to the total and the creator of a batch', async () => {
    const { policyShop } = await policy({ four_eyes: true, manager_limit: 449.99 })
    const [manager, other, admin, viewer] = [
      await givenMember({ id: policyShop.organization_id }, 'manager'),
      await givenMember({ id: policyShop.organization_id }, 'manager'),
      await givenMember({ id: policyShop.organization_id }, 'admin', policyShop.edition_id),
      await givenMember({ id: policyShop.organization_id }, 'manager', policyShop.edition_id),
    ]
    await givenOrder(policyShop)
    expect((await makeBatch(policyShop, {}, viewer.token)).status).toBe(403)
    const { body } = await makeBatch(policyShop, {}, manager.token)
    expect(await actOnBatch(body.id, 'start', manager.token)).toMatchObject({
      status: 409,
      body: { code: 'four_eyes_required' },
    })
    expect(await actOnBatch(body.id, 'start', other.token)).toMatchObject({
      status: 403,
      body: { code: 'above_limit' },
    })
    expect(await actOnBatch(body.id, 'start', admin.token)).toMatchObject({ status: 200, body: { status: 'running' } })
  })

  it('approves small amounts at once, but not many small amounts of one payment', async () => {
    const { policyShop } = await policy({ auto_approve_below: 60, four_eyes: true })
    const { purchases } = await givenOrder(policyShop)
    const [id = ''] = purchases
    const first = await requestPurchaseRefund(id, { amount: 30 })
    expect([first.status, first.body]).toMatchObject([
      201,
      { status: 'completed', refunded_amount: 30, reviewed_by: null },
    ])
    expect((await get(`/v1/refund-requests/${first.body.id}`)).body).toEqual(first.body)
    expect(await listAnnounced({ id, shop: policyShop })).toEqual([
      'refund_requested:active',
      'refund_approved:active',
      'refunded:active',
    ])
    expect((await requestPurchaseRefund(id, { amount: 30 })).body.status).toBe('pending')
    await expectCountersToBeSums(policyShop)
  })

  it('can only be changed by admins of the organisation, field by field', async () => {
    const { policyShop } = await policy({ four_eyes: true, manager_limit: 100.5 })
    const path = `/v1/organizations/${policyShop.organization_id}`
    const changeReply = await patch(path, { refund_policy: { auto_approve_below: 10, manager_limit: null } })
    expect(changeReply.body.refund_policy).toEqual({ four_eyes: true, manager_limit: null, auto_approve_below: 10 })
    expect(describeRefusal(await patch(path, { refund_policy: { manager_limit: -1 } }))).toBe(
      '400 validation_error: min_value #/refund_policy/manager_limit',
    )
    const manager = await givenMember({ id: policyShop.organization_id }, 'manager')
    expect((await patch(path, { refund_policy: { four_eyes: false } }, manager.token)).status).toBe(403)
  })
})
