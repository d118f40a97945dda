import { sql } from 'drizzle-orm'
import { editions } from '../../src/db/schema/editions.ts'
import { merchantAccounts } from '../../src/db/schema/merchant-accounts.ts'
import { update } from '../../src/db/write.ts'
import type { MemberRole } from '../../src/domain/accounts/access.ts'
import { sealSecrets } from '../../src/modules/merchant-accounts/secrets.ts'
import { createContextAt, testConfig } from './context.ts'
import type { FakePayment, FakeStripe } from './fake-stripe.ts'
import { createRefundEngine, loadRefundRow } from './refund-payments.ts'
import { actOnRefund, requestRefund } from './refunds.ts'
import { seedEdition } from './seeding/editions.ts'
import { givenMember } from './seeding/members.ts'
import { randomBytes, write } from './seeding/rows.ts'
import { seedMerchantAccount } from './seeding/sales/merchant-accounts.ts'
import { type BoughtOrder, givenOrder, seedShop, type Shop } from './seeding/sales/orders.ts'
import { webhookSecret } from './stripe-refunds.ts'

/** Seeds a Stripe account with secrets and sets it on the edition. */
export async function seedStripeAccount({ organization_id, edition_id }: Shop): Promise<string> {
  const columns = { type: 'stripe', supported_currencies: ['dkk'] } as const
  const id = await seedMerchantAccount({ id: organization_id }, columns, edition_id)
  const secrets = { api_key: 'rk_test_tests', webhook_secret: webhookSecret }
  const sealed = await sealSecrets({ config: testConfig, randomBytes }, id, secrets)
  await write(update(merchantAccounts, sealed, sql`id = ${id}`))
  return id
}

export interface StripeShop extends Shop {
  account: string
}

export async function seedStripeShop(): Promise<StripeShop> {
  const shop = await seedShop()
  return { ...shop, account: await seedStripeAccount(shop) }
}

/** Seeds another edition of the organisation with the same account. */
export async function seedSibling({ organization_id, account }: StripeShop): Promise<StripeShop> {
  const edition = await seedEdition({ id: organization_id })
  await write(update(editions, { merchant_account_id: account }, sql`id = ${edition.id}`))
  return { organization_id, edition_id: edition.id, account }
}

export const payWith = (fake: FakeStripe, amount: number): FakePayment => fake.store.pay({ amount, currency: 'dkk' })

/** Imports an order of one ticket that was paid with this reference. The amount is in major units. */
export const importPaidOrder = (
  shop: Shop,
  reference: string,
  amount = 100,
  change: Record<string, unknown> = {},
): Promise<BoughtOrder> =>
  givenOrder(shop, {
    items: [{ product: 'Day ticket', quantity: 1, unit_price: amount }],
    payment: { service: 'stripe', reference },
    ...change,
  })

/** Imports an order of 100.00 again with another reference. */
export const changeReference = ({ again }: BoughtOrder, reference: string) =>
  again({
    items: [{ product: 'Day ticket', quantity: 1, unit_price: 100 }],
    payment: { service: 'stripe', reference },
  })

export const payDue = (): Promise<void> => createRefundEngine({ payments: createContextAt(Date.now()).payments }).run()

/** Creates a member of the edition, with a token. */
export const givenEditionMember = (shop: Shop, role: MemberRole = 'manager') =>
  givenMember({ id: shop.organization_id }, role, shop.edition_id)

/** Requests, approves and pays the refund of an order, as the superuser unless a token is named. */
export async function refundOrder(order: string, body: Record<string, unknown> = {}, token?: string) {
  const requested = await requestRefund({ order_id: order, ...body }, token)
  const approved = await actOnRefund(requested.body.id, 'approve', {}, token)
  await payDue()
  return { requested, approved, row: await loadRefundRow(requested.body.id) }
}
