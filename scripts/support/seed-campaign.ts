import { setTimeout as wait } from 'node:timers/promises'
import type { CampaignEventsMessage } from '../../src/context.ts'
import type { RecipientEvent } from '../../src/domain/campaigns/recipient-events.ts'
import type { Client, Page } from './client.ts'
import { type DemoEdition, type Make, visitsPath } from './seed-rows.ts'

interface Campaign {
  id: string
  status: string
  error_message: string
}

interface Stats {
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

/** Sends a message in five languages to the segment. Returns the id of the campaign. */
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
  const message = await root.get<{ blocks: unknown[] }>(`/v1/email-messages/${email_message_id}`)
  if (message.blocks.length === 0) await root.patch(`/v1/email-messages/${email_message_id}`, { blocks })
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

const patienceMs = 60_000

async function eventually<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<void> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(150)) if (holds(await ask())) return
  throw new Error('The campaign of the demonstration data did not end in a minute.')
}

/** Six recipients open the message. Three of them follow its link, and one unsubscribes. */
export async function visitCampaign(root: Client, campaign_id: string): Promise<void> {
  const path = `/v1/campaigns/${campaign_id}`
  await eventually(
    async () => {
      const { status, error_message } = await root.get<Campaign>(path)
      if (!['calculating', 'sending', 'sent'].includes(status))
        throw new Error(`The campaign is ${status}: ${error_message}`)
      return status
    },
    (status) => status === 'sent',
  )
  const before = await root.get<Stats>(`${path}/stats`)
  if (before.clicked > 0 && before.unsubscribed > 0) return
  const { results } = await root.get<Page<{ id: string; reference: string }>>('/dev/outbox.json?channel=email')
  const at = Date.now()
  const events = results.slice(0, 6).map(({ reference }, index): RecipientEvent => {
    const n = Number(reference.slice(`${campaign_id}-`.length))
    return { n, type: index % 2 === 0 ? 'clicked' : 'opened', at }
  })
  const message: CampaignEventsMessage = { type: 'campaign.events', campaign_id, events }
  await root.post(visitsPath, message)
  const { html } = await root.get<{ html: string }>(`/dev/outbox/${results[1]?.id}.json`)
  const link = /"(http[^"]+\/t\/u\/[^"]+)"/.exec(html)?.[1] ?? ''
  await fetch(link, { method: 'POST', body: 'List-Unsubscribe=One-Click' })
}

/** Waits until segments see the visits, which happens last. */
export async function waitForVisits(root: Client, organization_id: string): Promise<void> {
  const expression = 'size(campaigns.opened) > 0 && size(campaigns.clicked) == 0'
  await eventually(
    () => root.post<Validation>('/v1/segments/validate-cel', { organization_id, expression }),
    ({ estimated_user_count }) => estimated_user_count === 3,
  )
}
