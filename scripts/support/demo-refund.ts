import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Page } from './client.ts'
import type { Print, Tenant } from './demo-import.ts'
import type { ExternalOrder } from './external-order.ts'
import type { FakeStripeServer } from './fake-stripe-server.ts'
import { signPost } from './fake-stripe.ts'
import type { Receiver } from './receiver.ts'

interface Options {
  admin: Client
  url: string
  receiver: Receiver
  stripe: FakeStripeServer
  tenant: Tenant
  order: ExternalOrder
}

interface Refund {
  id: string
  status: string
  refunded_amount: number
  currency: string
  provider_reference: string | null
}

interface Captured {
  to: string
  subject: string
}

const path = '/refunds'
const webhookSecret = 'whsec_of_the_demo'
const email = 'refunded@harbour.example'
const patienceMs = 120_000

async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(200)) {
    const value = await ask()
    if (value !== undefined) return value
  }
  throw new Error(`${what} did not come in two minutes.`)
}

/** Imports an order that was paid at Stripe, and returns the id of its purchase. */
async function sell({ admin, stripe, tenant, order }: Options, account: string): Promise<string> {
  await admin.patch(`/v1/editions/${tenant.edition_id}`, { merchant_account_id: account })
  const payment = stripe.store.pay({ amount: 4_500, currency: order.currency })
  const bought = {
    external_id: `${order.external_id}-refunded`,
    currency: order.currency,
    customer: { email, first_name: 'Ada', last_name: 'Holm' },
    items: [{ product: 'Market stall tour', quantity: 1, unit_price: 45 }],
    payment: { service: 'stripe', reference: payment.id },
  }
  const body = { ...tenant, source: 'online-retail', orders: [bought] }
  const { results } = await admin.post<{ results: { order_id: string }[] }>('/v1/data-imports/external-orders', body)
  const { purchases } = await admin.get<{ purchases: { id: string }[] }>(`/v1/orders/${results[0]?.order_id}`)
  const [purchase] = purchases
  if (!purchase) throw new Error('The order has no purchase.')
  return purchase.id
}

/** Lists the captured e-mails to an address. `to` also contains the name. */
async function listMailsTo(address: string, url: string): Promise<Captured[]> {
  const response = await fetch(new URL(`/dev/outbox.json?to=${encodeURIComponent(address)}`, url))
  const { results } = (await response.json()) as Page<Captured>
  return results
}

/** Posts every event of Stripe about the refund twice. */
async function postEvents(url: string, account: string, stripe: FakeStripeServer): Promise<void> {
  const events = stripe.store.events.flatMap((event) => [event, event])
  for (const event of events) {
    const response = await fetch(new URL(`/provider-events/stripe/${account}`, url), {
      method: 'POST',
      ...(await signPost(webhookSecret, event)),
    })
    if (response.status !== 200) throw new Error(`The event was answered with ${response.status}.`)
  }
}

/** Refunds a purchase through Stripe, and checks that the payment, the purchase, the event and the e-mail agree. */
export async function followRefund(options: Options, print: Print): Promise<void> {
  const { admin, url, receiver, stripe, tenant } = options
  const account = await admin.post<{ id: string }>('/v1/merchant-accounts', {
    organization_id: tenant.organization_id,
    name: 'Harbour Stripe',
    type: 'stripe',
    supported_currencies: ['gbp'],
    api_key: 'rk_test_HarbourGifts1234',
    webhook_secret: webhookSecret,
  })
  const events = ['purchase.action']
  const endpoint = { ...tenant, name: 'Refunds', url: receiver.url(path), events }
  receiver.trust(path, (await admin.post<{ secret: string }>('/v1/webhooks', endpoint)).secret)
  const purchase = await sell(options, account.id)

  const body = { reason: 'customer_request', cancel_purchase: true }
  const request = await admin.post<Refund>(`/v1/purchases/${purchase}/refund-requests`, body)
  const approved = await admin.post<Refund>(`/v1/refund-requests/${request.id}/approve`, {})
  print(`refund ${request.id} of purchase ${purchase}: ${request.status}, then ${approved.status}`)
  const paid = await eventually('The money', async () => {
    const now = await admin.get<Refund>(`/v1/refund-requests/${request.id}`)
    return now.status === 'completed' ? now : undefined
  })
  const amount = `${paid.refunded_amount} ${paid.currency}`
  print(`the fake of Stripe paid ${amount} back as ${paid.provider_reference}; the request is ${paid.status}`)
  const { status } = await admin.get<{ status: string }>(`/v1/purchases/${purchase}`)
  print(`the purchase is ${status}`)

  const post = await eventually('The event', async () =>
    receiver.posts(path).find(({ body: text }) => {
      const { data } = JSON.parse(text) as { data: { action: string; refund_request?: { id: string } } }
      return data.action === 'refunded' && data.refund_request?.id === request.id
    }),
  )
  if (post.verified.length === 0) throw new Error('The signature of the event is wrong.')
  print(`the event ${post.id} says purchase.action: refunded, and its signature is right`)
  const mails = () => listMailsTo(email, url)
  const mail = await eventually('The mail', async () => (await mails())[0])
  print(`a mail to ${mail.to} in /dev/outbox: ${mail.subject}`)

  await postEvents(url, account.id, stripe)
  const again = await admin.get<Refund>(`/v1/refund-requests/${request.id}`)
  const total = stripe.store.refunds.reduce((sum, refund) => sum + refund.amount, 0) / 100
  if (total !== paid.refunded_amount || again.refunded_amount !== total) throw new Error('The sums differ.')
  if ((await mails()).length !== 1) throw new Error('The mail came more than once.')
  print(`Stripe posted every event twice: ${total} ${paid.currency} are paid back, as before`)
}
