import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { EventKind } from '../event-kinds.ts'
import {
  answerBody,
  answerConsent,
  consentKeys,
  createCustomer,
  ensureConsent,
  importOrder,
  type Trigger,
} from './objects.ts'

export interface Recipe {
  /** The calls that cause the event, or the reason why none can. */
  how: string
  /** Null for an event that only an example can show. */
  run: ((trigger: Trigger) => Promise<void>) | null
}

const dayMs = 86_400_000

async function expireConsent(trigger: Trigger): Promise<void> {
  await ensureConsent(trigger, 'expiring')
  const occurred_at = new Date(Date.now() - 3 * dayMs).toISOString()
  await createCustomer(trigger, { consents: { [consentKeys.expiring]: { status: 'given', occurred_at } } })
}

async function withdrawConsent(trigger: Trigger): Promise<void> {
  const path = await answerConsent(trigger, 'give')
  await trigger.client.POST('/v1/user/{id}/consents/{consent_id}/withdraw', { params: { path }, body: answerBody })
}

async function useTicket(trigger: Trigger): Promise<void> {
  const { purchaseId } = await importOrder(trigger)
  await trigger.client.POST('/v1/purchases/{id}/uses', { params: { path: { id: purchaseId } }, body: {} })
}

async function updateOrder(trigger: Trigger): Promise<void> {
  await importOrder(trigger)
  await importOrder(trigger, 2)
}

async function cancelOrder(trigger: Trigger): Promise<void> {
  const { id } = await importOrder(trigger)
  await trigger.client.POST('/v1/orders/{id}/cancel', { params: { path: { id } }, body: {} })
}

async function payRefund(trigger: Trigger): Promise<void> {
  const { client, add } = trigger
  const { purchaseId } = await importOrder(trigger)
  const { data: refund } = await client.POST('/v1/purchases/{id}/refund-requests', {
    params: { path: { id: purchaseId } },
    body: { reason: 'customer_request', notify_customer: false },
  })
  add('refund request', refund.id)
  const params = { path: { id: refund.id } }
  // The refund policy may have approved it already.
  const isPending = refund.status === 'pending'
  const { data } = isPending
    ? await client.POST('/v1/refund-requests/{id}/approve', { params, body: {} })
    : { data: refund }
  if (data.service !== 'manual') return
  await client.POST('/v1/refund-requests/{id}/settle', { params, body: { reference: 'ecm trigger' } })
}

async function renameCustomer(trigger: Trigger): Promise<void> {
  const id = await createCustomer(trigger)
  await trigger.client.PATCH('/v1/user/{id}', { params: { path: { id } }, body: { first_name: 'Renamed' } })
}

async function mergeCustomers(trigger: Trigger): Promise<void> {
  const id = await createCustomer(trigger)
  const user_id = await createCustomer(trigger, { email: `ecm-${trigger.stamp}-other@example.com` })
  await trigger.client.POST('/v1/user/{id}/merge', { params: { path: { id } }, body: { user_id, dry_run: false } })
}

const text = (en: string, language: string): Record<string, string> => ({ en, [language]: en })

/** Creates a campaign to one person. */
async function createCampaign(trigger: Trigger): Promise<string> {
  const { client, tenant, stamp, recipient, add } = trigger
  const { data: edition } = await client.GET('/v1/editions/{id}', { params: { path: { id: tenant.edition_id } } })
  const language = edition.default_language
  await createCustomer(trigger, { email: recipient })
  const name = `ecm trigger ${stamp}`
  const { data: segment } = await client.POST('/v1/segments', {
    body: {
      ...tenant,
      name,
      communication_type: 'transactional',
      communication_channel: 'email',
      expression: `user.email == ${JSON.stringify(recipient)}`,
    },
  })
  add('segment', segment.id)
  const { data: message } = await client.POST('/v1/email-messages', {
    body: {
      ...tenant,
      title: name,
      subject: text('An example of ecm trigger', language),
      type: 'campaign',
    },
  })
  await client.PATCH('/v1/email-messages/{id}', {
    params: { path: { id: message.id } },
    body: { blocks: [{ type: 'rich_text', data: { text: text('<p>This is an example.</p>', language) } }] },
  })
  add('e-mail message', message.id)
  const { data: campaign } = await client.POST('/v1/campaigns', {
    body: { ...tenant, name, channel: 'email', segment_id: segment.id, email_message_id: message.id },
  })
  add('campaign', campaign.id)
  return campaign.id
}

