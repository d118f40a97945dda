import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openJob } from '../../src/entry/job.ts'
import { createStartReport } from '../../src/entry/start.ts'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { CampaignSenderObject } from '../../src/objects/campaign/campaign-sender.ts'
import { callWith, get } from '../support/api.ts'
import { getCampaignObject, listCaptured, loadCampaign } from '../support/campaigns.ts'
import { pageOf } from '../support/consent-pages.ts'
import { deliver, listMails, readStatus } from '../support/double-opt-in.ts'
import { createProvider, listReceipts, sell } from '../support/receipts.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedScene } from '../support/seeding/customers.ts'
import { seedCampaignInStatus, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { db, write } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'
import { visit } from '../support/visits.ts'

const production = { ENVIRONMENT: 'production' }
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()
const openProductionJob = (now = Date.now()) => ({ ...openJob({ ...env, ...production }), now: () => now })

beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => {}))
afterEach(() => void vi.restoreAllMocks())

describe('a campaign in production without a provider', () => {
  it.each([
    ['email', 'send-now'],
    ['email', 'schedule'],
    ['sms', 'send-now'],
    ['sms', 'schedule'],
  ] as const)('of channel %s is refused by %s and stays as it was', async (channel, verb) => {
    const { campaign } = await seedReady(await seedCrowd(1), { channel, scheduled_at: null })
    const before = await loadCampaign(campaign.id)
    for (const provider of ['', 'capture']) {
      const bindings = { ...production, EMAIL_PROVIDER: provider, SMS_PROVIDER: provider }
      const body = verb === 'schedule' ? { scheduled_at: tomorrow() } : {}
      const reply = await callWith(bindings, `/v1/campaigns/${campaign.id}/${verb}`, { body })
      expect(describeRefusal(reply)).toBe('409 campaign_not_ready: provider_not_configured #/channel')
    }
    expect(await loadCampaign(campaign.id)).toEqual(before)
  })

  it('is not retried', async () => {
    const id = await seedCampaignInStatus(await seedCrowd(1), 'sent')
    const reply = await callWith(production, `/v1/campaigns/${id}/retry-failed`, { body: {} })
    expect(reply.body).toMatchObject({
      code: 'campaign_not_ready',
      errors: [{ pointer: '#/channel', code: 'provider_not_configured' }],
    })
  })

  it('fails at its start when it was scheduled before, and nobody gets anything', async () => {
    const { campaign } = await seedReady(await seedCrowd(2), { status: 'scheduled', scheduled_at: Date.now() - 1000 })
    await runInDurableObject(getCampaignObject(campaign.id), async (_, state) => {
      const sender = new CampaignSenderObject(state, env, openJob({ ...env, ...production }))
      await sender.wake(campaign.id)
      for (let turn = 0; turn < 3; turn++) await sender.alarm()
    })
    expect(await loadCampaign(campaign.id)).toMatchObject({
      status: 'failed',
      sent_count: 0,
      error_message: expect.stringMatching(/^provider_not_configured: .*EMAIL_PROVIDER/),
    })
    expect(await listCaptured(campaign.id)).toEqual([])
  })
})

