import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BatchProvider, startBatchProvider } from '../../scripts/support/batch-provider.ts'
import { startMailingServer } from '../../scripts/support/campaigns.ts'
import { type Client, createClient } from '../../scripts/support/client.ts'
import type { Server } from '../../scripts/support/server.ts'
import { givenCampaign } from '../support/floor-campaign.ts'

let provider: BatchProvider
let stateDir: string
let server: Server
let client: Client

beforeAll(async () => {
  provider = await startBatchProvider()
  stateDir = await mkdtemp(join(tmpdir(), 'clock-'))
  server = await startMailingServer(provider, { stateDir })
  client = createClient(server.url, server.rootToken)
})
afterAll(async () => {
  await server?.stop()
  await provider?.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
})

const week = 7 * 86_400

it('a campaign that is scheduled for next week is sent once the clock is moved there, and a restart keeps the time', async () => {
  const id = await givenCampaign(client, 50)
  const scheduled_at = new Date(Date.now() + week * 1000).toISOString()
  await client.post(`/v1/campaigns/${id}/schedule`, { scheduled_at })
  const { ahead_seconds } = await client.post<{ ahead_seconds: number }>('/dev/clock', {
    advance_seconds: week + 86_400,
  })
  expect(ahead_seconds).toBe(week + 86_400)
  const load = () => client.get<{ status: string; sent_count: number; completed_at: string }>(`/v1/campaigns/${id}`)
  for (const deadline = Date.now() + 60_000; (await load()).status !== 'sent' && Date.now() < deadline;) await wait(250)
  const campaign = await load()
  expect(campaign).toMatchObject({ status: 'sent', sent_count: 50 })
  expect(provider.counts.size).toBe(50)
  await server.stop()
  server = await startMailingServer(provider, { stateDir })
  client = createClient(server.url, server.rootToken)
  const { now } = await client.get<{ now: string }>('/dev/clock')
  expect(Date.parse(now)).toBeGreaterThan(Date.parse(scheduled_at))
})
