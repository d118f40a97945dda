import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Page } from './client.ts'
import type { Print, Tenant } from './demo-import.ts'

interface Made {
  id: string
}

interface Campaign extends Made {
  status: string
  total_recipients: number
  sent_count: number
  skipped_count: number
  error_message: string
}

interface Captured {
  id: string
  recipient?: string
  to?: string
  subject: string
}

interface Recipient {
  address: string
  state: string
  clicked_at: string | null
}

const expression = 'stats.order_count >= 2 && user.has_email'
const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15'
const patienceMs = 120_000

async function eventually<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(200)) {
    const value = await ask()
    if (holds(value)) return value
  }
  throw new Error('The campaign did not end in two minutes.')
}

/** Sends a campaign to the customers whom an expression selects. One of them follows a link. */
export async function runCampaign(client: Client, url: string, tenant: Tenant, print: Print): Promise<void> {
  const segment = await client.post<Made>('/v1/segments', {
    ...tenant,
    name: 'Regulars',
    communication_type: 'transactional',
    communication_channel: 'email',
    expression,
  })
  print(`segment of those for whom ${expression}`)
  const message = await client.post<Made>('/v1/email-messages', {
    ...tenant,
    title: 'Thank you',
    subject: { en: 'Thank you, {{ customer.first_name }}' },
    type: 'campaign',
  })
  await client.patch(`/v1/email-messages/${message.id}`, {
    blocks: [
      { type: 'heading', data: { text: { en: 'Back at the harbour' }, level: 1 } },
      { type: 'rich_text', data: { text: { en: '<p>Dear {{ customer.full_name }}, the market is open again.</p>' } } },
      { type: 'button', data: { text: { en: 'What is new' }, url: 'https://example.com/market' } },
    ],
  })
  const campaign = await client.post<Campaign>('/v1/campaigns', {
    ...tenant,
    segment_id: segment.id,
    email_message_id: message.id,
    name: 'Thank you',
    channel: 'email',
  })
  const path = `/v1/campaigns/${campaign.id}`
  const started = performance.now()
  await client.post(`${path}/send-now`, {})
  const ended = await eventually(
    () => client.get<Campaign>(path),
    ({ status }) => !['calculating', 'sending'].includes(status),
  )
  if (ended.status !== 'sent') throw new Error(`The campaign is ${ended.status}: ${ended.error_message}`)
  print(
    `campaign ${campaign.id} is ${ended.status} after ${((performance.now() - started) / 1000).toFixed(1)} s: ${ended.sent_count} of ${ended.total_recipients} sent, ${ended.skipped_count} skipped`,
  )

  const outbox = (await fetch(`${url}/dev/outbox.json?channel=email`).then((response) =>
    response.json(),
  )) as Page<Captured>
  const [mail] = outbox.results
  const capturedMail = (await fetch(`${url}/dev/outbox/${mail?.id}.json`).then((response) => response.json())) as {
    html: string
  }
  print(`${url}/dev/outbox shows ${outbox.count} mails, among them: ${mail?.subject}`)

  const link = /href="(http[^"]+\/t\/c\/[^"]+)"/.exec(capturedMail.html)?.[1] ?? ''
  // A visit within two seconds of sending counts as a program.
  await wait(2500)
  const followed = await fetch(link, { redirect: 'manual', headers: { 'user-agent': phone } })
  print(`its link leads to ${followed.headers.get('location')}; a transactional message has no link to unsubscribe`)
  const [recipient] = await eventually(
    async () =>
      (await client.get<Page<Recipient>>(`${path}/recipients?state=sent&page_size=500`)).results.filter(
        (one) => one.clicked_at,
      ),
    (found) => found.length > 0,
  )
  print(`${recipient?.address} clicked at ${recipient?.clicked_at}`)
  const stats = await client.get<Record<string, number>>(`${path}/stats`)
  const names = ['sent', 'failed', 'delivered', 'opened', 'clicked', 'open_rate', 'click_rate']
  print(`stats: ${names.map((name) => `${name} ${stats[name]}`).join(', ')}`)
}
