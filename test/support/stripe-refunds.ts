import { exports } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { merchantAccounts } from '../../src/db/schema/merchant-accounts.ts'
import { update } from '../../src/db/write.ts'
import { sealSecrets } from '../../src/modules/merchant-accounts/secrets.ts'
import { testConfig } from './context.ts'
import { type FakeEvent, type FakePayment, type FakeStripe, signPost } from './fake-stripe.ts'
import { randomBytes, write } from './seeding/rows.ts'
import { seedSale, type Sale } from './seeding/sales/trades.ts'

export const webhookSecret = 'whsec_of_the_tests'

export interface StripeSale extends Sale {
  payment: FakePayment
}

/** Seeds a ticket that was paid through Stripe, in its own organisation. */
export async function seedStripeSale(fake: FakeStripe): Promise<StripeSale> {
  const sale = await seedSale('stripe')
  const payment = fake.store.pay({ amount: sale.amount, currency: 'dkk' })
  const sealed = await sealSecrets({ config: testConfig, randomBytes }, sale.account, {
    api_key: 'rk_test_tests',
    webhook_secret: webhookSecret,
  })
  await write(
    update(merchantAccounts, sealed, sql`id = ${sale.account}`),
    sql`update transactions set provider_reference = ${payment.id}, service = 'stripe' where id = ${sale.transaction}`,
  )
  return { ...sale, payment }
}

/** Posts an event as Stripe does. */
export async function deliverEvent(
  account: string,
  event: Pick<FakeEvent, 'body'>,
  options: { secret?: string; at?: number; body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; text: string }> {
  const { headers, body } = await signPost(options.secret ?? webhookSecret, event, options.at)
  const response = await exports.default.fetch(
    new Request(`https://api.example/provider-events/stripe/${account}`, {
      method: 'POST',
      headers: options.headers ?? headers,
      body: options.body ?? body,
    }),
  )
  return { status: response.status, text: await response.text() }
}
