import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { post } from '../support/api.ts'
import { listAnnouncedActions, loadRefundEmails, loadRefundRow, loadSaleState } from '../support/refund-payments.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { unknownId, write } from '../support/seeding/rows.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { seedSale, seedSaleIn } from '../support/seeding/sales/trades.ts'

const waiting = { status: 'processing', service: 'manual', due_at: null, attempts: 1, cancel_purchase: true } as const

const settle = (id: string, reference: unknown = 'Transfer 17', token?: string) =>
  post(`/v1/refund-requests/${id}/settle`, { reference }, token)

async function seedManualRefund(columns: Parameters<typeof seedDueRefund>[1] = {}) {
  const sale = await seedSale('manual')
  return { sale, refund: await seedDueRefund(sale, { ...waiting, ...columns }) }
}

describe('settleRefundRequest', () => {
  it('completes a refund that was paid by hand, with its reference, event and mail', async () => {
    const { sale, refund } = await seedManualRefund()
    const { status, body } = await settle(refund)
    expect([status, body]).toMatchObject([
      200,
      { id: refund, status: 'completed', refunded_amount: 100, currency: 'dkk', provider_reference: 'Transfer 17' },
    ])
    expect(await loadRefundRow(refund)).toMatchObject({ status: 'completed', provider_reference: 'Transfer 17' })
    expect(await loadSaleState(sale)).toEqual({
      purchase: ['refunded', 10_000, 0],
      payment: ['refunded', 10_000, 0],
      refunds: [['captured', 10_000]],
    })
    expect(await listAnnouncedActions(sale)).toEqual(['refunded:completed:refunded:100'])
    expect(await loadRefundEmails(refund)).toHaveLength(1)
  })

  it('accepts one reference for several refunds of the same account', async () => {
    const { sale, refund } = await seedManualRefund()
    const other = await seedDueRefund(await seedSaleIn(sale), waiting)
    expect([(await settle(refund)).status, (await settle(other)).status]).toEqual([200, 200])
  })

  it('completes the refund once when several requests come at the same time', async () => {
    const { sale, refund } = await seedManualRefund()
    const replies = await Promise.all(Array.from({ length: 6 }, (_, n) => settle(refund, `Transfer ${n}`)))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409])
    expect((await loadSaleState(sale)).payment).toEqual(['refunded', 10_000, 0])
    expect(await listAnnouncedActions(sale)).toHaveLength(1)
  })

  it.each([
    [{ status: 'pending', approved_minor: null }],
    [{ status: 'approved' }],
    [{ status: 'completed' }],
    [{ status: 'failed' }],
    [{ status: 'rejected' }],
    [{ status: 'cancelled' }],
    [{ service: 'stripe' }],
  ] as const)('is refused for a refund that does not wait for a settlement: %j', async (columns) => {
    const { refund } = await seedManualRefund(columns)
    const before = await loadRefundRow(refund)
    const { status, body } = await settle(refund)
    expect(describeRefusal({ status, body })).toBe('409 invalid_transition')
    expect(body.current_status).toBe(before.status)
    expect(await loadRefundRow(refund)).toEqual(before)
  })

  it('requires a reference', async () => {
    const { refund } = await seedManualRefund()
    for (const reference of ['', '   ', null, 17, 'x'.repeat(201)]) {
      const { status, body } = await settle(refund, reference)
      expect([status, body.errors[0].attr]).toEqual([400, 'reference'])
    }
    expect((await loadRefundRow(refund)).status).toBe('processing')
  })

  it('answers managers of the edition or organisation, viewers with 403 and others with 404', async () => {
    const { sale, refund } = await seedManualRefund()
    const { sale: elsewhere } = await seedManualRefund()
    const seedTokenFor = async (place: { organization: string; edition?: string }, role: 'manager' | 'viewer') => {
      const account = await seedAccount()
      await seedMember(account, { ...place, role })
      return (await seedToken(account)).token
    }
    const stranger = await seedTokenFor({ organization: elsewhere.organization }, 'manager')
    const viewer = await seedTokenFor({ organization: sale.organization }, 'viewer')
    const manager = await seedTokenFor({ organization: sale.organization, edition: sale.edition }, 'manager')
    expect((await settle(refund, 'a', stranger)).status).toBe(404)
    expect((await settle(refund, 'a', viewer)).status).toBe(403)
    expect((await settle(unknownId(refund), 'a')).status).toBe(404)
    expect((await settle(refund, 'a', manager)).status).toBe(200)
  })

  it('works for an archived edition, because the money was paid', async () => {
    const { sale, refund } = await seedManualRefund()
    await write(sql`update editions set is_archived = 1 where id = ${sale.edition}`)
    expect((await settle(refund)).status).toBe(200)
  })
})
