import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BatchProvider, startBatchProvider } from '../../scripts/support/batch-provider.ts'
import { type Client, createClient } from '../../scripts/support/client.ts'
import { seedCampaignParts } from '../../scripts/support/seed-campaign.ts'
import { type Server, startServer } from '../../scripts/support/server.ts'
import { pidsAt } from '../support/receiving.ts'

const people = 20_000

interface Campaign {
  id: string
  status: string
  total_recipients: number
  sent_count: number
  failed_count: number
  error_message: string
}

let provider: BatchProvider
let stateDir: string
let server: Server
let client: Client

async function start(): Promise<void> {
  server = await startServer({
    port: 0,
    stateDir,
    env: {
      RATE_LIMIT_PER_MINUTE: '0',
      EMAIL_PROVIDER: 'resend',
      EMAIL_API_BASE: provider.url,
      EMAIL_API_KEY: 're_slow',
    },
    program: 'scripts/bench/worker.ts',
  })
  client = createClient(server.url, server.rootToken)
}

beforeAll(async () => {
  provider = await startBatchProvider()
  stateDir = await mkdtemp(join(tmpdir(), 'campaigns-'))
  await start()
})
afterAll(async () => {
  await server?.stop()
  await provider?.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
})

async function givenCampaign(): Promise<string> {
  const parts = await seedCampaignParts(client, people, '<p>Hello {{ customer.first_name }}</p>')
  return (await client.post<{ id: string }>('/v1/campaigns', { ...parts, name: 'News', channel: 'email' })).id
}

async function crash(): Promise<void> {
  for (const pid of pidsAt(stateDir)) process.kill(pid, 'SIGKILL')
  await server.ended
  await start()
}

describe('a crash in the middle of a campaign of 20,000', () => {
  it('loses nobody, and the provider has each exactly once', async () => {
    const id = await givenCampaign()
    await client.post(`/v1/campaigns/${id}/send-now`, {})
    for (const share of [0.2, 0.6]) {
      for (const deadline = Date.now() + 60_000; provider.counts.size < people * share && Date.now() < deadline;)
        await wait(5)
      expect(provider.counts.size).toBeLessThan(people)
      await crash()
    }
    let campaign: Campaign
    const deadline = Date.now() + 200_000
    do {
      await wait(1000)
      campaign = await client.get<Campaign>(`/v1/campaigns/${id}`)
    } while (['calculating', 'sending'].includes(campaign.status) && Date.now() < deadline)
    expect(campaign).toMatchObject({
      status: 'sent',
      total_recipients: people,
      sent_count: people,
      failed_count: 0,
      error_message: '',
    })
    expect(provider.counts.size).toBe(people)
    expect([...provider.counts.values()].filter((times) => times !== 1)).toEqual([])
    // What was repeated was repeated in the same words.
    expect(provider.mismatches()).toBe(0)
    const stats = await client.get<{ sent: number; failed: number }>(`/v1/campaigns/${id}/stats`)
    expect(stats).toMatchObject({ total_recipients: people, sent: people, failed: 0 })
  })
})
