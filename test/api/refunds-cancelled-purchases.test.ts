import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { PaymentService } from '../../src/domain/refunds/merchant-accounts.ts'
import { readPassJson } from '../support/pass-packages.ts'
import { loadPurchase, scan } from '../support/purchases.ts'
import { createRefundEngine, createProvider, clearDueRefunds, loadSaleState } from '../support/refund-payments.ts'
import { actOnRefund, requestPurchaseRefund } from '../support/refunds.ts'
import { write } from '../support/seeding/rows.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { seedSale } from '../support/seeding/sales/trades.ts'
import { enableWallet, givenPassOf } from '../support/seeding/sales/wallet-passes.ts'
import { latest, loadPass } from '../support/wallet.ts'

/** Sells a paid ticket with a pass on a phone. */
async function seedPassOfSale(type: PaymentService = 'test') {
  const sale = await seedSale(type)
  await enableWallet(sale, sale.purchase)
  return { sale, pass: await givenPassOf(sale, 'apple') }
}

const isVoided = async (pass: Awaited<ReturnType<typeof givenPassOf>>) =>
  readPassJson(new Uint8Array(await (await latest(pass)).arrayBuffer()))['voided'] === true

describe('a purchase that a refund cancels', () => {
  it('becomes unusable, with a void pass, at the completion and not before', async () => {
    const { sale, pass } = await seedPassOfSale('manual')
    await write(sql`update merchant_accounts set settle_manually = 1 where id = ${sale.account}`)
    const { body } = await requestPurchaseRefund(sale.purchase, { cancel_purchase: true })
    expect((await actOnRefund(body.id, 'approve')).body.status).toBe('processing')
    expect([await isVoided(pass), (await loadPurchase(sale.purchase)).status]).toEqual([false, 'active'])
    const { change_number } = await loadPass(pass.id)
    expect((await actOnRefund(body.id, 'settle', { reference: 'Bank 1' })).status).toBe(200)
    expect(await isVoided(pass)).toBe(true)
    expect((await loadPass(pass.id)).change_number).toBe(change_number + 1)
    const use = await scan(sale.purchase)
    expect([use.status, use.body]).toMatchObject([409, { current_status: 'refunded' }])
    expect(await loadPurchase(sale.purchase)).toMatchObject({ uses_count: 0, status: 'refunded' })
  })

  it('becomes usable again, with a valid pass, when the refund fails late', async () => {
    await clearDueRefunds()
    const { sale, pass } = await seedPassOfSale()
    await seedDueRefund(sale, { cancel_purchase: true })
    const provider = createProvider()
    const engine = createRefundEngine(provider)
    await engine.run()
    expect(await isVoided(pass)).toBe(true)
    provider.decide(`re_1_pi_${sale.transaction}`, false)
    engine.advance(86_400_000)
    await engine.run()
    expect((await loadSaleState(sale)).purchase).toEqual(['active', 0, 0])
    expect(await isVoided(pass)).toBe(false)
    expect((await scan(sale.purchase)).status).toBe(201)
  })
})

describe('approveRefundRequest', () => {
  it.each([
    [{ amount: -1 }, 'amount_not_positive'],
    [{ amount: 1.005 }, 'max_decimal_places'],
    [{ amount: '1' }, 'invalid_type'],
    [{ amount: 1e300 }, 'max_value'],
    [{ note: 'x'.repeat(2001) }, 'max_length'],
    [{ reason: 'other' }, 'unknown_field'],
  ])('refuses an invalid field and changes nothing: %j', async (body, code) => {
    const sale = await seedSale()
    const refundReply = await requestPurchaseRefund(sale.purchase)
    const before = await loadSaleState(sale)
    const reply = await actOnRefund(refundReply.body.id, 'approve', body)
    expect([reply.status, reply.body.errors[0].code]).toEqual([400, code])
    expect(await loadSaleState(sale)).toEqual(before)
  })
})
