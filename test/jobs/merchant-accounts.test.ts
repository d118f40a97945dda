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

  it.each([
    ['is the connected account of the payment', 'acct_Edition', 'acct_Edition'],
    ['is its own where the payment has none', null, 'acct_Own'],
  ])('%s', async (_, connectedAccount, expected) => {
    const organisation = await givenOrganization()
    const route = buildRoute(organisation, await givenAccount(organisation), connectedAccount)
    expect((await findReadyAccount(createJobWith(), route))?.provider_account).toBe(expected)
  })

  it('has connected accounts with Stripe alone', async () => {
    const organisation = await givenOrganization()
    const route = buildRoute(organisation, await seedMerchantAccount(organisation), 'acct_Edition')
    expect(await findReadyAccount(createJobWith(), route)).toMatchObject({ service: 'manual', provider_account: null })
  })

  it('needs no key where refunds are paid by hand', async () => {
    const organisation = await givenOrganization()
    const route = buildRoute(organisation, await seedMerchantAccount(organisation))
    expect(await findReadyAccount(createJobWith(), route)).toMatchObject({ service: 'manual', api_key: null })
  })

  it.each<[string, (organisation: { id: string }) => Promise<string>]>([
    ['without a key', (organisation) => givenAccount(organisation, { api_key: null })],
    ['by another organisation', async () => givenAccount(await givenOrganization())],
    ['of an unknown service', (organisation) => seedMerchantAccount(organisation, { type: 'card' as 'manual' })],
    ['for new refunds while it is off', (organisation) => givenAccount(organisation, { is_active: false })],
  ])('cannot be used %s', async (_, make) => {
    const organisation = await givenOrganization()
    expect(await findReadyAccount(createJobWith(), buildRoute(organisation, await make(organisation)))).toBeNull()
  })

  it('still serves refunds that have begun, and events of its provider, while it is off', async () => {
    const organisation = await givenOrganization()
    const id = await givenAccount(organisation, { is_active: false })
    const started = await findRefundAccount(createJobWith(), buildRoute(organisation, id))
    expect(started).toMatchObject({ id, api_key: apiKey, is_active: false })
    expect(await findWebhookAccount(createJobWith(), id)).toMatchObject({ id, webhook_secret: webhookSecret })
  })

  it('receives no events without a secret', async () => {
    const id = await givenAccount(await givenOrganization(), { webhook_secret: null })
    expect(await findWebhookAccount(createJobWith(), id)).toBeNull()
  })

  it('receives no events under an unknown id', async () => {
    expect(await findWebhookAccount(createJobWith(), 'mac_none')).toBeNull()
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

  it.each([
    ['the secret that encrypted them', [standard], apiKey],
    ['that secret after a newer one', ['another', standard], apiKey],
    ['another secret', ['another'], null],
    ['no secret', [], null],
  ])('are decrypted only with the secret that encrypted them: %s', async (_, secrets, expected) => {
    const organisation = await givenOrganization()
    const id = await givenAccount(organisation)
    const account = await findReadyAccount(createJobWith({ secrets }), buildRoute(organisation, id))
    expect(account === null ? null : account.api_key).toBe(expected)
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
