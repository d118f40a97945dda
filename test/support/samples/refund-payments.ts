import { seedDueRefund } from '../seeding/sales/refunds.ts'
import { seedTrade } from '../seeding/sales/trades.ts'
import { buildPathId, type SampleOf } from './sample.ts'

/** Makes a refund that waits for a payment by hand. */
async function givenUnsettled(organization: { id: string }, edition: { id: string }): Promise<string> {
  const place = { organization: organization.id, edition: edition.id }
  const sale = { ...place, ...(await seedTrade(place)), account: '', amount: 100 }
  return seedDueRefund(sale, { status: 'processing', service: 'manual', merchant_account_id: null, due_at: null })
}

export const refundPaymentSamples: Record<string, SampleOf> = {
  settleRefundRequest: {
    make: async ({ a, b }) => ({
      path: { id: await givenUnsettled(a, a.editions[0]) },
      body: { reference: 'Transfer 2026-0815' },
      references: [buildPathId('id', await givenUnsettled(b, b.editions[0]), await givenUnsettled(a, a.editions[1]))],
    }),
  },
}
