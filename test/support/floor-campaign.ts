import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../../scripts/support/client.ts'

interface Campaign {
  id: string
  status: string
  total_recipients: number
  sent_count: number
  failed_count: number
  error_message: string
}

/** A campaign to so many people, over the API of a service that has the floor of the benches. */
export async function givenCampaign(client: Client, people: number): Promise<string> {
  const made = (path: string, body: unknown) => client.post<{ id: string }>(path, body)
  const { id: organization_id } = await made('/v1/organizations', { name: 'Nordlys' })
  const { id: event_id } = await made('/v1/events', { organization_id, name: 'Nordlys' })
  const { id: edition_id } = await made('/v1/editions', { organization_id, event_id, name: '2027' })
  for (let from = 0; from < people; from += 5000)
    await client.post('/floor/segments/people', { organization_id, from, count: Math.min(5000, people - from) })
  const { id: segment_id } = await made('/v1/segments', {
    organization_id,
    name: 'Everyone',
    communication_type: 'transactional',
    communication_channel: 'email',
    expression: 'user.is_active',
  })
  const { id: email_message_id } = await made('/v1/email-messages', {
    organization_id,
    edition_id,
    title: 'News',
    subject: { en: 'News' },
    type: 'campaign',
  })
  await client.patch(`/v1/email-messages/${email_message_id}`, {
    blocks: [{ type: 'rich_text', data: { text: { en: '<p>Hello {{ customer.first_name }}</p>' } } }],
  })
  const fields = { organization_id, edition_id, segment_id, email_message_id, name: 'News', channel: 'email' }
  return (await made('/v1/campaigns', fields)).id
}

/** The campaign when it is over, or as it is after minutes of waiting. */
export async function endOf(client: Client, id: string): Promise<Campaign> {
  const deadline = Date.now() + 200_000
  for (;;) {
    await wait(1000)
    const campaign = await client.get<Campaign>(`/v1/campaigns/${id}`)
    if (!['calculating', 'sending'].includes(campaign.status) || Date.now() > deadline) return campaign
  }
}
