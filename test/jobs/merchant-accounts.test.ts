import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { findReadyAccount, findRefundAccount, findWebhookAccount } from '../../src/modules/merchant-accounts/index.ts'
import { resealMerchantAccounts } from '../../src/modules/merchant-accounts/jobs.ts'
import { patch } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { seedMerchantAccount, givenMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'

const apiKey = 'rk_test_51NordlysExample9876'
const webhookSecret = 'whsec_NordlysExample'

async function givenAccount(organisation: { id: string }, more: object = {}): Promise<string> {
  const secrets = { provider_account: 'acct_Own', api_key: apiKey, webhook_secret: webhookSecret }
  return (await givenMerchantAccount(organisation, { supported_currencies: ['dkk'], ...secrets, ...more })).id
}

function createJobWith(
  payments: Partial<JobCtx['config']['payments']> = {},
  environment: 'test' | 'production' = 'test',
) {
  const ctx = createContextAt(Date.now())
  return { ...ctx, config: { ...ctx.config, environment, payments: { ...ctx.config.payments, ...payments } } }
}

/** The columns of a payment that was stored with this account. */
const buildRoute = (
  organization: { id: string },
  merchant_account_id: string,
  provider_account: string | null = null,
) => ({
  organization_id: organization.id,
  merchant_account_id,
  provider_account,
})

describe('the merchant account of a payment', () => {
  it('is used with its decrypted key and secret', async () => {
    const organisation = await givenOrganization()
    const id = await givenAccount(organisation)
    const job = createJobWith()
    expect(await findReadyAccount(job, buildRoute(organisation, id))).toEqual({
      id,
      service: 'stripe',
      provider_account: 'acct_Own',
      organization_id: organisation.id,
      api_key: apiKey,
      webhook_secret: webhookSecret,
      settle_manually: false,
      is_active: true,
    })
    expect(job.db.meter.queries).toBe(1)
    expect(job.db.meter.rows_read).toBe(1)
  })

  it('uses the connected account of the payment, which only Stripe has', async () => {
    const organisation = await givenOrganization()
    const findAccount = async (id: string, connectedAccount: string | null) =>
      (await findReadyAccount(createJobWith(), buildRoute(organisation, id, connectedAccount)))?.provider_account
    const id = await givenAccount(organisation)
    expect(await findAccount(id, 'acct_Edition')).toBe('acct_Edition')
    expect(await findAccount(id, null)).toBe('acct_Own')
    expect(await findAccount(await seedMerchantAccount(organisation), 'acct_Edition')).toBeNull()
  })

  it('cannot be used without a key, by another organisation, and for new refunds while it is off', async () => {
    const [organisation, other] = [await givenOrganization(), await givenOrganization()]
    const access = (id: string) => findReadyAccount(createJobWith(), buildRoute(organisation, id))
    expect(await access(await givenAccount(organisation, { api_key: null }))).toBeNull()
    expect(await access(await givenAccount(other))).toBeNull()
    expect(await access(await seedMerchantAccount(organisation, { type: 'card' as 'manual' }))).toBeNull()
    expect(await access(await seedMerchantAccount(organisation))).toMatchObject({ service: 'manual', api_key: null })
    const off = await givenAccount(organisation, { is_active: false })
    expect(await access(off)).toBeNull()
    const started = await findRefundAccount(createJobWith(), buildRoute(organisation, off))
    expect(started).toMatchObject({ id: off, api_key: apiKey, is_active: false })
    expect(await findWebhookAccount(createJobWith(), off)).toMatchObject({ id: off, webhook_secret: webhookSecret })
    expect(await findWebhookAccount(createJobWith(), 'mac_none')).toBeNull()
    expect(
      await findWebhookAccount(createJobWith(), await givenAccount(organisation, { webhook_secret: null })),
    ).toBeNull()
  })

  it('cannot be used in production when it is a test account', async () => {
    const organisation = await givenOrganization()
    const paid = buildRoute(organisation, await seedMerchantAccount(organisation, { type: 'test' }))
    expect(await findReadyAccount(createJobWith(), paid)).toMatchObject({ service: 'test' })
    expect(await findReadyAccount(createJobWith({}, 'production'), paid)).toBeNull()
  })
})

describe('the secrets of merchant accounts', () => {
  const [standard = ''] = createContextAt(0).config.payments.secrets
  const loadSealed = (id: string) =>
    db.first(sql<{ sealed_api_key: string; sealed_webhook_secret: string; sealed_with: string; version: number }>`
      select sealed_api_key, sealed_webhook_secret, sealed_with, version from merchant_accounts where id = ${id}`)

  type Sealed = Awaited<ReturnType<typeof loadSealed>>

  it('can be decrypted only with the secret that encrypted them', async () => {
    const organisation = await givenOrganization()
    const id = await givenAccount(organisation)
    const access = (secrets: string[]) => findReadyAccount(createJobWith({ secrets }), buildRoute(organisation, id))
    expect(await access([standard])).toMatchObject({ api_key: apiKey })
    expect(await access(['another'])).toBeNull()
    expect(await access([])).toBeNull()
    expect(await access(['another', standard])).toMatchObject({ api_key: apiKey })
  })

  it.each([
    ['row', (_: Sealed, other: Sealed) => other?.sealed_api_key],
    ['column', (own: Sealed) => own?.sealed_webhook_secret],
  ])('cannot be decrypted in another %s', async (_, choose) => {
    const organisation = await givenOrganization()
    const [one, two] = [await givenAccount(organisation), await givenAccount(organisation)]
    const sealed = choose(await loadSealed(one), await loadSealed(two))
    await db.batch([sql`update merchant_accounts set sealed_api_key = ${sealed} where id = ${one}`])
    expect(await findReadyAccount(createJobWith({ secrets: [standard] }), buildRoute(organisation, one))).toBeNull()
  })

  it('are encrypted again after the Worker’s secret was replaced, and stay encrypted in between', async () => {
    const organisation = await givenOrganization()
    const ids = await Promise.all([givenAccount(organisation), givenAccount(organisation, { webhook_secret: null })])
    const before = await Promise.all(ids.map(loadSealed))
    expect(await resealMerchantAccounts(createJobWith())).toBe(0)
    const rotated = createJobWith({ secrets: ['the next one', standard] })
    const paid = buildRoute(organisation, ids[0])
    expect(await findReadyAccount(rotated, paid)).toMatchObject({ api_key: apiKey, webhook_secret: webhookSecret })
    while ((await resealMerchantAccounts(rotated)) > 0);
    const after = await Promise.all(ids.map(loadSealed))
    for (const [index, row] of after.entries()) {
      expect(row?.sealed_with).not.toBe(before[index]?.sealed_with)
      expect(row?.version).toBe(before[index]?.version)
    }
    expect(await findReadyAccount(createJobWith({ secrets: ['the next one'] }), paid)).toMatchObject({
      api_key: apiKey,
      webhook_secret: webhookSecret,
    })
    expect(await findReadyAccount(createJobWith(), paid)).toBeNull()
  })

  it('can be replaced when no known secret decrypts them', async () => {
    const organisation = await givenOrganization()
    const id = await givenAccount(organisation)
    await db.batch([sql`update merchant_accounts set sealed_api_key = 'lost.lost' where id = ${id}`])
    const paid = buildRoute(organisation, id)
    expect(await findReadyAccount(createJobWith(), paid)).toBeNull()
    expect((await patch(`/v1/merchant-accounts/${id}`, { api_key: apiKey })).status).toBe(200)
    expect(await findReadyAccount(createJobWith(), paid)).toMatchObject({
      api_key: apiKey,
      webhook_secret: webhookSecret,
    })
  })
})
