import type { Client } from './client.ts'
import { type Server, startServer } from './server.ts'

/** A server with the floor of the benches, whose messages go to this provider. */
export const startMailingServer = (
  provider: { url: string },
  options: { stateDir: string; signal?: AbortSignal },
): Promise<Server> =>
  startServer({
    port: 0,
    ...options,
    env: {
      RATE_LIMIT_PER_MINUTE: '0',
      EMAIL_PROVIDER: 'resend',
      EMAIL_API_BASE: provider.url,
      EMAIL_API_KEY: 're_local',
      SMS_PROVIDER: 'gatewayapi',
      SMS_API_BASE: provider.url,
      SMS_API_KEY: 'gw_local',
    },
    program: 'scripts/bench/worker.ts',
  })

const peopleACall = 5000

/** What a campaign to everyone of a new organisation refers to. */
interface CampaignPlace {
  organization_id: string
  edition_id: string
  segment_id: string
}

export interface CampaignParts extends CampaignPlace {
  email_message_id: string
}

/** A new organisation with so many people, and the segment of all of them. */
export async function seedCampaignPlace(
  client: Client,
  people: number,
  channel: 'email' | 'sms',
): Promise<CampaignPlace> {
  const made = (path: string, body: unknown) => client.post<{ id: string }>(path, body)
  const { id: organization_id } = await made('/v1/organizations', { name: `Nordlys ${people}` })
  const { id: event_id } = await made('/v1/events', { organization_id, name: 'Nordlys' })
  const { id: edition_id } = await made('/v1/editions', { organization_id, event_id, name: '2027' })
  for (let from = 0; from < people; from += peopleACall) {
    const count = Math.min(peopleACall, people - from)
    await client.post('/floor/segments/people', { organization_id, from, count })
  }
  const { id: segment_id } = await made('/v1/segments', {
    organization_id,
    name: 'Everyone',
    communication_type: 'transactional',
    communication_channel: channel,
    expression: 'user.is_active',
  })
  return { organization_id, edition_id, segment_id }
}

/** The same with the message of a campaign by e-mail. */
export async function seedCampaignParts(client: Client, people: number, text: string): Promise<CampaignParts> {
  const place = await seedCampaignPlace(client, people, 'email')
  const { organization_id, edition_id } = place
  const made = (path: string, body: unknown) => client.post<{ id: string }>(path, body)
  const { id: email_message_id } = await made('/v1/email-messages', {
    organization_id,
    edition_id,
    title: 'News',
    subject: { en: 'News for {{ customer.first_name }}' },
    type: 'campaign',
  })
  await client.patch(`/v1/email-messages/${email_message_id}`, {
    blocks: [{ type: 'rich_text', data: { text: { en: text } } }],
  })
  return { ...place, email_message_id }
}
