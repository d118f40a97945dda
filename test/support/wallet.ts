import { exports } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { unzipSync } from 'fflate'
import { products } from '../../src/db/schema/sales/catalog.ts'
import {
  type CallbackMessage,
  type GoogleKeys,
  makeGoogleKeys,
  signedCallback,
  spkiOf,
} from '../../scripts/support/google-callbacks.ts'
import { walletPasses, type walletRegistrations } from '../../src/db/schema/wallet.ts'
import { insertAll, update } from '../../src/db/write.ts'
import type { WalletPlatform } from '../../src/domain/wallet/wallet.ts'
import { call, post, type Reply, type Request } from './api.ts'
import { db, freshId, next, seededAt, seedEdition, seedOrganization, write } from './seed.ts'
import { seedTrade, type Trade } from './seed-commerce.ts'
import { seedEndpoint } from './seed-webhooks.ts'

export type PassRow = typeof walletPasses.$inferSelect
export type RegistrationRow = typeof walletRegistrations.$inferSelect

export type { GoogleKeys }

interface Place {
  organization: string
  edition: string
}

/** Makes the product of a purchase one for the wallet, with a design. */
export async function enableWallet(place: Place, purchase: string): Promise<void> {
  const product = sql`(select product_id from purchases where id = ${purchase})`
  await write(
    update(products, { is_wallet_enabled: 1 }, sql`id = ${product}`),
    sql`insert into pass_designs (id, organization_id, edition_id, product_id, name, design, created_at, modified_at)
      values (${freshId('pass_design')}, ${place.organization}, ${place.edition}, ${product}, 'Night blue',
        '{"background_color":"#102040","logo_text":"Nordlys"}', ${seededAt}, ${seededAt})`,
  )
}

/** A purchase whose product is for the wallet, in an edition with a design for it. */
async function seedWalletTrade(place: Place): Promise<Trade> {
  const trade = await seedTrade(place)
  await enableWallet(place, trade.purchase)
  return trade
}

/** One more purchase like another, in the same order. */
export async function seedPurchaseLike(purchase: string): Promise<string> {
  const id = freshId('purchase')
  const columns = sql`organization_id, edition_id, order_id, user_id, product_id, status, price_minor, deposit_minor,
    handling_fee_minor, created_at, modified_at`
  await write(
    sql`insert into purchases (id, ${columns}) select ${id}, ${columns} from purchases where id = ${purchase}`,
  )
  return id
}

/** Passes of one purchase, void unless told: rows for lists. */
export async function seedPasses(
  place: Place,
  purchase: string,
  count: number,
  columns: Partial<PassRow> = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const at = seededAt + Math.floor(next() / 3) * 1000
    return {
      id: freshId('wallet_pass'),
      organization_id: place.organization,
      edition_id: place.edition,
      purchase_id: purchase,
      platform: 'apple' as const,
      provider: 'vendorA' as const,
      serial_number: freshId('request'),
      status: 'voided' as const,
      change_number: 0,
      changed_at: at,
      voided_at: at,
      created_at: at,
      modified_at: at,
      ...columns,
    }
  })
  await write(...insertAll(walletPasses, rows))
  return rows.map(({ id }) => id)
}

export interface Pass {
  id: string
  serial: string
  token: string
  purchase: string
  organization: string
  edition: string
  user: string
  add_url: string
}

/** A purchase in an organisation of its own, with an endpoint for everything that wallets tell. */
export async function givenWalletPurchase(): Promise<Trade & Place> {
  const organization = await seedOrganization()
  const place = { organization: organization.id, edition: await seedEdition(organization) }
  await seedEndpoint(place, {
    events: ['wallet.vendorA.pass-added', 'wallet.vendorA.pass-removed', 'wallet.vendorB.pass-added'],
  })
  return { ...place, ...(await seedWalletTrade(place)) }
}

/** The token inside a package: a phone has it from there. */
export const tokenOf = async (add_url: string): Promise<string> => {
  const fields = passJsonOf(await download(add_url))
  return fields['authenticationToken'] as string
}

export async function issue(purchase: Trade & Place, platform: WalletPlatform): Promise<Pass> {
  const reply = await post(`/v1/purchases/${purchase.purchase}/wallet-passes`, { platform })
  if (reply.status !== 201) throw new Error(reply.text)
  const { id, serial_number: serial, add_url } = reply.body
  const token = platform === 'apple' ? await tokenOf(add_url) : ''
  return { ...purchase, id, serial, token, add_url }
}

export const givenPass = async (platform: WalletPlatform = 'apple'): Promise<Pass> =>
  issue(await givenWalletPurchase(), platform)

