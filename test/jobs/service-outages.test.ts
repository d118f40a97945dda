import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import { scheduled } from '../../src/entry/scheduled.ts'
import { sweepOutages } from '../../src/modules/system/jobs.ts'
import { markPassesChanged } from '../../src/modules/wallet/index.ts'
import { sweepPassUpdates } from '../../src/modules/wallet/jobs.ts'
import { get, patch } from '../support/api.ts'
import { createJob } from '../support/campaigns.ts'
import { createContextAt } from '../support/context.ts'
import { createProvider, createReceiptEngine, listReceipts, sell } from '../support/receipts.ts'
import {
  createProvider as createPaymentProvider,
  createRefundEngine,
  loadRefundRow,
} from '../support/refund-payments.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { seedSale, seedSaleIn } from '../support/seeding/sales/trades.ts'
import { givenPass } from '../support/seeding/sales/wallet-passes.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { loadPass, register } from '../support/wallet.ts'
import { answers, engine, happen } from '../support/webhooks.ts'

interface LogLine {
  request_id: string
  level: string
  message: string
  service: string
  resource_id?: string
  reason: string
}

let lines: LogLine[] = []
beforeEach(async () => {
  await write(sql`delete from service_outages`)
  lines = []
  vi.spyOn(console, 'warn').mockImplementation((text: string) => {
    const line = JSON.parse(text) as LogLine
    if (line.request_id === 'sweep:service-outages') lines.push(line)
  })
})
afterEach(() => void vi.restoreAllMocks())

const sweep = () => sweepOutages(createContextAt(Date.now()))
const listNotices = async () =>
  (await sweep()).map(({ message, details }) => [message, details['service'], details['reason']])
const readCheck = async (edition: string, id: string) => {
  const { body } = await get(`/v1/editions/${edition}/healthcheck`)
  return body.checks.find(({ check_id }: { check_id: string }) => check_id === id)
}

describe('the log', () => {
  it('has one warning when a provider begins to fail, and one when it works again', async () => {
    const { campaign } = await seedReady(await seedCrowd(0), { run: 1, heartbeat_at: Date.now() })
    const { campaign: second } = await seedReady(await seedCrowd(0), { run: 1, heartbeat_at: Date.now() })
    const reason = 'The e-mail provider answers 500.'
    const wait = (id: string, since: number | null) =>
      write(sql`update campaigns set status = ${since === null ? 'sent' : 'sending'}, waiting_since = ${since},
        waiting_reason = ${since === null ? null : reason}, next_attempt_at = ${since} where id = ${id}`)
    const run = () => scheduled(createScheduledController({ scheduledTime: new Date(), cron: '* * * * *' }), env)
    await run()
    expect(lines).toEqual([])
    await wait(campaign.id, 1_768_467_600_000)
    await run()
    await wait(second.id, 1_768_467_660_000)
    await run()
    await wait(campaign.id, null)
    await run()
    const begin = { level: 'warn', message: 'A service fails.', service: 'email', reason }
    expect(lines).toMatchObject([{ ...begin, waiting_since: '2026-01-15T09:00:00.000Z' }])
    await wait(second.id, null)
    await run()
    await run()
    expect(lines).toMatchObject([begin, { ...begin, message: 'A service works again.' }])
  })
})

describe('a receipt that the provider refuses', () => {
  it('says what it waits for, in the log and in the health of every edition', async () => {
    const shop = await seedShopWithReceipts()
    await sell(shop, [aReceiptOrder()])
    const provider = createProvider({ deduplicates: true })
    provider.play([{ ...createFailure('transient', 'http_500', ''), status: 500 }])
    const machine = createReceiptEngine(provider.gateway, Date.now() + 1000)
    await machine.run()
    const reason = 'The e-mail provider answers 500.'
    const [receipt] = await listReceipts(shop)
    expect(receipt).toMatchObject({ status: 'pending', waiting_reason: reason, waiting_since: machine.job.now() })
    expect(await listNotices()).toEqual([['A service fails.', 'email', reason]])
    const other = (await seedCrowd(0)).edition
    for (const edition of [shop.edition_id, other])
      expect(await readCheck(edition, 'communication.email_accepted')).toMatchObject({
        passed: false,
        severity: 'warning',
        message: `E-mails wait. ${reason}`,
      })
    expect(await readCheck(other, 'communication.sms_accepted')).toMatchObject({ passed: true })
    machine.advance(60_000)
    await machine.run()
    expect(await listReceipts(shop)).toMatchObject([{ status: 'sent', waiting_reason: null, waiting_since: null }])
    expect(await listNotices()).toEqual([['A service works again.', 'email', reason]])
    expect(await readCheck(other, 'communication.email_accepted')).toMatchObject({ passed: true })
  })
})

