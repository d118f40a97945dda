import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { BareCalls, CampaignCosts } from './bench/campaigns-worker.ts'
import { nameFunctions, type PartsOfFiles, profiled, type Samples, showProfiles } from './bench/profile.ts'
import { startBatchProvider } from './support/batch-provider.ts'
import { seedCampaignParts, seedCampaignPlace, startMailingServer } from './support/campaigns.ts'
import { createClient } from './support/client.ts'
import { memoryText, type RuntimeMemory, runtimeMemory } from './support/runtime-memory.ts'
import { processorSeconds } from './support/runtime-use.ts'

/**
 * Campaigns to a provider on this machine, from send-now to `sent`. E-mails go by the hundred, SMS one by one. After
 * each the same Worker makes the same calls without a campaign, which is the floor of its rate and of its time. With
 * PROFILE=1 it prints what a recipient and such a call spend time on; `perf` makes all slower.
 */
const sizes = (process.env['RECIPIENTS'] ?? '10000,100000').split(',').map(Number)
const channels = (process.env['CHANNELS'] ?? 'email,sms').split(',') as Channel[]
const peopleOfSms = 10_000
const isProfiled = process.env['PROFILE'] === '1'

type Channel = 'email' | 'sms'

interface Goals {
  sending: number
  whole: number
  milliseconds: number
}

const goals: Record<Channel, Goals> = {
  email: { sending: 7000, whole: 6000, milliseconds: 0.15 },
  sms: { sending: 2900, whole: 2900, milliseconds: 0.35 },
}
const bounds = { megabytes: 260, rows: 10 }

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
if (isProfiled) nameFunctions()
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
const shortText = 'Hello {{ customer.first_name }}, the doors open at {{ edition.name }}.'

async function seed(people: number, channel: Channel): Promise<object> {
  if (channel === 'email') return seedCampaignParts(client, people, text)
  const place = await seedCampaignPlace(client, people, 'sms')
  await client.patch(`/v1/editions/${place.edition_id}`, { sms_sender_name: 'Platform' })
  return { ...place, sms_body: { en: shortText } }
}

interface Sent {
  campaign: Campaign
  seconds: number
  /** Of processor. */
  cpu: number
  memory: { atRest: RuntimeMemory; most: RuntimeMemory }
}

/** The first that matches says what a file belongs to. */
const partsOfFiles: PartsOfFiles = [
  [/src\/domain\/email|liquidjs|delivery\/compose/, 'letters'],
  [/signed-tokens|link-tokens|consent-tokens|@noble/, 'links'],
  [/src\/gateways|json-pieces/, "JavaScript of the provider's call"],
  [/src\/objects\/campaign|domain\/campaigns/, "JavaScript of the campaign's object"],
  [/src\/modules\/campaigns\/delivery/, 'JavaScript of the consumer'],
  [/src\/db|drizzle/, 'making statements of D1'],
  [/scripts\/bench/, 'JavaScript of the bench'],
]

/** Does the work, and answers the seconds of processor that it took. */
async function timed(samples: Samples | null, work: () => Promise<unknown>): Promise<number> {
  return profiled(samples, partsOfFiles, async () => {
    const before = processorSeconds()
    await work()
    return processorSeconds() - before
  })
}

/** Asks seldom while messages go out: an answer takes the time of the very thread that sends. */
const askEveryMs = 1000

async function send(id: string, people: number, samples: Samples | null): Promise<Sent> {
  provider.forget()
  const atRest = runtimeMemory()
  const started = performance.now()
  let campaign: Campaign | undefined
  let most = atRest
  const cpu = await timed(samples, async () => {
    await client.post(`/v1/campaigns/${id}/send-now`, {})
    for (let askedAt = 0, readAt = 0; !campaign || ['calculating', 'sending'].includes(campaign.status);) {
      await wait(250)
      // Not more often: the provider stands in this process, and waits while the memory is read.
      const now = performance.now()
      if (now - readAt >= askEveryMs) {
        readAt = now
        const memory = runtimeMemory()
        if (memory.all > most.all) most = memory
      }
      if (now - started > 900_000) break
      if (provider.counts.size < people && now - askedAt < askEveryMs) continue
      askedAt = now
      campaign = await client.get<Campaign>(`/v1/campaigns/${id}`)
    }
  })
  if (!campaign) throw new Error('The campaign was not read.')
  const seconds = (provider.span().last - started) / 1000
  return { campaign, seconds, cpu, memory: { atRest, most } }
}

function check(campaign: Campaign, people: number): void {
  const reached = provider.counts.size
  const twice = [...provider.counts.values()].filter((times) => times > 1).length
  if (campaign.status !== 'sent' || reached !== people || twice > 0)
    throw new Error(`${campaign.status} (${campaign.error_message}): ${reached} of ${people} reached, ${twice} twice`)
}

