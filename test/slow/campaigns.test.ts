import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BatchProvider, startBatchProvider } from '../../scripts/support/batch-provider.ts'
import { startMailingServer } from '../../scripts/support/campaigns.ts'
import { type Client, createClient } from '../../scripts/support/client.ts'
import type { Server } from '../../scripts/support/server.ts'
import { waitForEnd, givenCampaign } from '../support/floor-campaign.ts'
import { listProcesses } from '../support/receiving.ts'

const people = 20_000

let provider: BatchProvider
let stateDir: string
let server: Server
let client: Client

async function start(): Promise<void> {
  server = await startMailingServer(provider, { stateDir })
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

async function crash(): Promise<void> {
  for (const pid of listProcesses(stateDir)) process.kill(pid, 'SIGKILL')
  await server.ended
  await start()
}

describe('a crash in the middle of a campaign to 20,000 people', () => {
  it('loses no recipient, and the provider has each message exactly once', async () => {
    const id = await givenCampaign(client, people)
    await client.post(`/v1/campaigns/${id}/send-now`, {})
    for (const share of [0.2, 0.6]) {
      for (const deadline = Date.now() + 60_000; provider.counts.size < people * share && Date.now() < deadline;)
        await wait(5)
      expect(provider.counts.size).toBeLessThan(people)
      await crash()
    }
    const campaign = await waitForEnd(client, id)
    expect(campaign).toMatchObject({
      status: 'sent',
      total_recipients: people,
      sent_count: people,
      failed_count: 0,
      error_message: '',
    })
    expect(provider.counts.size).toBe(people)
    expect([...provider.counts.values()].filter((times) => times !== 1)).toEqual([])
    // Repeated calls have the same bodies.
    expect(provider.mismatches()).toBe(0)
    const stats = await client.get<{ sent: number; failed: number }>(`/v1/campaigns/${id}/stats`)
    expect(stats).toMatchObject({ total_recipients: people, sent: people, failed: 0 })
  })
})