describe('a receipt in production without a provider', () => {
  const wait = { error_code: 'provider_not_configured', error_detail: expect.stringContaining('EMAIL_PROVIDER') }

  async function givenWaiting() {
    const shop = await seedShopWithReceipts()
    await sell(shop, [aReceiptOrder()])
    await sendEmails(openProductionJob())
    return { shop }
  }
  it('waits with the reason, which its order shows', async () => {
    const { shop } = await givenWaiting()
    const [receipt] = await listReceipts(shop)
    expect(receipt).toMatchObject({ status: 'pending', sent_at: null, attempts: 0, provider: null, ...wait })
    const { emails } = (await get(`/v1/orders/${receipt?.order_id}`)).body
    expect(emails).toMatchObject([
      {
        kind: 'receipt',
        status: 'pending',
        error_code: 'provider_not_configured',
        waiting_reason: expect.stringContaining('EMAIL_PROVIDER'),
        sent_at: null,
      },
    ])
    expect(Date.parse(emails[0].next_attempt_at)).toBeGreaterThan(Date.now())
    expect(
      await db.all(sql`select 1 from captured_messages where recipient in
      (select recipient from transactional_emails)`),
    ).toEqual([])
  })

  it('fails after a week', async () => {
    const { shop } = await givenWaiting()
    await write(sql`update transactional_emails set created_at = created_at - 7 * 86400000
      where organization_id = ${shop.organization_id}`)
    await sendEmails(openProductionJob(Date.now() + 700_000))
    expect(await listReceipts(shop)).toMatchObject([{ status: 'failed', due_at: null, ...wait }])
    const provider = createProvider({ deduplicates: true })
    await sendEmails({ ...openProductionJob(Date.now() + 1_400_000), email: provider.gateway })
    expect(await listReceipts(shop)).toMatchObject([{ status: 'failed' }])
  })

  it('is sent once a provider is configured', async () => {
    const { shop } = await givenWaiting()
    await sendEmails(openProductionJob(Date.now() + 700_000))
    expect(await listReceipts(shop)).toMatchObject([{ status: 'pending', ...wait }])
    const provider = createProvider({ deduplicates: true })
    await sendEmails({ ...openProductionJob(Date.now() + 1_400_000), email: provider.gateway })
    const [receipt, ...others] = await listReceipts(shop)
    expect([receipt, others]).toMatchObject([{ status: 'sent', error_code: null }, []])
    expect(provider.calls.filter(({ email }) => email.to.address === receipt?.recipient)).toHaveLength(1)
  })
})

const request = { language: 'en', method: 'double_opt_in', source: 'checkout' }

