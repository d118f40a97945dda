import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LostRace } from '../../src/domain/errors.ts'
import { deleteMerchantAccount } from '../../src/modules/merchant-accounts/delete.ts'
import { findMerchantAccount } from '../../src/modules/merchant-accounts/queries.ts'
import { call, callWith, get, patch, post, publicUrl, remove } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { createContextAt, interruptBefore } from '../support/context.ts'
import { codes, buildRefusal } from '../support/editions.ts'
import { actOnRefund, oneTicket, requestPurchaseRefund } from '../support/refunds.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember, givenAdmin } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import {
  dropMerchantAccounts,
  seedMerchantAccounts,
  givenMerchantAccount,
  aMerchantAccount,
} from '../support/seeding/sales/merchant-accounts.ts'
import { anOrder, givenOrders, seedShop, givenOrder, seedShopWithAccount } from '../support/seeding/sales/orders.ts'

afterEach(() => vi.restoreAllMocks())

const path = '/v1/merchant-accounts'
const apiKey = 'rk_test_51NeverShownAnywhere9876'
const webhookSecret = 'whsec_NeverShownAnywhereEither'

const loadAccount = (id: string) =>
  db.first(sql<Record<string, unknown>>`select * from merchant_accounts where id = ${id}`)

describe('createMerchantAccount', () => {
  it('returns the account, and shows only whether it has secrets', async () => {
    const admin = await givenAdmin()
    const body = await givenMerchantAccount(
      admin,
      {
        description: 'Shop',
        provider_account: 'acct_1Nordlys',
        api_key: apiKey,
        webhook_secret: webhookSecret,
      },
      admin.token,
    )
    expect(body).toMatchObject({
      organization_id: admin.id,
      name: 'Nordlys Stripe',
      description: 'Shop',
      type: 'stripe',
      supported_currencies: ['dkk', 'eur'],
      provider_account: 'acct_1Nordlys',
      has_api_key: true,
      api_key_last4: '9876',
      api_key_modified: body.created,
      has_webhook_secret: true,
      webhook_url: `${publicUrl}/provider-events/stripe/${body.id}`,
      settle_manually: false,
      is_active: true,
    })
    expect((await get(`${path}/${body.id}`, admin.token)).body).toEqual(body)
    expect((await get(`${path}?organization_id=${admin.id}`, admin.token)).body.results).toEqual([body])
  })

  it('keeps its secrets out of every answer, table and log', async () => {
    const logged = ['log', 'error', 'warn', 'info', 'debug'].map((name) => vi.spyOn(console, name as 'log'))
    const admin = await givenAdmin()
    const secrets = { api_key: apiKey, webhook_secret: webhookSecret }
    const body = aMerchantAccount(admin, secrets)
    const keyed = { method: 'POST', body, token: admin.token, headers: { 'idempotency-key': crypto.randomUUID() } }
    const first = await call(path, keyed)
    const others = [
      first,
      await call(path, keyed),
      await patch(`${path}/${first.body.id}`, { ...secrets, name: 'Other' }, admin.token),
      await patch(`${path}/${first.body.id}`, { api_key: `${apiKey} !`, webhook_secret: 'x' }, admin.token),
      await post(path, { ...body, api_key: `pk_live_${apiKey}` }, admin.token),
      await get(`${path}/${first.body.id}`, admin.token),
      await get(`/v1/audit-log?organization_id=${admin.id}`, admin.token),
      await get('/v1/editions/_meta', admin.token),
      await remove(`${path}/${first.body.id}`, admin.token),
    ]
    expect(others.map(({ status }) => status)).toEqual([201, 201, 200, 400, 400, 200, 200, 200, 204])
    const hidden = /NeverShown/
    for (const { text } of others) expect(text).not.toMatch(hidden)
    for (const log of logged) expect(JSON.stringify(log.mock.calls)).not.toMatch(hidden)
    const tables = await env.DB.prepare(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like '_cf_%'
        and sql not like 'create virtual %'`,
    ).all<{ name: string }>()
    for (const { name } of tables.results) {
      const { results } = await env.DB.prepare(`select * from "${name}"`).all()
      expect(JSON.stringify(results), name).not.toMatch(hidden)
    }
  })

  it.each([
    [{ type: 'card' }, '#/type invalid_choice'],
    [{ supported_currencies: [] }, '#/supported_currencies min_items'],
    [{ supported_currencies: ['dkk', 'dkk'] }, '#/supported_currencies repeated'],
    [{ supported_currencies: ['xyz'] }, '#/supported_currencies/0 invalid_choice'],
    [{ provider_account: 'Nordlys' }, '#/provider_account invalid'],
    [{ api_key: 'pk_live_1234567890' }, '#/api_key invalid'],
    [{ api_key: 'rk_live_12345678\r\nx: y' }, '#/api_key invalid'],
    [{ webhook_secret: 'secret' }, '#/webhook_secret invalid'],
    [{ type: 'manual', api_key: apiKey }, '#/api_key type_mismatch'],
    [{ type: 'test', provider_account: 'acct_1' }, '#/provider_account type_mismatch'],
    [{ settle_manually: true }, '#/settle_manually type_mismatch'],
    [{ has_api_key_: true }, '#/has_api_key_ unknown_field'],
  ])('refuses an invalid field: %o', async (more, error) => {
    const admin = await givenAdmin()
    expect(codes(await post(path, aMerchantAccount(admin, more), admin.token))).toEqual(buildRefusal(error))
    expect((await get(path, admin.token)).body.count).toBe(0)
  })

  it('refuses an account for another organisation', async () => {
    const [admin, other] = [await givenAdmin(), await givenAdmin()]
    expect((await post(path, aMerchantAccount(other), admin.token)).status).toBe(400)
    expect((await get(path, other.token)).body.count).toBe(0)
  })

  it('refuses test accounts in production, and keys that it cannot encrypt', async () => {
    const admin = await givenAdmin()
    const inProduction = (body: object, secret = '') =>
      callWith({ ENVIRONMENT: 'production', MERCHANT_KEY_SECRET: secret }, path, { body, token: admin.token })
    expect(codes(await inProduction(aMerchantAccount(admin, { type: 'test' })))).toEqual(
      buildRefusal('#/type not_in_production'),
    )
    const unsealed = await inProduction(aMerchantAccount(admin, { api_key: apiKey }))
    expect(describeRefusal(unsealed)).toBe('503 sealing_unavailable')
    expect((await get(path, admin.token)).body.count).toBe(0)
    expect((await inProduction(aMerchantAccount(admin, { api_key: apiKey }), 'a secret')).status).toBe(201)
    expect((await inProduction(aMerchantAccount(admin))).status).toBe(201)
  })

  it('allows at most a hundred accounts for an organisation', async () => {
    const admin = await givenAdmin()
    await seedMerchantAccounts(admin.id, 99)
    await givenMerchantAccount(admin, {}, admin.token)
    const reply = await post(path, aMerchantAccount(admin), admin.token)
    expect(describeRefusal(reply)).toBe('409 too_many_merchant_accounts')
    await dropMerchantAccounts(admin.id)
    await givenMerchantAccount(admin, {}, admin.token)
  })
})

describe('listMerchantAccounts', () => {
  it('lists the accounts of your organisation with the last characters of their keys', async () => {
    const [admin, other] = [await givenAdmin(), await givenAdmin()]
    const { id } = await givenMerchantAccount(admin, { api_key: apiKey }, admin.token)
    await givenMerchantAccount(other, {}, other.token)
    const reply = await get(path, admin.token)
    expect(reply.body.results).toMatchObject([{ id, has_api_key: true, api_key_last4: '9876' }])
    expect(reply.text).not.toContain(apiKey)
  })
})

describe('getMerchantAccount', () => {
  it('returns an account as it was created, to its own organisation only', async () => {
    const [admin, other] = [await givenAdmin(), await givenAdmin()]
    const account = await givenMerchantAccount(admin, { api_key: apiKey }, admin.token)
    expect((await get(`${path}/${account.id}`, admin.token)).body).toEqual(account)
    expect((await get(`${path}/${account.id}`, other.token)).status).toBe(404)
  })
})

describe('updateMerchantAccount', () => {
  it('replaces and removes single secrets', async () => {
    const admin = await givenAdmin()
    const { id } = await givenMerchantAccount(admin, { api_key: apiKey, webhook_secret: webhookSecret }, admin.token)
    const before = await loadAccount(id)
    const change = (body: object) => patch(`${path}/${id}`, body, admin.token)
    expect((await change({ name: 'Other' })).body).toMatchObject({ name: 'Other', api_key_last4: '9876' })
    expect(await loadAccount(id)).toMatchObject({ sealed_api_key: before?.['sealed_api_key'] })
    const replaced = await change({ api_key: 'rk_live_AnotherKeyNeverShown5432' })
    expect(replaced.body).toMatchObject({ api_key_last4: '5432', has_webhook_secret: true })
    expect(await listEntries(replaced)).toHaveLength(1)
    expect((await change({ api_key: null })).body).toMatchObject({
      has_api_key: false,
      api_key_last4: null,
      api_key_modified: null,
      has_webhook_secret: true,
    })
    expect((await change({ webhook_secret: null })).body).toMatchObject({ has_webhook_secret: false })
    expect(await loadAccount(id)).toMatchObject({
      sealed_api_key: null,
      sealed_webhook_secret: null,
      sealed_with: null,
    })
  })

  it('writes no row and no audit entry when an update changes nothing', async () => {
    const admin = await givenAdmin()
    const { id } = await givenMerchantAccount(admin, { api_key: apiKey }, admin.token)
    const before = await loadAccount(id)
    const reply = await patch(`${path}/${id}`, { api_key: apiKey, supported_currencies: ['dkk', 'eur'] }, admin.token)
    expect(reply.status).toBe(200)
    expect(await loadAccount(id)).toEqual(before)
    expect(await listEntries(reply)).toEqual([])
  })

  it('is allowed to admins of the organisation only', async () => {
    const [admin, other] = [await givenAdmin(), await givenAdmin()]
    const { id } = await givenMerchantAccount(admin, {}, admin.token)
    const manager = await givenMember(admin, 'manager')
    const editor = await givenMember(admin, 'admin', (await seedEdition(admin)).id)
    const statuses = await Promise.all(
      [manager, editor, other].map(async ({ token }) => (await patch(`${path}/${id}`, { name: 'x' }, token)).status),
    )
    expect(statuses).toEqual([403, 403, 404])
    expect((await get(`${path}/${id}`, manager.token)).status).toBe(200)
  })
})

describe('deleteMerchantAccount', () => {
  it('deletes an unused account, and refuses one that editions use with their names', async () => {
    const admin = await givenAdmin()
    const { id } = await givenMerchantAccount(admin, {}, admin.token)
    const edition = await seedEdition(admin, { merchant_account_id: id })
    const refusal = await remove(`${path}/${id}`, admin.token)
    expect(describeRefusal(refusal)).toBe('409 merchant_account_in_use')
    expect(refusal.body.related_objects).toEqual([{ type: 'edition', id: edition.id, name: edition.full_name }])
    await patch(`/v1/editions/${edition.id}`, { merchant_account_id: null }, admin.token)
    expect((await remove(`${path}/${id}`, admin.token)).status).toBe(204)
    expect((await get(`${path}/${id}`, admin.token)).status).toBe(404)
  })
})

describe('deleteMerchantAccount of an account with payments', () => {
  it('names the order of the payment when it is refused', async () => {
    const shop = await seedShop()
    const { body } = await post(path, aMerchantAccount({ id: shop.organization_id }))
    const [order = ''] = await givenOrders(shop, [anOrder()])
    await db.batch([sql`update transactions set merchant_account_id = ${body.id} where order_id = ${order}`])
    const refusal = await remove(`${path}/${body.id}`)
    expect(describeRefusal(refusal)).toBe('409 merchant_account_in_use')
    expect(refusal.body.related_objects).toMatchObject([{ type: 'order', id: order, name: expect.any(String) }])
    expect(await loadAccount(body.id)).toBeDefined()
  })

  it('is refused when an edition chooses the account at the same time', async () => {
    const admin = await givenAdmin()
    const { id } = await givenMerchantAccount(admin, {}, admin.token)
    const edition = await seedEdition(admin)
    const row = await findMerchantAccount(createContextAt(Date.now()), id)
    const choose = () => db.batch([sql`update editions set merchant_account_id = ${id} where id = ${edition.id}`])
    await expect(deleteMerchantAccount(interruptBefore(choose), row)).rejects.toThrow(LostRace)
    expect(await loadAccount(id)).toBeDefined()
  })
})

describe('the health of an edition', () => {
  it('warns that refunds wait for the key of the merchant account', async () => {
    const admin = await givenAdmin()
    const { id } = await givenMerchantAccount(admin, {}, admin.token)
    const edition = await seedEdition(admin, { merchant_account_id: id })
    const isReady = async () => {
      const { body } = await get(`/v1/editions/${edition.id}/healthcheck`, admin.token)
      const checks = body.checks as { check_id: string; passed: boolean }[]
      return checks.find(({ check_id }) => check_id === 'payments.merchant_ready')?.passed
    }
    expect(await isReady()).toBe(false)
    await patch(`${path}/${id}`, { api_key: apiKey }, admin.token)
    expect(await isReady()).toBe(true)
    await patch(`${path}/${id}`, { is_active: false }, admin.token)
    expect(await isReady()).toBe(false)
  })
})

describe('a refund at a payment service that the API does not call', () => {
  it('completes once a person confirms that it was paid', async () => {
    const shop = await seedShopWithAccount('QuickPay' as 'manual')
    await db.all(sql`update merchant_accounts set type = 'manual', settle_manually = 1 where type = 'QuickPay'`)
    const { purchases } = await givenOrder(shop, oneTicket)
    const { body } = await requestPurchaseRefund(purchases[0] ?? '')
    expect((await actOnRefund(body.id, 'approve')).body.status).toBe('processing')
    expect((await actOnRefund(body.id, 'settle', { reference: 'QuickPay 7' })).status).toBe(200)
  })
})
