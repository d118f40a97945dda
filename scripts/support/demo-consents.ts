import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Page } from './client.ts'
import type { Print, Tenant } from './demo-import.ts'
import type { ExternalOrder } from './external-order.ts'
import type { Receiver } from './receiver.ts'

interface Options {
  admin: Client
  receiver: Receiver
  tenant: Tenant
  /** An order that is years old, so a consent that was given with it has expired. */
  order: ExternalOrder
}

interface Entry {
  status: string
}

const path = '/consents'
const kinds = ['consent.given', 'consent.skipped', 'consent.withdrawn', 'consent.expired', 'purchase.action']
/** The sweep that runs each minute expires consents, so this is longer than a minute. */
const patienceMs = 150_000

const readKind = (body: string): string => (JSON.parse(body) as { type: string }).type

async function createNewsletter(admin: Client, tenant: Tenant): Promise<string> {
  const { id } = await admin.post<{ id: string }>('/v1/consents', {
    ...tenant,
    key: 'newsletter',
    name: 'Newsletter',
    title: { en: 'News' },
    text: { en: 'We may write to you about our next markets.' },
    type: 'marketing',
    channels: ['email'],
    expires_after_days: 730,
  })
  return id
}

/** Imports an old order again under another id, with the consent that its customer gave then. */
async function importConsent(admin: Client, tenant: Tenant, order: ExternalOrder): Promise<void> {
  const orders = [{ ...order, external_id: `${order.external_id}-newsletter`, consents: { newsletter: true } }]
  const body = { ...tenant, source: 'online-retail', emit_webhooks: true, orders }
  const { results } = await admin.post<{ results: { action: string }[] }>('/v1/data-imports/external-orders', body)
  if (results[0]?.action !== 'created') throw new Error(`The order was not made: ${JSON.stringify(results)}`)
}

/** Answers consents, lets one expire and uses a ticket, and shows that all events arrive at an endpoint. */
export async function followConsents({ admin, receiver, tenant, order }: Options, print: Print): Promise<void> {
  const endpoint = await admin.post<{ secret: string }>('/v1/webhooks', {
    ...tenant,
    name: 'Consents',
    url: receiver.url(path),
    events: kinds,
  })
  receiver.trust(path, endpoint.secret)
  const consent = await createNewsletter(admin, tenant)
  const { results } = await admin.get<Page<{ id: string }>>(`/v1/user?organization_id=${tenant.organization_id}`)
  const [first, second] = results
  const recordConsent = (user: string | undefined, verb: string) =>
    admin.post(`/v1/user/${user}/consents/${consent}/${verb}`, { language: 'en', method: 'admin', source: 'office' })
  await recordConsent(first?.id, 'give')
  await recordConsent(first?.id, 'withdraw')
  await recordConsent(second?.id, 'skip')
  await importConsent(admin, tenant, order)
  const active = `/v1/purchases?edition_id=${tenant.edition_id}&status=active&page_size=1`
  const purchase = (await admin.get<Page<{ id: string }>>(active)).results[0]
  await admin.post(`/v1/purchases/${purchase?.id}/uses`, {})
  print(`consent ${consent} was given and withdrawn by one customer, skipped by another, imported for a third;`)
  print(`purchase ${purchase?.id} was used`)
  const missing = () => {
    const arrivedKinds = new Set(receiver.posts(path).map(({ body }) => readKind(body)))
    return kinds.filter((kind) => !arrivedKinds.has(kind))
  }
  for (const deadline = Date.now() + patienceMs; missing().length > 0; await wait(200))
    if (Date.now() > deadline) throw new Error(`${missing().join(', ')} did not arrive.`)
  const posts = receiver.posts(path)
  if (posts.some(({ verified }) => verified.length === 0)) throw new Error('A signature is wrong.')
  for (const kind of kinds)
    print(`${kind}: ${posts.filter(({ body }) => readKind(body) === kind).length}, with right signatures`)
  const { results: records } = await admin.get<Page<Entry>>(`/v1/user/${first?.id}/consents/${consent}/records`)
  print(`its records of the first: ${records.map(({ status }) => status).join(', ')}`)
}
