import { exports } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import {
  type CallbackMessage,
  type GoogleKeys,
  createGoogleKeys,
  signCallback,
  exportSpki,
} from '../../scripts/support/google-callbacks.ts'
import type { walletRegistrations } from '../../src/db/schema/wallet.ts'
import { call, type Reply, type Request } from './api.ts'
import { db, next } from './seeding/rows.ts'
import type { PassRow, Pass } from './seeding/sales/wallet-passes.ts'

export type RegistrationRow = typeof walletRegistrations.$inferSelect

export type { GoogleKeys }

export const loadPass = async (id: string): Promise<PassRow> => {
  const row = await db.first(sql<PassRow>`select * from wallet_passes where id = ${id}`)
  if (!row) throw new Error('there is no such pass')
  return row
}

export const listRegistrations = (passId: string): Promise<RegistrationRow[]> =>
  db.all(sql<RegistrationRow>`select * from wallet_registrations where pass_id = ${passId} order by device_id`)

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

export const listChanged = (device: string, since?: string) =>
  call(`/wallet/apple/v1/devices/${device}/registrations/${passType}${since ? `?passesUpdatedSince=${since}` : ''}`, {
    token: null,
  })

export const latest = (pass: Pass, request: Phone = {}) =>
  rawPhone(`/wallet/apple/v1/passes/${passType}/${pass.serial}`, pass, request)

/** Like `phone`, for answers that are not text. */
async function rawPhone(path: string, pass: Pick<Pass, 'token'>, { auth, headers }: Phone) {
  const requestHeaders = { authorization: auth ?? `ApplePass ${pass.token}`, ...headers }
  return exports.default.fetch(new Request(`https://api.example${path}`, { headers: requestHeaders }))
}

/** Makes Google keys for this test, whose root key the service accepts for a year. */
export async function givenGoogleKeys(): Promise<GoogleKeys> {
  const keys = await createGoogleKeys()
  await setRootKeys([keys.root], Date.now() + 31_536_000_000)
  return keys
}

export async function setRootKeys(pairs: readonly CryptoKeyPair[], expiresAt: number): Promise<Reply> {
  const keys = await Promise.all(
    pairs.map(async (pair) => ({ keyValue: await exportSpki(pair), keyExpiration: String(expiresAt) })),
  )
  return call('/dev/wallet/google-keys', { method: 'PUT', token: null, body: { keys } })
}

export interface CallbackOptions {
  sender?: string
  issuer?: string
  keyExpires?: number
  message?: Partial<CallbackMessage>
}

/** Builds the body of a callback about a pass. */
export const buildCallback = (
  keys: GoogleKeys,
  pass: Pick<Pass, 'serial' | 'edition'>,
  eventType: 'save' | 'del',
  { message, ...signing }: CallbackOptions = {},
): Promise<Record<string, unknown>> =>
  signCallback(
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

/** Lists the kinds of an organisation's wallet events, in order. */
export const listWalletEvents = async (organization: string): Promise<{ kind: string; payload: string }[]> =>
  db.all(sql<{ kind: string; payload: string }>`select kind, payload from webhook_events
    where organization_id = ${organization} and kind like 'wallet.%' order by id`)

export const listKinds = async (organization: string): Promise<string[]> =>
  (await listWalletEvents(organization)).map(({ kind }) => kind)

export interface Captured {
  reference: string
  subject: string
  recipient: string
  body: string
}

export const listCaptured = (passId: string): Promise<Captured[]> =>
  db.all(sql<Captured>`select reference, subject, recipient, body from captured_messages
    where channel = 'wallet' and reference = ${passId} order by seq`)