describe('refunds whose payment provider fails', () => {
  it('are one warning of their merchant account when the first of them waits, and one line when none waits', async () => {
    const sale = await seedSale()
    const sales = [sale, await seedSaleIn(sale)]
    const refunds = await Promise.all(sales.map((each) => seedDueRefund(each)))
    const provider = createPaymentProvider()
    const reason = 'The payment provider answers 500.'
    const fault = { state: 'unknown', message: reason } as const
    const machine = createRefundEngine(provider)
    const listLines = async () =>
      (await sweep()).map(({ message, details }) => [message, details['resource_id'], details['reason']])
    const makeDue = (id = '') => write(sql`update refund_requests set due_at = 0 where id = ${id}`)

    provider.setScript([fault, fault])
    provider.setReachable(false)
    await machine.run()
    expect(await listLines()).toEqual([['A service fails.', sale.account, reason]])
    expect(await listLines()).toEqual([])

    provider.setReachable(true)
    await makeDue(refunds[0])
    await machine.run()
    expect(await loadRefundRow(refunds[0] ?? '')).toMatchObject({ status: 'completed', waiting_since: null })
    expect(await listLines()).toEqual([])

    await makeDue(refunds[1])
    await machine.run()
    expect(await listLines()).toEqual([['A service works again.', sale.account, reason]])
    expect(await listLines()).toEqual([])
  })

  it('are no outage while a person has to pay them', async () => {
    await seedDueRefund(await seedSale(), { status: 'processing', service: 'manual', waiting_since: 1, due_at: null })
    expect(await sweep()).toEqual([])
  })
})

describe('a webhook endpoint that fails', () => {
  it('says what its deliveries wait for, and the log says it once its breaker opens', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    let status = 500
    const machine = engine(() => Promise.resolve(answers(status)))
    await machine.run([endpoint.id])
    const read = async () => (await get(`/v1/webhooks/${endpoint.id}`)).body
    const waiting = await read()
    expect(waiting).toMatchObject({ waiting_reason: 'The endpoint answers 500.', waiting_since: waiting.failing_since })
    expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.parse(waiting.waiting_since))
    expect(await sweep()).toEqual([])
    await write(sql`update webhook_endpoints set failures_in_row = 4 where id = ${endpoint.id}`)
    machine.advance(3_600_000)
    status = 401
    await machine.run([endpoint.id])
    const reason = 'The endpoint answers 401.'
    expect(await read()).toMatchObject({ waiting_reason: reason, waiting_since: waiting.waiting_since })
    expect(await sweep()).toMatchObject([
      { message: 'A service fails.', details: { service: 'webhook', resource_id: endpoint.id, reason } },
    ])
    status = 200
    machine.advance(20 * 3_600_000)
    await machine.run([endpoint.id])
    expect(await read()).toMatchObject({ waiting_reason: null, waiting_since: null, next_attempt_at: null })
    expect(await sweep()).toMatchObject([{ message: 'A service works again.', details: { resource_id: endpoint.id } }])
  })
})

describe('a wallet pass whose platform fails', () => {
  it('says what its change waits for', async () => {
    const pass = await givenPass('google')
    const change = () =>
      write(
        sql`update purchases set status = 'used' where id = ${pass.purchase}`,
        markPassesChanged([pass.purchase], Date.now()),
      )
    await change()
    const job = createJob()
    const fail = async () => ({ ok: false as const, kind: 'transient' as const, code: 'status_503' })
    await sweepPassUpdates({ ...job, passes: { ...job.passes, updateGoogle: fail } })
    const read = async () => (await get(`/v1/purchases/${pass.purchase}/wallet-passes`)).body.results[0]
    const reason = "Google's service for passes answers 503."
    const waiting = await read()
    expect(waiting).toMatchObject({ waiting_reason: reason })
    expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.parse(waiting.waiting_since))
    expect(await listNotices()).toEqual([['A service fails.', 'google', reason]])
    await write(sql`update wallet_passes set due_at = 0 where id = ${pass.id}`)
    await sweepPassUpdates(job)
    expect(await read()).toMatchObject({ waiting_reason: null, waiting_since: null, next_attempt_at: null })
    expect(await listNotices()).toEqual([['A service works again.', 'google', reason]])
    expect(await db.all(sql`select 1 from service_outages`)).toEqual([])
  })

  it('says what its phones wait for', async () => {
    const pass = await givenPass('apple')
    await register(pass, `${pass.serial}-phone`)
    await write(
      sql`update purchases set status = 'used' where id = ${pass.purchase}`,
      markPassesChanged([pass.purchase], Date.now()),
    )
    const job = createJob()
    await sweepPassUpdates({ ...job, passes: { ...job.passes, pushApple: async () => 'transient' as const } })
    const read = async () => (await get(`/v1/purchases/${pass.purchase}/wallet-passes`)).body.results[0]
    const reason = "Apple's service for passes does not answer."
    expect(await read()).toMatchObject({ waiting_reason: reason })
    expect(await listNotices()).toEqual([['A service fails.', 'apple', reason]])
    await write(sql`update wallet_passes set due_at = 0 where id = ${pass.id}`)
    await sweepPassUpdates(job)
    expect(await read()).toMatchObject({ waiting_reason: null, waiting_since: null, next_attempt_at: null })
    expect(await listNotices()).toEqual([['A service works again.', 'apple', reason]])
  })

  it('says what the change of its edition waits for, in the log', async () => {
    const pass = await givenPass('google')
    const { edition_id } = await loadPass(pass.id)
    expect((await patch(`/v1/editions/${edition_id}`, { name: 'Nordlys, renamed' })).status).toBe(200)
    const job = createJob()
    const fail = async () => ({ ok: false as const, kind: 'transient' as const, code: 'status_500' })
    await sweepPassUpdates({ ...job, passes: { ...job.passes, updateGoogleClass: fail } })
    const reason = "Google's service for passes answers 500."
    expect(await listNotices()).toEqual([['A service fails.', 'google', reason]])
    await write(sql`update wallet_editions set due_at = 0 where edition_id = ${edition_id}`)
    await sweepPassUpdates(job)
    expect(await listNotices()).toEqual([['A service works again.', 'google', reason]])
  })
})
