import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Page } from './client.ts'
import type { DemoEdition, Make } from './seed-rows.ts'

interface Campaign {
  id: string
  status: string
  error_message: string
}

interface Stats {
  opened: number
  clicked: number
  unsubscribed: number
}

interface Validation {
  estimated_user_count: number
}

const blocks = [
  {
    type: 'heading',
    data: {
      level: 1,
      text: {
        en: 'It has begun',
        da: 'Nu er vi i gang',
        se: 'Nu är vi i gång',
        nl: 'We zijn begonnen',
        pl: 'Zaczęło się',
      },
    },
  },
  {
    type: 'rich_text',
    data: {
      text: {
        en: '<p>Hello {{ customer.first_name }}, the gates are open.</p>',
        da: '<p>Hej {{ customer.first_name }}, portene er åbne.</p>',
        se: '<p>Hej {{ customer.first_name }}, grindarna är öppna.</p>',
        nl: '<p>Hallo {{ customer.first_name }}, de poorten zijn open.</p>',
        pl: '<p>Cześć {{ customer.first_name }}, bramy są otwarte.</p>',
      },
    },
  },
  {
    type: 'button',
    data: {
      text: { en: 'Programme', da: 'Program', se: 'Program', nl: 'Programma', pl: 'Program' },
      url: 'https://nordlys.example/programme',
    },
  },
]

const subject = {
  en: 'News from Nordlys',
  da: 'Nyt fra Nordlys',
  se: 'Nytt från Nordlys',
  nl: 'Nieuws van Nordlys',
  pl: 'Nowości z Nordlys',
}

/** A message in five languages that is on its way to the segment. Answers the id of the campaign. */
export async function startCampaign(
  root: Client,
  make: Make,
  { segment_id, ...tenant }: DemoEdition & { segment_id: string },
): Promise<string> {
  const email_message_id = await make('message', '/v1/email-messages', {
    ...tenant,
    title: 'It has begun',
    type: 'campaign',
    subject,
  })
  const known = await root.get<{ blocks: unknown[] }>(`/v1/email-messages/${email_message_id}`)
  if (known.blocks.length === 0) await root.patch(`/v1/email-messages/${email_message_id}`, { blocks })
  const campaign_id = await make('campaign', '/v1/campaigns', {
    ...tenant,
    segment_id,
    email_message_id,
    name: 'It has begun',
    channel: 'email',
  })
  await make('campaign.sent', `/v1/campaigns/${campaign_id}/send-now`, {})
  return campaign_id
}

const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15'
const patienceMs = 60_000

async function eventually<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(150)) {
    const value = await ask()
    if (holds(value)) return value
  }
  throw new Error('The campaign of the demonstration data did not end in a minute.')
}

/** Six recipients open the message, three of them follow its link, and one has had enough. */
export async function visitCampaign(root: Client, organization_id: string, campaignId: string): Promise<void> {
  const path = `/v1/campaigns/${campaignId}`
  const ended = await eventually(
    () => root.get<Campaign>(path),
    ({ status }) => !['calculating', 'sending'].includes(status),
  )
  if (ended.status !== 'sent') throw new Error(`The campaign is ${ended.status}: ${ended.error_message}`)
  const before = await root.get<Stats>(`${path}/stats`)
  if (before.clicked > 0 && before.unsubscribed > 0) return
  // What comes sooner than a person can is counted as a machine.
  await wait(2500)
  const { results } = await root.get<Page<{ id: string }>>('/dev/outbox.json?channel=email')
  const visit = (url: string, init: RequestInit = {}) =>
    fetch(url, { redirect: 'manual', headers: { 'user-agent': phone }, ...init })
  const visits = results.slice(0, 6).map(async ({ id }, index) => {
    const { html } = await root.get<{ html: string }>(`/dev/outbox/${id}.json`)
    const linkOf = (kind: 'o' | 'c' | 'u') => new RegExp(`"(http[^"]+/t/${kind}/[^"]+)"`).exec(html)?.[1] ?? ''
    await visit(linkOf('o'))
    if (index % 2 === 0) await visit(linkOf('c'))
    if (index === 1) await visit(linkOf('u'), { method: 'POST', body: 'List-Unsubscribe=One-Click' })
  })
  await Promise.all(visits)
  // What segments see of it comes last.
  const expression = 'size(campaigns.opened) > 0 && size(campaigns.clicked) == 0'
  await eventually(
    async () => ({
      ...(await root.get<Stats>(`${path}/stats`)),
      ...(await root.post<Validation>('/v1/segments/validate-cel', { organization_id, expression })),
    }),
    (now) => now.opened === 6 && now.clicked === 3 && now.unsubscribed === 1 && now.estimated_user_count === 3,
  )
}
