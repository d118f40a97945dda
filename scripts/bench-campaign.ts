import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { CampaignCosts } from './bench/campaigns-worker.ts'
import { startBatchProvider } from './support/batch-provider.ts'
import { seedCampaignParts, startMailingServer } from './support/campaigns.ts'
import { createClient } from './support/client.ts'
import { residentMegabytes } from './support/runtime-use.ts'

/** A campaign of 10,000 and one of 100,000 to a provider on this machine: from send-now to `sent`. */
const sizes = (process.env['RECIPIENTS'] ?? '10000,100000').split(',').map(Number)
const goals = { aSecond: 1500, megabytes: 300, rows: 6 }

interface Campaign {
  id: string
  status: string
  total_recipients: number
  sent_count: number
  error_message: string
}

const stateDir = process.env['STATE_DIR'] ?? (await mkdtemp(join(tmpdir(), 'bench-campaign-')))
const provider = await startBatchProvider()
const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())
const serve = () => startMailingServer(provider, { stateDir, signal: quit.signal })
let server = await serve()
let client = createClient(server.url, server.rootToken)

/** Memory of the seeding is not counted for the campaign. */
async function serveAnew(): Promise<void> {
  await server.stop()
  server = await serve()
  client = createClient(server.url, server.rootToken)
}

const text =
  '<p>Hello {{ customer.first_name }}, see <a href="https://example.com/a">the programme</a>, <a href="https://example.com/b">the map</a> and <a href="https://example.com/c">the prices</a>.</p>'

async function run(people: number): Promise<number> {
  const fields = await seedCampaignParts(client, people, text)
  await serveAnew()
  const { id } = await client.post<{ id: string }>('/v1/campaigns', { ...fields, name: 'News', channel: 'email' })
  const [before, callsBefore] = [provider.counts.size, provider.calls()]
  const atRest = residentMegabytes()
  const started = performance.now()
  await client.post(`/v1/campaigns/${id}/send-now`, {})
  let campaign: Campaign
  let peak = 0
  let sendingAfter = 0
  do {
    await wait(250)
    peak = Math.max(peak, residentMegabytes())
    campaign = await client.get<Campaign>(`/v1/campaigns/${id}`)
    if (campaign.status === 'sending' && !sendingAfter) sendingAfter = performance.now() - started
  } while (['calculating', 'sending'].includes(campaign.status) && performance.now() - started < 900_000)
  const seconds = (performance.now() - started) / 1000
  const reached = provider.counts.size - before
  const twice = [...provider.counts.values()].filter((times) => times > 1).length
  if (campaign.status !== 'sent' || reached !== people || twice > 0)
    throw new Error(`${campaign.status} (${campaign.error_message}): ${reached} of ${people} reached, ${twice} twice`)
  const rate = people / seconds
  const costs = await client.get<CampaignCosts>('/floor/campaigns/costs')
  const rows = (costs.rows_written + costs.object_rows_written) / people
  console.log(
    `${String(people).padStart(7)} recipients: ${seconds.toFixed(1)} s, ${Math.round(rate)} a second, the first after ${(sendingAfter / 1000).toFixed(1)} s, ${provider.calls() - callsBefore} calls, ${Math.round(atRest)} MB at rest and ${Math.round(peak)} MB at most`,
  )
  console.log(
    `         a recipient: ${rows.toFixed(2)} rows written (${(costs.rows_written / people).toFixed(2)} in D1, ${(costs.object_rows_written / people).toFixed(2)} in the object), ${(costs.object_requests / people).toFixed(3)} requests to the object`,
  )
  const said = (isMet: boolean) => (isMet ? 'met' : 'MISSED')
  console.log(
    `         goals: ${goals.aSecond} a second ${said(rate >= goals.aSecond)}, under ${goals.megabytes} MB ${said(peak < goals.megabytes)}, at most ${goals.rows} rows ${said(rows <= goals.rows)}`,
  )
  return rate
}

try {
  const rates: number[] = []
  for (const size of sizes) rates.push(await run(size))
  const [small = 0, large = 0] = rates
  if (rates.length > 1)
    console.log(`         ten times as many: ${(small / large).toFixed(2)} times as long a recipient`)
} finally {
  await server.stop()
  await provider.stop()
  if (!process.env['STATE_DIR']) await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
}
