import { isRecord } from '../../domain/text/json.ts'
import type { CallbackSender, RootKey } from '../../domain/wallet/google-callback.ts'
import { callbackProtocol } from '../../domain/wallet/google-callback.ts'
import { getJson } from '../provider-api/call-api.ts'

/**
 * The senders of callbacks and the addresses of their root keys. Google's documentation has an older and a newer
 * sender.
 */
const googleSenders = [
  { name: 'GooglePayPasses', keysUrl: 'https://pay.google.com/gp/m/issuer/keys' },
  { name: 'GoogleWalletPasses', keysUrl: 'https://wallet.google.com/gp/m/issuer/keys' },
] as const

export const googleSenderNames = googleSenders.map(({ name }) => name)

const timeoutMs = 5000
const cachedMs = 3_600_000
/** The keys are not read more often than this, even while forged callbacks come or Google does not answer. */
const minReadIntervalMs = 60_000
const maxKeys = 20

interface CachedKeys {
  readAt: number
  keys: readonly RootKey[] | null
}

/** Shared by the requests of this isolate. */
const cachedKeys = new Map<string, CachedKeys>()

function readKeys(body: unknown): RootKey[] | null {
  const keys = isRecord(body) ? body['keys'] : null
  if (!Array.isArray(keys)) return null
  return keys.slice(0, maxKeys).flatMap((key): RootKey[] => {
    if (!isRecord(key) || key['protocolVersion'] !== callbackProtocol || typeof key['keyValue'] !== 'string') return []
    const expires_at = key['keyExpiration'] === undefined ? Number.MAX_SAFE_INTEGER : Number(key['keyExpiration'])
    return Number.isFinite(expires_at) ? [{ key_value: key['keyValue'], expires_at }] : []
  })
}

/** Loads the keys of an address. They are cached for an hour, and longer while Google does not answer. */
async function loadKeys(url: string, isFresh: boolean, now: number): Promise<readonly RootKey[] | null> {
  const cachedEntry = cachedKeys.get(url)
  const age = cachedEntry ? now - cachedEntry.readAt : Number.POSITIVE_INFINITY
  const isRecent = cachedEntry?.keys && age < cachedMs && !isFresh
  if (cachedEntry && (isRecent || age < minReadIntervalMs)) return cachedEntry.keys
  // This keeps other requests from reading the keys meanwhile.
  cachedKeys.set(url, { readAt: now, keys: cachedEntry?.keys ?? null })
  const response = await getJson(url, { accept: 'application/json' }, timeoutMs)
  const keys =
    (response.isComplete && response.status === 200 ? readKeys(response.body) : null) ?? cachedEntry?.keys ?? null
  cachedKeys.set(url, { readAt: now, keys })
  return keys
}

/** Throws when no address answered. */
export async function loadGoogleSenders(isFresh: boolean, now: number): Promise<CallbackSender[]> {
  const sendersWithKeys = await Promise.all(
    googleSenders.map(async ({ name, keysUrl }) => ({ name, keys: await loadKeys(keysUrl, isFresh, now) })),
  )
  const senders = sendersWithKeys.flatMap(({ name, keys }) => (keys ? [{ name, keys }] : []))
  if (senders.length === 0) throw new Error('The root keys of Google could not be read.')
  return senders
}

/** Empties the cache, for tests. */
export const clearGoogleKeys = (): void => cachedKeys.clear()
