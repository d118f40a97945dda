import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailingServer } from '../../scripts/support/campaigns.ts'
import { type Client, createClient } from '../../scripts/support/client.ts'
import type { Server } from '../../scripts/support/server.ts'
import { type Conduct, type FakeProvider, startFakeProvider } from '../support/fake-provider.ts'
import { waitForEnd, givenCampaign } from '../support/floor-campaign.ts'

const people = 1200

/** The results of successive calls, each for a hundred people. A repeated call is accepted. */
const faults: readonly Conduct[] = [
  'accept and cut',
  'cut',
  'accept and hang',
  { status: 503 },
  { status: 500, name: 'application_error' },
  { status: 409, name: 'concurrent_idempotent_requests' },
  { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '2' } },
]

let provider: FakeProvider
let stateDir: string
let server: Server
let client: Client

beforeAll(async () => {
  provider = await startFakeProvider()
  stateDir = await mkdtemp(join(tmpdir(), 'campaign-faults-'))
  server = await startMailingServer(provider, { stateDir })
  client = createClient(server.url, server.rootToken)
})
afterAll(async () => {
  await server?.stop()
  await provider?.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
})

describe('a campaign at a provider with faults', () => {
  it('reaches each person exactly once, after any faults of the calls', async () => {
    const played = new Map<string, Conduct>()
    provider.respondWith((call, nth) => {
      const fault = nth === 1 ? faults[played.size] : undefined
      if (fault === undefined) return 'accept'
      played.set(call.key, fault)
      return fault
    })
    const id = await givenCampaign(client, people)
    await client.post(`/v1/campaigns/${id}/send-now`, {})
    expect(await waitForEnd(client, id)).toMatchObject({
      status: 'sent',
      total_recipients: people,
      sent_count: people,
      failed_count: 0,
    })
    expect([...played.values()]).toEqual(faults)
    expect(provider.counts().size).toBe(people)
    expect([...provider.counts().values()].filter((times) => times !== 1)).toEqual([])
  })

  it('stops when the provider refuses the key, and sends the rest once the key is repaired', async () => {
    provider.forget()
    let calls = 0
    provider.respondWith(() => (++calls > 3 ? { status: 403, name: 'invalid_api_key' } : 'accept'))
    const id = await givenCampaign(client, people)
    await client.post(`/v1/campaigns/${id}/send-now`, {})
    const stopped = await waitForEnd(client, id)
    expect(stopped).toMatchObject({ status: 'failed', error_message: expect.stringContaining('invalid_api_key') })
    expect(provider.accepted()).toHaveLength(300)
    provider.respondWith('accept')
    await client.post(`/v1/campaigns/${id}/retry-failed`, {})
    expect(await waitForEnd(client, id)).toMatchObject({ status: 'sent', sent_count: people, failed_count: 0 })
    expect([...provider.counts().values()].filter((times) => times !== 1)).toEqual([])
    expect(provider.counts().size).toBe(people)
  })
})
