import type { Client } from './client.ts'
import { type Server, startServer } from './server.ts'

/** Settings that send messages to the provider. */
export const buildMailingVariables = (provider: { url: string }) => ({
  RATE_LIMIT_PER_MINUTE: '0',
  EMAIL_PROVIDER: 'resend',
  EMAIL_API_BASE: provider.url,
  EMAIL_API_KEY: 're_local',
  SMS_PROVIDER: 'gatewayapi',
  SMS_API_BASE: provider.url,
  SMS_API_KEY: 'gw_local',
})

/** Starts a server whose messages go to the provider. It runs the program of the benches, which can write rows. */
export const startMailingServer = (
  provider: { url: string },
  options: { stateDir: string; signal?: AbortSignal },
): Promise<Server> =>
  startServer({ port: 0, ...options, env: buildMailingVariables(provider), program: 'scripts/bench/worker.ts' })

const peopleInATransaction = 10_000
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Builds customers who agreed to the newsletter. The API would need minutes for 100,000. */
function buildPeople(organizationId: string, consentId: string, first: number, count: number) {
  const id = `'usr_' || printf('%016d', i) || hex(randomblob(4)) || 'A' ||
    substr('${letters}', 1 + abs(random()) % 32, 1)`
  const users = `
    with recursive numbers (i) as (select ${first} union all select i + 1 from numbers where i + 1 < ${first + count})
    insert into users (id, organization_id, email, phone_number, first_name, last_name, locale, msg_channel,
        search_text, created_at, modified_at)
      select ${id}, ?, 'guest-' || i || '@example.com', '+4670' || printf('%07d', i), 'Guest', 'No ' || i, 'en',
        'email', 'guest ' || i, ${Date.now()}, ${Date.now()}
      from numbers`
  const consents = `
    insert into consent_records (id, organization_id, consent_id, consent_version, content_hash, user_id, status,
        method, source, language, occurred_at, record_hash, is_latest)
      select 'cre' || substr(users.id, 4), organization_id, ?, 1, '', users.id, 'given', 'import', 'bench', 'en',
        ${Date.now()}, '', 1
      from users where organization_id = ? and seq in
        (select seq from users where organization_id = ? order by seq desc limit ${count})`
  return [
    { sql: users, params: [organizationId] },
    { sql: consents, params: [consentId, organizationId, organizationId] },
  ]
}

export interface CampaignPlace {
  organization_id: string
  edition_id: string
  segment_id: string
}

/** Makes an organisation with so many customers who agreed to marketing, and the segment of all of them. */
export async function seedCampaignPlace(
  client: Client,
  people: number,
  channel: 'email' | 'sms',
): Promise<CampaignPlace> {
  const create = async (path: string, body: unknown) => (await client.post<{ id: string }>(path, body)).id
  const organization_id = await create('/v1/organizations', { name: `Nordlys ${people}` })
  const event_id = await create('/v1/events', { organization_id, name: 'Nordlys' })
  const edition_id = await create('/v1/editions', { organization_id, event_id, name: '2027' })
  const consent_id = await create('/v1/consents', {
    organization_id,
    key: 'newsletter',
    name: 'Newsletter',
    text: { en: 'Write to me.' },
    type: 'marketing',
    channels: ['email', 'sms'],
  })
  for (let first = 0; first < people; first += peopleInATransaction) {
    const count = Math.min(peopleInATransaction, people - first)
    await client.post('/bench/sql', buildPeople(organization_id, consent_id, first, count))
  }
  const segment_id = await create('/v1/segments', {
    organization_id,
    name: 'Everyone',
    communication_type: 'marketing',
    communication_channel: channel,
    expression: 'user.is_active',
  })
  return { organization_id, edition_id, segment_id }
}

/** Adds the message of a campaign by e-mail. */
export async function seedCampaignParts(client: Client, people: number, text: string) {
  const place = await seedCampaignPlace(client, people, 'email')
  const { organization_id, edition_id } = place
  const { id: email_message_id } = await client.post<{ id: string }>('/v1/email-messages', {
    organization_id,
    edition_id,
    title: 'News',
    subject: { en: 'News for {{ customer.first_name }}' },
    type: 'campaign',
  })
  const blocks = [{ type: 'rich_text', data: { text: { en: text } } }]
  await client.patch(`/v1/email-messages/${email_message_id}`, { blocks })
  return { ...place, email_message_id }
}
