import { unzipSync } from 'fflate'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Page } from './client.ts'
import type { Print, Tenant } from './demo-import.ts'
import { createGoogleKeys, signCallback, exportSpki } from './google-callbacks.ts'
import type { Receiver } from './receiver.ts'

interface Issued {
  id: string
  serial_number: string
  add_url: string
}

interface Options {
  admin: Client
  url: string
  receiver: Receiver
  tenant: Tenant
}

const path = '/wallet'
const patienceMs = 60_000
const kinds = ['wallet.vendorA.pass-added', 'wallet.vendorA.pass-removed', 'wallet.vendorB.pass-added']

async function expectStatus(request: Promise<Response>, status: number): Promise<Response> {
  const response = await request
  if (response.status !== status)
    throw new Error(`${response.url} answered ${response.status}, not ${status}: ${await response.text()}`)
  return response
}

/** Acts as a phone with the link of a pass: downloads the package, registers for updates, and unregisters. */
async function addAndRemoveOnPhone(url: string, pass: Issued): Promise<void> {
  const downloaded = await expectStatus(fetch(new URL(new URL(pass.add_url).pathname, url)), 200)
  const files = unzipSync(new Uint8Array(await downloaded.arrayBuffer()))
  const fields = JSON.parse(new TextDecoder().decode(files['pass.json'])) as {
    passTypeIdentifier: string
    authenticationToken: string
  }
  const registration = `/wallet/apple/v1/devices/demo-phone/registrations/${fields.passTypeIdentifier}/${pass.serial_number}`
  const headers = { authorization: `ApplePass ${fields.authenticationToken}` }
  const target = new URL(registration, url)
  await expectStatus(fetch(target, { method: 'POST', headers, body: '{"pushToken":"demo-push"}' }), 201)
  await expectStatus(fetch(target, { method: 'DELETE', headers }), 200)
}

/** Sends the callback that Google sends when a person saves a pass. */
async function saveAtGoogle(url: string, edition: string, pass: Issued): Promise<void> {
  const keys = await createGoogleKeys()
  const put = (target: string, method: string, body: unknown) =>
    fetch(new URL(target, url), {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const root = { keyValue: await exportSpki(keys.root), keyExpiration: String(Date.now() + 86_400_000) }
  await expectStatus(put('/dev/wallet/google-keys', 'PUT', { keys: [root] }), 200)
  const callback = await signCallback(keys, {
    classId: `capture.${edition}`,
    objectId: `capture.${pass.serial_number}`,
    eventType: 'save',
    expTimeMillis: Date.now() + 600_000,
    count: 1,
    nonce: crypto.randomUUID(),
  })
  await expectStatus(put('/wallet/google/callback', 'POST', callback), 200)
  const forged = { ...callback, signedMessage: String(callback['signedMessage']).replace('save', 'del') }
  await expectStatus(put('/wallet/google/callback', 'POST', forged), 401)
}

/** Gives the edition a pass design, and enables passes for the product of a purchase. */
async function enableWallet(admin: Client, tenant: Tenant, purchaseId: string): Promise<void> {
  const { product } = await admin.get<{ product: { api_id: string } }>(`/v1/purchases/${purchaseId}`)
  await admin.patch(`/v1/products/${product.api_id}`, { is_wallet_enabled: true })
  await admin.post('/v1/pass-designs', {
    ...tenant,
    name: 'Night blue',
    background_color: '#102040',
    foreground_color: '#ffffff',
    label_color: '#c0d0ff',
  })
}

/** Issues passes of a purchase on both platforms, and shows that all wallet events arrive at an endpoint. */
export async function followWallet({ admin, url, receiver, tenant }: Options, print: Print): Promise<void> {
  const endpoint = await admin.post<{ secret: string }>('/v1/webhooks', {
    ...tenant,
    name: 'Wallets',
    url: receiver.url(path),
    events: kinds,
  })
  receiver.trust(path, endpoint.secret)
  const { results } = await admin.get<Page<{ id: string }>>(
    `/v1/orders?edition_id=${tenant.edition_id}&status=completed`,
  )
  const order = await admin.get<{ purchases: { id: string; status: string }[] }>(`/v1/orders/${results[0]?.id}`)
  const purchase = order.purchases.find(({ status }) => status === 'active')
  if (!purchase) throw new Error('No purchase is active.')
  await enableWallet(admin, tenant, purchase.id)
  const issue = (platform: string) => admin.post<Issued>(`/v1/purchases/${purchase.id}/wallet-passes`, { platform })
  const apple = await issue('apple')
  const google = await issue('google')
  print(`purchase ${purchase.id} is pass ${apple.id} for Apple, and ${google.id} for Google`)
  await addAndRemoveOnPhone(url, apple)
  await saveAtGoogle(url, tenant.edition_id, google)
  print(
    'a phone took the first in and dropped it; Google reported that the second was saved, and a forged callback got 401',
  )
  for (const deadline = Date.now() + patienceMs; receiver.posts(path).length < kinds.length; await wait(200))
    if (Date.now() > deadline) throw new Error('The events of wallets did not arrive in a minute.')
  const posts = receiver.posts(path)
  if (posts.some(({ verified }) => verified.length === 0)) throw new Error('A signature is wrong.')
  for (const kind of kinds) {
    const arrivals = posts.filter(({ body }) => (JSON.parse(body) as { type: string }).type === kind)
    if (arrivals.length === 0) throw new Error(`${kind} did not arrive.`)
    print(`${kind} arrived ${arrivals.length === 1 ? 'once' : `${arrivals.length} times`}, with a right signature`)
  }
}