/** As many as a consumer of campaigns makes. */
const callsAtOnce = 4

/** What the provider got since `before`. */
const callsSince = (before: { calls: number; bytes: number }, channel: Channel): BareCalls => {
  const calls = provider.calls() - before.calls
  const bytesACall = Math.round((provider.bytes() - before.bytes) / calls)
  return { channel, calls, bytesACall, atOnce: callsAtOnce }
}

/**
 * Makes the same calls with nothing around them. Each campaign has its own share of this floor on any machine. Answers
 * the milliseconds of processor for one of the people.
 */
async function showFloor(
  made: BareCalls,
  people: number,
  campaign: { sending: number; milliseconds: number },
  samples: Samples | null,
): Promise<number> {
  provider.forget()
  const milliseconds = (1000 * (await timed(samples, () => client.post('/floor/campaigns/calls', made)))) / people
  const { first, last } = provider.span()
  const rate = (1000 * people) / (last - first)
  console.log(
    `  the same calls alone, ${made.atOnce} at once with ${made.bytesACall} bytes each: ${Math.round(rate)} a second, ${milliseconds.toFixed(3)} ms of processor; the campaign has ${((100 * campaign.sending) / rate).toFixed(0)} % of the rate and takes ${(campaign.milliseconds / milliseconds).toFixed(1)} times the processor`,
  )
  return milliseconds
}

async function run(people: number, channel: Channel): Promise<number> {
  const fields = await seed(people, channel)
  await serveAnew()
  const { id } = await client.post<{ id: string }>('/v1/campaigns', { ...fields, name: 'News', channel })
  const before = { calls: provider.calls(), bytes: provider.bytes() }
  const samples: Record<'sent' | 'bare', Samples> | null = isProfiled ? { sent: new Map(), bare: new Map() } : null
  const { campaign, seconds, cpu, memory } = await send(id, people, samples?.sent ?? null)
  check(campaign, people)
  const made = callsSince(before, channel)
  const costs = await client.get<CampaignCosts>('/floor/campaigns/costs')
  const rows = (costs.rows_written + costs.object_rows_written) / people
  const { first, last } = provider.span()
  const [sending, whole] = [(1000 * people) / (last - first), people / seconds]
  const milliseconds = (1000 * cpu) / people
  const each = (count: number, digits: number) => (count / people).toFixed(digits)
  console.log(
    `${channel} to ${people}: ${Math.round(sending)} a second from the first to the last, ${Math.round(whole)} from the start to the last, ${made.calls} calls`,
  )
  console.log(
    `  a recipient: ${milliseconds.toFixed(3)} ms of processor; rows written ${rows.toFixed(2)} (D1 ${each(costs.rows_written, 2)}, object ${each(costs.object_rows_written, 2)}), read ${each(costs.rows_read + costs.object_rows_read, 1)} (D1 ${each(costs.rows_read, 1)}, object ${each(costs.object_rows_read, 1)}); round trips to D1 ${each(costs.round_trips, 3)}, to the object ${each(costs.object_requests, 3)}`,
  )
  console.log(`  memory at rest ${memoryText(memory.atRest)}\n         at most ${memoryText(memory.most)}`)
  const goal = goals[channel]
  const said = (what: string, isMet: boolean) => `${what} ${isMet ? 'met' : 'MISSED'}`
  console.log(
    `  goals: ${[
      said(`${goal.sending} a second`, sending >= goal.sending),
      said(`${goal.whole} from the start`, whole >= goal.whole),
      said(`${goal.milliseconds} ms`, milliseconds <= goal.milliseconds),
      said(`under ${bounds.megabytes} MB`, memory.most.all < bounds.megabytes),
      said(`${bounds.rows} rows`, rows <= bounds.rows),
    ].join(', ')}`,
  )
  const bare = await showFloor(made, people, { sending, milliseconds }, samples?.bare ?? null)
  if (samples)
    showProfiles([
      { name: 'The calls alone', milliseconds: bare, samples: samples.bare },
      { name: channel === 'sms' ? 'An SMS' : 'An e-mail', milliseconds, samples: samples.sent },
    ])
  return whole
}

try {
  for (const channel of channels) {
    const rates: number[] = []
    for (const size of channel === 'sms' ? [Math.min(peopleOfSms, sizes[0] ?? peopleOfSms)] : sizes)
      rates.push(await run(size, channel))
    const [small = 0, large = 0] = rates
    if (rates.length > 1) console.log(`  ten times as many: ${(small / large).toFixed(2)} times as long a recipient`)
  }
} finally {
  await server.stop()
  await provider.stop()
  if (!process.env['STATE_DIR']) await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
}