const campaignWithinMs = 120_000

async function sendCampaign(trigger: Trigger): Promise<void> {
  const params = { path: { id: await createCampaign(trigger) } }
  await trigger.client.POST('/v1/campaigns/{id}/send-now', { params, body: {} })
  for (const deadline = Date.now() + campaignWithinMs; Date.now() < deadline; await wait(500)) {
    const { data } = await trigger.client.GET('/v1/campaigns/{id}', { params })
    if (data.status === 'sent') return
    if (data.status === 'failed') throw new Error(`The campaign failed: ${data.error_message}`)
  }
  throw new Error('The campaign was not sent within two minutes.')
}

const disabledWithinMs = 60_000

/** Creates an endpoint at this machine that answers 410, and waits until the service has switched it off. */
async function disableWebhook(trigger: Trigger): Promise<void> {
  const { client, tenant, add } = trigger
  const server = createServer((_, response) => void response.writeHead(410).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/gone`
  try {
    const { data: endpoint } = await client.POST('/v1/webhooks', {
      body: { ...tenant, name: 'ecm trigger', url, events: ['import.completed'] },
    })
    add('webhook', endpoint.id)
    const params = { path: { id: endpoint.id } }
    await importOrder(trigger)
    for (const deadline = Date.now() + disabledWithinMs; Date.now() < deadline; await wait(500)) {
      const { data } = await client.GET('/v1/webhooks/{id}', { params })
      if (!data.is_active) return
    }
    throw new Error('The endpoint was not switched off within a minute.')
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const walletExample: Recipe = { how: 'an example, because only a phone can cause it', run: null }
const providerExample: Recipe = { how: 'an example, because only a provider can cause it', run: null }

export const recipes: Readonly<Record<EventKind, Recipe>> = {
  'consent.given': {
    how: 'a customer gives a consent',
    run: async (trigger) => void (await answerConsent(trigger, 'give')),
  },
  'consent.skipped': {
    how: 'a customer skips a consent',
    run: async (trigger) => void (await answerConsent(trigger, 'skip')),
  },
  'consent.withdrawn': { how: 'a customer gives a consent and withdraws it', run: withdrawConsent },
  'consent.expired': {
    how: 'a customer gave a consent three days ago, which expires within a minute',
    run: expireConsent,
  },
  'purchase.action': { how: 'a ticket of an imported order is used', run: useTicket },
  'wallet.vendorA.pass-added': walletExample,
  'wallet.vendorA.pass-removed': walletExample,
  'wallet.vendorB.pass-added': walletExample,
  'order.created': { how: 'an order is imported', run: async (trigger) => void (await importOrder(trigger)) },
  'order.updated': { how: 'an order is imported, and again with another fee', run: updateOrder },
  'order.cancelled': { how: 'an imported order is cancelled', run: cancelOrder },
  'refund.completed': { how: 'a ticket of an imported order is refunded by hand', run: payRefund },
  'refund.failed': providerExample,
  'import.completed': { how: 'an order is imported', run: async (trigger) => void (await importOrder(trigger)) },
  'campaign.sent': { how: 'a campaign to one person is sent', run: sendCampaign },
  'message.bounced': providerExample,
  'message.complained': providerExample,
  'user.updated': { how: 'a customer is renamed', run: renameCustomer },
  'user.merged': { how: 'two customers are merged', run: mergeCustomers },
  'webhook.disabled': {
    how: 'an endpoint on this machine answers 410, for a service with ALLOW_INSECURE_WEBHOOKS=1',
    run: disableWebhook,
  },
}
