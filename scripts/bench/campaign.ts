import { setTimeout as wait } from 'node:timers/promises'
import { type BatchProvider, startBatchProvider } from '../support/batch-provider.ts'
import { buildMailingVariables, seedCampaignParts, seedCampaignPlace } from '../support/campaigns.ts'
import { create } from '../support/place.ts'
import { processorSeconds } from '../support/runtime-use.ts'
import { type Bench, printHead, printRatio, readMemory, readSize, withBench } from './support.ts'

export const summary = 'Sends a marketing campaign by e-mail to SIZE=20000 people, and one by SMS to half as many'

type Channel = 'email' | 'sms'

const size = readSize(20_000)
const timeoutMs = 900_000
/** A consumer of campaigns makes this many calls at once. */
const callsAtOnce = 4
/** Answers take time of the same thread that sends. */
const pollEveryMs = 1000

interface Campaign {
  status: string
  error_message: string
}

const html = `<p>Hello {{ customer.first_name }}, see <a href="https://example.com/a">the programme</a>,
  <a href="https://example.com/b">the map</a> and <a href="https://example.com/c">the prices</a>.</p>`
const text = 'Hello {{ customer.first_name }}, the doors of {{ edition.name }} are open.'

async function seedCampaign({ client }: Bench, people: number, channel: Channel): Promise<string> {
  const fields = { name: 'News', channel }
  if (channel === 'email')
    return create(client, '/v1/campaigns', { ...fields, ...(await seedCampaignParts(client, people, html)) })
  const place = await seedCampaignPlace(client, people, 'sms')
  await client.patch(`/v1/editions/${place.edition_id}`, { sms_sender_name: 'Platform' })
  return create(client, '/v1/campaigns', { ...fields, ...place, sms_body: { en: text } })
}

/** Sends the campaign and answers the most memory of that time. */
async function send(bench: Bench, provider: BatchProvider, id: string, people: number): Promise<number> {
  let peakMemory = 0
  await bench.client.post(`/v1/campaigns/${id}/send-now`, {})
  for (const deadline = Date.now() + timeoutMs; ; await wait(pollEveryMs, undefined, { signal: bench.signal })) {
    peakMemory = Math.max(peakMemory, readMemory())
    if (provider.counts.size < people && Date.now() < deadline) continue
    const { status, error_message } = await bench.client.get<Campaign>(`/v1/campaigns/${id}`)
    if (status === 'sent') return peakMemory
    if (Date.now() > deadline || !['calculating', 'sending'].includes(status))
      throw new Error(`${status} (${error_message}): ${provider.counts.size} of ${people} got the message`)
  }
}

/** Throws unless everyone got one message, with a link to unsubscribe. */
function checkMessages({ counts, longestBody }: BatchProvider, people: number, channel: Channel): void {
  const repeated = [...counts.values()].filter((times) => times > 1).length
  if (counts.size !== people || repeated > 0) throw new Error(`${counts.size} of ${people}, ${repeated} more than once`)
  const body = longestBody()
  if (!body.includes('/t/u/') || (channel === 'email' && !body.includes('"List-Unsubscribe"')))
    throw new Error('The messages have no link to unsubscribe.')
}

/** Makes the provider's calls again, with nothing around them, and answers people a second. */
async function measureFloor(bench: Bench, provider: BatchProvider, people: number, channel: Channel) {
  const body = provider.longestBody()
  const count = channel === 'sms' ? people : Math.ceil(people / 100)
  const urls = [`${provider.url}${channel === 'sms' ? '/mobile/single' : '/emails/batch'}`]
  const headers = { 'content-type': 'application/json' }
  provider.forget()
  const { ms } = await bench.client.post<{ ms: number }>('/bench/fetch', {
    urls,
    count,
    atOnce: callsAtOnce,
    headers,
    body,
  })
  return (1000 * people) / ms
}

async function measure(bench: Bench, provider: BatchProvider, people: number, channel: Channel): Promise<void> {
  const id = await seedCampaign(bench, people, channel)
  await bench.restart()
  provider.forget()
  const memoryAtRest = readMemory()
  const processorBefore = processorSeconds()
  const startedAt = performance.now()
  const peakMemory = await send(bench, provider, id, people)
  const processor = (1000 * (processorSeconds() - processorBefore)) / people
  checkMessages(provider, people, channel)
  const { first, last } = provider.span()
  const floorProcessorBefore = processorSeconds()
  const floor = await measureFloor(bench, provider, people, channel)
  const floorProcessor = (1000 * (processorSeconds() - floorProcessorBefore)) / people
  const name = channel === 'sms' ? 'SMS' : 'e-mails'
  printRatio(`${name}, from the first to the last`, 'people/s', { service: (1000 * people) / (last - first), floor })
  printRatio(`${name}, from the start to the last`, 'people/s', {
    service: (1000 * people) / (last - startedAt),
    floor,
  })
  printRatio(`${name}, processor`, 'ms a person', { service: processor, floor: floorProcessor })
  console.log(`memory ${memoryAtRest.toFixed(0)} MB at rest, ${peakMemory.toFixed(0)} MB at most\n`)
}

export async function run(): Promise<void> {
  const provider = await startBatchProvider()
  try {
    await withBench(buildMailingVariables(provider), async (bench) => {
      printHead(`${size} people by e-mail, half as many by SMS; the floor makes the same calls of the provider alone`)
      await measure(bench, provider, size, 'email')
      await measure(bench, provider, Math.ceil(size / 2), 'sms')
    })
  } finally {
    await provider.stop()
  }
}
