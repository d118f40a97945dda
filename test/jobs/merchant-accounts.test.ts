import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { findReadyAccount, findRefundAccount, findWebhookAccount } from '../../src/modules/merchant-accounts/index.ts'
import { resealMerchantAccounts } from '../../src/modules/merchant-accounts/jobs.ts'
import { patch } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { seedMerchantAccount, givenMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'

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

describe('the merchant account of a payment', () => {
  it('is used with its decrypted key and secret', async () => {
    const organisation = await givenOrganization()
    const id = await givenAccount(organisation)
    const edition = await seedEdition(organisation, { merchant_account_id: id })
    const job = createJobWith()
    expect(await findReadyAccount(job, { edition_id: edition.id, merchant_account_id: null })).toEqual({
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
    expect(job.db.meter.rows_read).toBe(2)
  })

  it('uses the connected account that the edition names', async () => {
    const organisation = await givenOrganization()
    const [ownAccount, earlier] = [await givenAccount(organisation), await givenAccount(organisation)]
    const findAccount = async (merchant_id: Record<string, unknown>, merchant_account_id: string | null) => {
      const edition = await seedEdition(organisation, { merchant_account_id: ownAccount, merchant_id })
      return (await findReadyAccount(createJobWith(), { edition_id: edition.id, merchant_account_id }))
        ?.provider_account
    }
    expect(await findAccount({ stripe: 'acct_Edition' }, null)).toBe('acct_Edition')
    expect(await findAccount({ stripe: 'acct_Edition' }, ownAccount)).toBe('acct_Edition')
    expect(await findAccount({ stripe: 'acct_Edition' }, earlier)).toBe('acct_Own')
    for (const other of [{}, { stripe: 7 }, { stripe: 'x\r\ny' }, { main: 'M-1' }, { __proto__: { stripe: 'acct_x' } }])
      expect(await findAccount(other, null)).toBe('acct_Own')
  })

  it('cannot be used without a key, by another organisation, and for new refunds while it is off', async () => {
    const [organisation, other] = [await givenOrganization(), await givenOrganization()]
    const access = async (merchant_account_id: string | null, takenAccount: string | null = null) => {
      const edition = await seedEdition(organisation, { merchant_account_id })
      return findReadyAccount(createJobWith(), { edition_id: edition.id, merchant_account_id: takenAccount })
    }
    expect(await access(null)).toBeNull()
    expect(await access(await givenAccount(organisation, { api_key: null }))).toBeNull()
    expect(await access(await givenAccount(other))).toBeNull()
    expect(await access(null, await givenAccount(other))).toBeNull()
    expect(await access(await seedMerchantAccount(organisation, { type: 'card' as 'manual' }))).toBeNull()
    expect(await access(await seedMerchantAccount(organisation))).toMatchObject({ service: 'manual', api_key: null })
    const off = await givenAccount(organisation, { is_active: false })
    expect(await access(off)).toBeNull()
    const edition = await seedEdition(organisation, { merchant_account_id: off })
    const started = await findRefundAccount(createJobWith(), { edition_id: edition.id, merchant_account_id: null })
    expect(started).toMatchObject({ id: off, api_key: apiKey, is_active: false })
    expect(await findWebhookAccount(createJobWith(), off)).toMatchObject({ id: off, webhook_secret: webhookSecret })
    expect(await findWebhookAccount(createJobWith(), 'mac_none')).toBeNull()
    expect(
      await findWebhookAccount(createJobWith(), await givenAccount(organisation, { webhook_secret: null })),
    ).toBeNull()
  })

  it('cannot be used in production when it is a test account', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation, {
      merchant_account_id: await seedMerchantAccount(organisation, { type: 'test' }),
    })
    const paid = { edition_id: edition.id, merchant_account_id: null }
    expect(await findReadyAccount(createJobWith(), paid)).toMatchObject({ service: 'test' })
    expect(await findReadyAccount(createJobWith({}, 'production'), paid)).toBeNull()
  })
})

describe('the secrets of merchant accounts', () => {
  const [standard = ''] = createContextAt(0).config.payments.secrets
  const loadSealed = (id: string) =>
    db.first(sql<{ sealed_api_key: string; sealed_webhook_secret: string; sealed_with: string; version: number }>`
      select sealed_api_key, sealed_webhook_secret, sealed_with, version from merchant_accounts where id = ${id}`)

  it('cannot be decrypted with another secret, in another row or in another column', async () => {
    const organisation = await givenOrganization()
    const [one, two] = [await givenAccount(organisation), await givenAccount(organisation)]
    const edition = await seedEdition(organisation, { merchant_account_id: one })
    const access = (secrets: string[]) =>
      findReadyAccount(createJobWith({ secrets }), { edition_id: edition.id, merchant_account_id: null })
    expect(await access([standard])).toMatchObject({ api_key: apiKey })
    expect(await access(['another'])).toBeNull()
    expect(await access([])).toBeNull()
    expect(await access(['another', standard])).toMatchObject({ api_key: apiKey })
    const other = await loadSealed(two)
    await db.batch([sql`update merchant_accounts set sealed_api_key = ${other?.sealed_api_key} where id = ${one}`])
    expect(await access([standard])).toBeNull()
    const sealedSecrets = await loadSealed(one)
    await db.batch([
      sql`update merchant_accounts set sealed_api_key = ${sealedSecrets?.sealed_webhook_secret} where id = ${one}`,
    ])
    expect(await access([standard])).toBeNull()
  })

  it('are encrypted again after the Worker’s secret was replaced, and stay encrypted in between', async () => {
    const organisation = await givenOrganization()
    const ids = await Promise.all([givenAccount(organisation), givenAccount(organisation, { webhook_secret: null })])
    const edition = await seedEdition(organisation, { merchant_account_id: ids[0] })
    const before = await Promise.all(ids.map(loadSealed))
    expect(await resealMerchantAccounts(createJobWith())).toBe(0)
    const rotated = createJobWith({ secrets: ['the next one', standard] })
    const paid = { edition_id: edition.id, merchant_account_id: null }
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
    const edition = await seedEdition(organisation, { merchant_account_id: id })
    await db.batch([sql`update merchant_accounts set sealed_api_key = 'lost.lost' where id = ${id}`])
    const paid = { edition_id: edition.id, merchant_account_id: null }
    expect(await findReadyAccount(createJobWith(), paid)).toBeNull()
    expect((await patch(`/v1/merchant-accounts/${id}`, { api_key: apiKey })).status).toBe(200)
    expect(await findReadyAccount(createJobWith(), paid)).toMatchObject({
      api_key: apiKey,
      webhook_secret: webhookSecret,
    })
  })
})
