import { isRecord } from '../../domain/text/json.ts'
import type { CallbackSender, RootKey } from '../../domain/wallet/google-callback.ts'
import { callbackProtocol } from '../../domain/wallet/google-callback.ts'
import { getJson } from '../provider-api/post-json.ts'
import { googleSenders } from './google-names.ts'

const timeoutMs = 5000
const cachedMs = 3_600_000
/** The shortest time between two reads, also with forged callbacks and while Google does not answer. */
const pauseMs = 60_000
const maxKeys = 20

interface CachedKeys {
  askedAt: number
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

/** The keys at an address: cached for an hour, and used longer while there is no good answer. */
async function loadKeys(url: string, isFresh: boolean, now: number): Promise<readonly RootKey[] | null> {
  const known = cachedKeys.get(url)
  const age = known ? now - known.askedAt : Number.POSITIVE_INFINITY
  const isEnough = known?.keys && age < cachedMs && !isFresh
  if (known && (isEnough || age < pauseMs)) return known.keys
  // Other requests do not read meanwhile.
  cachedKeys.set(url, { askedAt: now, keys: known?.keys ?? null })
  const answer = await getJson(url, { accept: 'application/json' }, timeoutMs)
  const keys = (answer.came && answer.status === 200 ? readKeys(answer.body) : null) ?? known?.keys ?? null
  cachedKeys.set(url, { askedAt: now, keys })
  return keys
}

/** Throws when no address has answered. */
export async function loadGoogleSenders(isFresh: boolean, now: number): Promise<CallbackSender[]> {
  const found = await Promise.all(
    googleSenders.map(async ({ name, keysUrl }) => ({ name, keys: await loadKeys(keysUrl, isFresh, now) })),
  )
  const senders = found.flatMap(({ name, keys }) => (keys ? [{ name, keys }] : []))
  if (senders.length === 0) throw new Error('No root keys of Google could be read.')
  return senders
}

/** Empties the cache, for tests. */
export const clearGoogleKeys = (): void => cachedKeys.clear()