describe('a confirmation in production without a provider', () => {
  const wait = {
    status: 'pending',
    error_code: 'provider_not_configured',
    waiting_reason: expect.stringContaining('EMAIL_PROVIDER'),
    waiting_since: expect.any(String),
    next_attempt_at: expect.any(String),
    sent_at: null,
  }

  async function givenUnsent() {
    const scene = await seedScene()
    const { id } = await givenConsent(scene.organization)
    const path = `/v1/user/${scene.person.id}/consents/${id}/give`
    const give = (headers: Record<string, string> = { 'idempotency-key': `confirm-${scene.person.id}` }) =>
      callWith(production, path, { body: request, headers })
    return { scene, id, give, reply: await give() }
  }

  it('is shown as not sent in the answer, in the list of consents and on the page of the person', async () => {
    const { scene, id, reply } = await givenUnsent()
    expect(reply.body).toMatchObject({ status: 'pending', confirmation_email: wait })
    expect(await readStatus(scene, id)).toEqual(reply.body)
    expect((await visit(await pageOf(scene, scene.person))).text).toContain(
      'The e-mail with the link has not been sent yet.',
    )
  })

  it('is shown alike when the request is repeated, with its key or without one', async () => {
    const { give, reply } = await givenUnsent()
    expect((await give()).body).toEqual(reply.body)
    expect((await give({})).body).toEqual(reply.body)
  })

  it('waits since its first attempt, and goes out once there is a provider', async () => {
    const { scene, id, reply } = await givenUnsent()
    await sendEmails(openProductionJob(Date.now() + 1000))
    const { confirmation_email } = await readStatus(scene, id)
    expect(confirmation_email).toMatchObject({ ...wait, waiting_since: reply.body.confirmation_email.waiting_since })
    expect(Date.parse(confirmation_email.next_attempt_at)).toBeGreaterThan(Date.now() + 60_000)

    await deliver(scene, [], Date.now() + 700_000)
    expect((await readStatus(scene, id)).confirmation_email).toMatchObject({
      status: 'sent',
      error_code: null,
      waiting_reason: null,
      waiting_since: null,
      next_attempt_at: null,
      sent_at: expect.any(String),
    })
    expect((await visit(await pageOf(scene, scene.person))).text).not.toContain('has not been sent yet')
  })

  it('that asks an unsubscribed address to come back is shown too, and only where one is written', async () => {
    const scene = await seedScene()
    const first = await givenConsent(scene.organization)
    const second = await givenConsent(scene.organization)
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${scene.organization}, 'email', ${scene.person.email}, 'unsubscribed', 1)`)
    const give = (consent: string) =>
      callWith(production, `/v1/user/${scene.person.id}/consents/${consent}/give`, {
        body: { ...request, method: 'checkbox' },
      })
    const reply = await give(first.id)
    expect(reply.body).toMatchObject({ status: 'given', blocked_by: 'unsubscribed', confirmation_email: wait })
    expect((await give(second.id)).body).toMatchObject({ status: 'given', confirmation_email: null })
    expect((await readStatus(scene, first.id)).confirmation_email).toEqual(reply.body.confirmation_email)
    expect((await readStatus(scene, second.id)).confirmation_email).toBeNull()
    expect(await listMails(scene)).toHaveLength(1)
  })
})

describe('a receipt of an order', () => {
  it('waits from the start, before anything tried to send it', async () => {
    const shop = await seedShopWithReceipts()
    const orders = [aReceiptOrder()]
    const body = { organization_id: shop.organization_id, edition_id: shop.edition_id, source: 'shop', orders }
    const reply = await callWith(production, '/v1/data-imports/external-orders', {
      body: { ...body, send_receipts: true },
    })
    const { emails } = (await get(`/v1/orders/${reply.body.results[0].order_id}`)).body
    expect(emails).toMatchObject([{ status: 'pending', error_code: 'provider_not_configured', sent_at: null }])
    expect(emails[0].waiting_reason).toContain('EMAIL_PROVIDER')
  })
})

describe('the health of a service in production without a provider', () => {
  const readCheck = async (edition: string, id: string) => {
    const { body } = await callWith(production, `/v1/editions/${edition}/healthcheck`)
    return body.checks.find(({ check_id }: { check_id: string }) => check_id === id)
  }

  it('is critical for an edition with a scheduled campaign of the channel, and a warning for others', async () => {
    const place = await seedCrowd(0)
    const warning = { passed: false, severity: 'warning' }
    expect(await readCheck(place.edition, 'communication.email_provider')).toMatchObject(warning)
    expect(await readCheck(place.edition, 'communication.sms_provider')).toMatchObject(warning)
    await seedReady(place, { channel: 'sms', status: 'scheduled' })
    expect(await readCheck(place.edition, 'communication.email_provider')).toMatchObject(warning)
    const sms = { passed: false, severity: 'critical', suggestion: expect.stringContaining('SMS_PROVIDER') }
    expect(await readCheck(place.edition, 'communication.sms_provider')).toMatchObject(sms)
  })

  it('is critical for an edition that names a receipt, which cannot be published then', async () => {
    const shop = await seedShopWithReceipts({ is_draft: true })
    expect(await readCheck(shop.edition_id, 'communication.email_provider')).toMatchObject({ severity: 'critical' })
    const body = { is_draft: false }
    const reply = await callWith(production, `/v1/editions/${shop.edition_id}`, { method: 'PATCH', body })
    expect(describeRefusal(reply)).toBe('409 edition_not_publishable')
    expect(reply.body.checks).toMatchObject([{ check_id: 'communication.email_provider', severity: 'critical' }])
  })

  it('is told by /healthz', async () => {
    const read = async (bindings: object) => (await callWith(bindings, '/healthz', { token: null })).body
    expect(await read(production)).toMatchObject({ status: 'ok', email: 'not configured', sms: 'not configured' })
    const configured = { ...production, EMAIL_PROVIDER: 'resend', SMS_PROVIDER: 'gatewayapi' }
    expect(await read(configured)).toMatchObject({ status: 'ok', email: 'configured', sms: 'configured' })
  })

  it('is told by the log at the first event of an isolate', () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const report = (bindings: object) => createStartReport()(() => undefined)(null, { ...env, ...bindings })
    report({ ...production, EMAIL_PROVIDER: 'resend', EMAIL_API_KEY: 'key', WALLET_VENDOR_A: '', WALLET_VENDOR_B: '' })
    expect(warned.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { level: 'warn', message: expect.stringContaining('SMS_PROVIDER') },
    ])
    report({})
    expect(warned).toHaveBeenCalledTimes(1)
  })
})
