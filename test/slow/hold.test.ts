import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BatchProvider, startBatchProvider } from '../../scripts/support/batch-provider.ts'
import { buildMailingVariables, seedCampaignParts } from '../../scripts/support/campaigns.ts'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { type FakeStripeServer, startFakeStripe } from '../../scripts/support/fake-stripe-server.ts'
import { type Receiver, startReceiver } from '../../scripts/support/receiver.ts'
import { everyMinute, type Server, startServer } from '../../scripts/support/server.ts'

const people = 150
const orderCount = 6
const heldReason = 'Sending is held (OUTGOING=hold).'

interface CreatedResource {
  id: string
}

let stateDir: string
let provider: BatchProvider
let stripe: FakeStripeServer
let receiver: Receiver
let server: Server
const client = (): Client => createClient(server.url, server.rootToken)
const create = async (path: string, body: unknown): Promise<string> =>
  (await client().post<CreatedResource>(path, body)).id

async function start(outgoing: 'send' | 'hold'): Promise<void> {
  const env = {
    ...buildMailingVariables(provider),
    PAYMENT_API_BASE: stripe.url,
    ALLOW_INSECURE_WEBHOOKS: '1',
    OUTGOING: outgoing,
  }
  server = await startServer({ port: 0, stateDir, env, program: 'scripts/bench/worker.ts' })
}

const sweep = () => fetch(server.url + everyMinute).then((answer) => answer.text())

/** Asks until the condition holds, with the sweeps of a minute now and then. */
async function until<Value>(ask: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> {
  for (let turn = 1; ; turn++) {
    const value = await ask()
    if (holds(value)) return value
    if (turn > 400) throw new Error(`It did not come true: ${JSON.stringify(value)}`)
    if (turn % 8 === 1) await sweep()
    await wait(250)
  }
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'slow-hold-'))
  provider = await startBatchProvider()
  stripe = await startFakeStripe()
  receiver = await startReceiver()
  await start('hold')
})
afterAll(async () => {
  await server?.stop()
  for (const service of [provider, stripe, receiver]) await service?.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
})

/** Sells tickets that were paid through Stripe, and returns the orders. */
async function sell(place: { organization_id: string; edition_id: string }): Promise<string[]> {
  const orders = Array.from({ length: orderCount }, (_, index) => ({
    external_id: `H-${index}`,
    currency: 'dkk',
    customer: { email: `held-${index}@example.dk` },
    items: [{ product: 'Day ticket', quantity: 1, unit_price: 100 }],
    payment: { service: 'stripe', reference: stripe.store.pay({ amount: 10_000, currency: 'dkk' }).id },
  }))
  const body = { ...place, source: 'webshop', emit_webhooks: true, orders }
  const { results } = await client().post<{ results: { order_id: string }[] }>('/v1/data-imports/external-orders', body)
  return results.map(({ order_id }) => order_id)
}

/** Has a campaign, webhooks, refunds and their mails wait. */
async function fillQueues() {
  const parts = await seedCampaignParts(client(), people, '<p>Hello {{ customer.first_name }}</p>')
  const { organization_id, edition_id } = parts
  await client().patch(`/v1/organizations/${organization_id}`, { refund_policy: { auto_approve_below: 100_000 } })
  const account = { name: 'Stripe', type: 'stripe', supported_currencies: ['dkk'], api_key: 'rk_test_Held1234' }
  const merchant_account_id = await create('/v1/merchant-accounts', { organization_id, ...account })
  await client().patch(`/v1/editions/${edition_id}`, { merchant_account_id })
  const endpoint = { name: 'Hook', url: receiver.url('/held'), events: ['purchase.action'] }
  const endpointId = await create('/v1/webhooks', { organization_id, ...endpoint })
  const refunds: string[] = []
  for (const order_id of await sell({ organization_id, edition_id }))
    refunds.push(await create('/v1/refund-requests', { order_id, reason: 'event_cancelled', notify_customer: true }))
  const campaign = await create('/v1/campaigns', { ...parts, name: 'News', channel: 'email' })
  await client().post(`/v1/campaigns/${campaign}/send-now`, {})
  return { campaign, refunds, endpointId }
}

interface Waiting {
  status: string
  waiting_reason: string | null
  attempts?: number
}

const countOutgoing = () => [provider.calls(), stripe.store.refunds.length, receiver.posts('/held').length]

it('a held service sends, posts and pays nothing, and everything once when it is released', async () => {
  const { campaign, refunds, endpointId } = await fillQueues()
  const readCampaign = () => client().get<Waiting & Record<string, unknown>>(`/v1/campaigns/${campaign}`)
  const readRefund = (id: string) => client().get<Waiting>(`/v1/refund-requests/${id}`)
  const listDeliveries = () => client().get<Page<Waiting>>(`/v1/webhooks/${endpointId}/deliveries?page_size=500`)
  await until(readCampaign, ({ waiting_reason }) => waiting_reason !== null)
  for (let minute = 0; minute < 3; minute++) await sweep()
  expect(await readCampaign()).toMatchObject({
    status: 'sending',
    total_recipients: people,
    sent_count: 0,
    waiting_reason: heldReason,
  })
  for (const id of refunds)
    expect(await readRefund(id)).toMatchObject({ status: 'approved', attempts: 0, waiting_reason: heldReason })
  const heldDeliveries = await listDeliveries()
  expect(heldDeliveries.count).toBeGreaterThanOrEqual(orderCount)
  for (const delivery of heldDeliveries.results) expect(delivery).toMatchObject({ status: 'pending', attempts: 0 })
  expect(countOutgoing()).toEqual([0, 0, 0])
  expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ status: 'ok', outgoing: 'held' })

  await server.stop()
  await start('send')
  const released = await until(readCampaign, ({ status }) => !['calculating', 'sending'].includes(status))
  expect(released).toMatchObject({ status: 'sent', sent_count: people, failed_count: 0, waiting_reason: null })
  for (const id of refunds)
    expect(
      await until(
        () => readRefund(id),
        ({ status }) => status === 'completed',
      ),
    ).toMatchObject({ attempts: 1 })
  const { results: deliveries } = await until(listDeliveries, ({ results }) =>
    results.every(({ status }) => status === 'success'),
  )
  for (const delivery of deliveries) expect(delivery).toMatchObject({ attempts: 1 })
  await until(
    async () => provider.counts.size,
    (size) => size === people + orderCount,
  )
  for (let minute = 0; minute < 3; minute++) await sweep()
  expect([...new Set(provider.counts.values())]).toEqual([1])
  expect([provider.counts.size, provider.mismatches()]).toEqual([people + orderCount, 0])
  expect(stripe.store.refunds.map(({ amount }) => amount)).toEqual(refunds.map(() => 10_000))
  expect(receiver.counts('/held').size).toBe(deliveries.length)
  expect([...new Set(receiver.counts('/held').values())]).toEqual([1])
})
