import { importPKCS8, SignJWT } from 'jose'
import { isRecord } from '../../domain/text/json.ts'
import { callApi, patchJson, postJson, type ProviderResponse } from '../provider-api/call-api.ts'
import type { GoogleResult } from './passes.ts'

export interface ServiceAccount {
  client_email: string
  private_key: string
}

const standardBase = 'https://walletobjects.googleapis.com/walletobjects/v1'
const tokenUrl = 'https://oauth2.googleapis.com/token'
const scope = 'https://www.googleapis.com/auth/wallet_object.issuer'
const timeoutMs = 5000
const algorithm = 'RS256'

/** Parses the key file of a service account. Throws for any other file. */
export function parseServiceAccount(text: string): ServiceAccount {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value) || typeof value['client_email'] !== 'string' || typeof value['private_key'] !== 'string')
    throw new Error('The key file has no client_email or private_key.')
  return { client_email: value['client_email'], private_key: value['private_key'] }
}

/** Signs a JWT of the service account. */
export async function signJwt(
  account: ServiceAccount,
  audience: string,
  claims: Record<string, unknown>,
  times: { now: number; lifeSeconds?: number },
): Promise<string> {
  const issuedAt = Math.floor(times.now / 1000)
  const jwt = new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setIssuer(account.client_email)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
  if (times.lifeSeconds) jwt.setExpirationTime(issuedAt + times.lifeSeconds)
  return jwt.sign(await importPKCS8(account.private_key, algorithm))
}

/** Access tokens by account, shared by the requests of this isolate. A token is used until `until`. */
const tokens = new Map<string, { token: string; until: number }>()
const tokenLifeSeconds = 3600
const marginMs = 300_000

async function loadAccessToken(account: ServiceAccount, now: number): Promise<string | GoogleResult> {
  const cachedToken = tokens.get(account.client_email)
  if (cachedToken && cachedToken.until > now) return cachedToken.token
  const assertion = await signJwt(account, tokenUrl, { scope }, { now, lifeSeconds: tokenLifeSeconds })
  const response = await callApi(
    tokenUrl,
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion,
      }).toString(),
    },
    timeoutMs,
  )
  if (!response.isComplete || response.status >= 500) return { ok: false, kind: 'transient', code: 'no_token' }
  const token = isRecord(response.body) ? response.body['access_token'] : null
  if (response.status !== 200 || typeof token !== 'string')
    return { ok: false, kind: 'configuration', code: 'token_refused' }
  tokens.set(account.client_email, { token, until: now + tokenLifeSeconds * 1000 - marginMs })
  return token
}

function readResult(response: ProviderResponse): GoogleResult {
  if (!response.isComplete) return { ok: false, kind: 'transient', code: response.code }
  const { status } = response
  if (status >= 200 && status < 300) return { ok: true }
  const code = `status_${status}`
  if (status === 404) return { ok: false, kind: 'gone', code }
  if (status === 401 || status === 403) return { ok: false, kind: 'configuration', code }
  const isTemporary = status === 408 || status === 409 || status === 429 || status >= 500
  return { ok: false, kind: isTemporary ? 'transient' : 'permanent', code }
}

type Resource = 'eventTicketClass' | 'eventTicketObject'
type GoogleFields = Readonly<Record<string, unknown>>

export interface ApiOptions {
  apiBase: string
  now: number
}

async function callGoogle(
  account: ServiceAccount,
  { apiBase, now }: ApiOptions,
  call: (base: string, headers: Record<string, string>) => Promise<ProviderResponse>,
): Promise<GoogleResult> {
  const token = await loadAccessToken(account, now)
  if (typeof token !== 'string') return token
  const response = await call(apiBase || standardBase, { authorization: `Bearer ${token}` })
  if (response.isComplete && response.status === 401) tokens.delete(account.client_email)
  return readResult(response)
}

/** Changes fields of a class or an object. */
export const patchResource = (
  account: ServiceAccount,
  resource: Resource,
  { id, ...fields }: GoogleFields & { id: string },
  options: ApiOptions,
): Promise<GoogleResult> =>
  callGoogle(account, options, (base, headers) =>
    patchJson(`${base}/${resource}/${encodeURIComponent(id)}`, headers, fields, timeoutMs),
  )

/** Inserts a class or an object. Returns false when Google has it already, as after a call whose response was lost. */
export async function insertResource(
  account: ServiceAccount,
  resource: Resource,
  fields: GoogleFields,
  options: ApiOptions,
): Promise<GoogleResult | false> {
  const result = await callGoogle(account, options, (base, headers) =>
    postJson(`${base}/${resource}`, headers, fields, timeoutMs),
  )
  return !result.ok && result.code === 'status_409' ? false : result
}
