import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkStart } from '../../src/entry/gateways.ts'
import { openJob } from '../../src/entry/job.ts'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { CampaignSenderObject } from '../../src/objects/campaign/campaign-sender.ts'
import { callWith, get } from '../support/api.ts'
import { getCampaignObject, listCaptured, loadCampaign } from '../support/campaigns.ts'
import { createProvider, listReceipts, sell } from '../support/receipts.ts'
import { seedCampaignInStatus, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'

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
      expect([reply.status, reply.body.code]).toEqual([409, 'campaign_not_ready'])
      expect(reply.body.errors).toMatchObject([{ pointer: '#/channel', code: 'provider_not_configured' }])
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
  it('waits with the reason, is sent once a provider is configured, and fails after a week', async () => {
    const shop = await seedShopWithReceipts()
    await sell(shop, [aReceiptOrder(), aReceiptOrder()])
    await sendEmails(openProductionJob())
    const reason = { error_code: 'provider_not_configured', error_detail: expect.stringContaining('EMAIL_PROVIDER') }
    const pending = { status: 'pending', sent_at: null, attempts: 0, provider: null, ...reason }
    expect(await listReceipts(shop)).toMatchObject([pending, pending])
    const [receipt] = await listReceipts(shop)
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

    const [first] = await listReceipts(shop)
    await write(sql`update transactional_emails set created_at = created_at - 7 * 86400000 where id = ${first?.id}`)
    await sendEmails(openProductionJob(Date.now() + 700_000))
    expect(await listReceipts(shop)).toMatchObject([{ status: 'failed', due_at: null, ...reason }, pending])

    const provider = createProvider({ deduplicates: true })
    await sendEmails({ ...openProductionJob(Date.now() + 1_400_000), email: provider.gateway })
    expect(await listReceipts(shop)).toMatchObject([{ status: 'failed' }, { status: 'sent', error_code: null }])
    expect(provider.calls).toHaveLength(1)
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
    expect([reply.status, reply.body.code]).toEqual([409, 'edition_not_publishable'])
    expect(reply.body.checks).toMatchObject([{ check_id: 'communication.email_provider', severity: 'critical' }])
  })

  it('is told by /healthz', async () => {
    const read = async (bindings: object) => (await callWith(bindings, '/healthz', { token: null })).body
    expect(await read(production)).toMatchObject({ status: 'ok', email: 'not configured', sms: 'not configured' })
    const configured = { ...production, EMAIL_PROVIDER: 'resend', SMS_PROVIDER: 'gatewayapi' }
    expect(await read(configured)).toMatchObject({ status: 'ok', email: 'configured', sms: 'configured' })
  })

  it('is told by the log when the service starts', () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    checkStart({ ...env, ...production, EMAIL_PROVIDER: 'resend' })
    expect(warned.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { level: 'warn', message: expect.stringContaining('SMS_PROVIDER') },
    ])
    checkStart(env)
    expect(warned).toHaveBeenCalledTimes(1)
  })
})