export const passRow = async (id: string): Promise<PassRow> => {
  const row = await db().first(sql<PassRow>`select * from wallet_passes where id = ${id}`)
  if (!row) throw new Error('there is no such pass')
  return row
}

export const registrationsOf = (passId: string): Promise<RegistrationRow[]> =>
  db().all(sql<RegistrationRow>`select * from wallet_registrations where pass_id = ${passId} order by device_id`)

const passType = 'pass.capture'

const registrationPath = (pass: Pick<Pass, 'serial'>, device: string) =>
  `/wallet/apple/v1/devices/${device}/registrations/${passType}/${pass.serial}`

type Phone = Omit<Request, 'token'> & { auth?: string; push?: string }

const phone = (path: string, pass: Pick<Pass, 'token'>, { auth, ...request }: Phone): Promise<Reply> =>
  call(path, {
    ...request,
    token: null,
    headers: { authorization: auth ?? `ApplePass ${pass.token}`, ...request.headers },
  })

export const register = (pass: Pass, device: string, { push = `push-${device}`, ...request }: Phone = {}) =>
  phone(registrationPath(pass, device), pass, { method: 'POST', body: { pushToken: push }, ...request })

export const unregister = (pass: Pass, device: string, request: Phone = {}) =>
  phone(registrationPath(pass, device), pass, { method: 'DELETE', ...request })

export const changedOn = (device: string, since?: string) =>
  call(`/wallet/apple/v1/devices/${device}/registrations/${passType}${since ? `?passesUpdatedSince=${since}` : ''}`, {
    token: null,
  })

export const latest = (pass: Pass, request: Phone = {}) =>
  rawPhone(`/wallet/apple/v1/passes/${passType}/${pass.serial}`, pass, request)

/** As `phone`, for answers that are no text. */
async function rawPhone(path: string, pass: Pick<Pass, 'token'>, { auth, headers }: Phone) {
  const given = { authorization: auth ?? `ApplePass ${pass.token}`, ...headers }
  return exports.default.fetch(new Request(`https://api.example${path}`, { headers: given }))
}

export async function download(addUrl: string): Promise<Uint8Array> {
  const { pathname } = new URL(addUrl)
  const response = await exports.default.fetch(new Request(`https://api.example${pathname}`))
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return new Uint8Array(await response.arrayBuffer())
}

export function passJsonOf(bytes: Uint8Array): Record<string, unknown> {
  const files = unzipSync(bytes)
  return JSON.parse(new TextDecoder().decode(files['pass.json'])) as Record<string, unknown>
}

/** Keys of Google's for this test, whose root the service knows for a year. */
export async function givenGoogleKeys(): Promise<GoogleKeys> {
  const keys = await makeGoogleKeys()
  await setRootKeys([keys.root], Date.now() + 31_536_000_000)
  return keys
}

export async function setRootKeys(pairs: readonly CryptoKeyPair[], expiresAt: number): Promise<Reply> {
  const keys = await Promise.all(
    pairs.map(async (pair) => ({ keyValue: await spkiOf(pair), keyExpiration: String(expiresAt) })),
  )
  return call('/dev/wallet/google-keys', { method: 'PUT', token: null, body: { keys } })
}

export interface CallbackOptions {
  sender?: string
  issuer?: string
  keyExpires?: number
  message?: Partial<CallbackMessage>
}

/** The body of a callback about a pass. */
export const callbackBody = (
  keys: GoogleKeys,
  pass: Pick<Pass, 'serial' | 'edition'>,
  eventType: 'save' | 'del',
  { message, ...signing }: CallbackOptions = {},
): Promise<Record<string, unknown>> =>
  signedCallback(
    keys,
    {
      classId: `capture.${pass.edition}`,
      objectId: `capture.${pass.serial}`,
      eventType,
      expTimeMillis: Date.now() + 600_000 + next(),
      count: 1,
      nonce: crypto.randomUUID(),
      ...message,
    },
    signing,
  )

export const callback = (body: unknown): Promise<Reply> =>
  call('/wallet/google/callback', { method: 'POST', token: null, body })

/** The kinds of the wallet events of an organisation, in order. */
export const walletEvents = async (organization: string): Promise<{ kind: string; payload: string }[]> =>
  db().all(sql<{ kind: string; payload: string }>`select kind, payload from webhook_events
    where organization_id = ${organization} and kind like 'wallet.%' order by id`)

export const kindsOf = async (organization: string): Promise<string[]> =>
  (await walletEvents(organization)).map(({ kind }) => kind)

export interface Captured {
  reference: string
  subject: string
  recipient: string
  body: string
}

export const capturedOf = (passId: string): Promise<Captured[]> =>
  db().all(sql<Captured>`select reference, subject, recipient, body from captured_messages
    where channel = 'wallet' and reference = ${passId} order by seq`)
