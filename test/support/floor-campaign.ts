import { setTimeout as wait } from 'node:timers/promises'
import { seedCampaignParts } from '../../scripts/support/campaigns.ts'
import type { Client } from '../../scripts/support/client.ts'

interface Campaign {
  id: string
  status: string
  total_recipients: number
  sent_count: number
  failed_count: number
  error_message: string
}

/** Sends a campaign to this many people, over the API of a service that has the floor of the benches. */
export async function givenCampaign(client: Client, people: number): Promise<string> {
  const parts = await seedCampaignParts(client, people, '<p>Hello {{ customer.first_name }}</p>')
  return (await client.post<{ id: string }>('/v1/campaigns', { ...parts, name: 'News', channel: 'email' })).id
}

/** Waits for the end of the campaign, for some minutes at most. */
export async function waitForEnd(client: Client, id: string): Promise<Campaign> {
  const deadline = Date.now() + 200_000
  for (;;) {
    await wait(1000)
    const campaign = await client.get<Campaign>(`/v1/campaigns/${id}`)
    if (!['calculating', 'sending'].includes(campaign.status) || Date.now() > deadline) return campaign
  }
}
