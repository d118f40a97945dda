import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, createClient } from '../../scripts/support/client.ts'
import { everyMinute, startServer } from '../../scripts/support/server.ts'

interface CreatedResource {
  id: string
}

/** Starts the service as `npm start` does, with its own state and an edition with a message for receipts. */
export interface MailingPlace {
  url: string
  client: Client
  organization_id: string
  edition_id: string
  sweep: () => Promise<unknown>
  close: () => Promise<void>
}

const receipt = (organization_id: string) => ({
  organization_id,
  title: 'Receipt',
  subject: { en: 'Your order {{ order.number }}', da: 'Din ordre {{ order.number }}' },
  type: 'receipt',
  scope: 'template',
})

const content = {
  blocks: [
    {
      type: 'rich_text',
      data: {
        text: { en: '<p>Thank you, {{ customer.first_name }}.</p>', da: '<p>Tak, {{ customer.first_name }}.</p>' },
      },
    },
    { type: 'order_summary', data: {} },
  ],
}

export async function openMailing(env: Record<string, string>): Promise<MailingPlace> {
  const stateDir = await mkdtemp(join(tmpdir(), 'slow-mailing-'))
  const server = await startServer({ port: 0, stateDir, env: { RATE_LIMIT_PER_MINUTE: '0', ...env } })
  const client = createClient(server.url, server.rootToken)
  const { id: organization_id } = await client.post<CreatedResource>('/v1/organizations', { name: 'Nordlys' })
  const { id: event_id } = await client.post<CreatedResource>('/v1/events', { organization_id, name: 'Nordlys' })
  const { id: edition_id } = await client.post<CreatedResource>('/v1/editions', {
    organization_id,
    event_id,
    name: 'Nordlys 2026',
  })
  const message = await client.post<CreatedResource>('/v1/email-messages', receipt(organization_id))
  await client.patch(`/v1/email-messages/${message.id}`, content)
  await client.patch(`/v1/editions/${edition_id}`, { transaction_receipt_email_id: message.id })
  return {
    url: server.url,
    client,
    organization_id,
    edition_id,
    sweep: () => fetch(server.url + everyMinute).then((answer) => answer.text()),
    close: async () => {
      await server.stop()
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Imports this many orders, asks for their receipts, and returns the addresses. */
export async function sellWithReceipts(place: MailingPlace, count: number, prefix: string): Promise<string[]> {
  const { organization_id, edition_id, client } = place
  const orders = Array.from({ length: count }, (_, at) => ({
    external_id: `${prefix}-${at}`,
    order_number: `${prefix}-${at}`,
    currency: 'dkk',
    customer: {
      email: `${prefix}-${at}@example.com`,
      first_name: 'Astrid',
      last_name: 'Holm',
      locale: at % 2 ? 'da' : 'en',
    },
    items: [{ product: 'Day ticket', variant: 'Saturday', quantity: 2, unit_price: 225 }],
  }))
  const body = { organization_id, edition_id, source: 'slow', send_receipts: true, orders }
  await client.post('/v1/data-imports/external-orders', body)
  return orders.map(({ customer }) => customer.email)
}

/** Waits until the condition holds. The sweep sometimes replaces lost messages of the local queues. */
export async function eventually<T>(
  place: MailingPlace,
  ask: () => T | Promise<T>,
  holds: (value: T) => boolean,
  seconds = 60,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000
  for (let turn = 1; ; turn++) {
    const value = await ask()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`It did not come true in ${seconds} s: ${JSON.stringify(value)}`)
    if (turn % 20 === 0) await place.sweep()
    await wait(250)
  }
}
