import { isRecord } from '../../domain/text/json.ts'
import type { CallbackSender, RootKey } from '../../domain/wallet/google-callback.ts'
import { callbackProtocol } from '../../domain/wallet/google-callback.ts'
import { getJson } from '../provider-api/post-json.ts'
import { googleSenders } from './google-names.ts'

const timeoutMs = 5000
const cachedMs = 3_600_000
/** The minimum time between two requests, even for forged callbacks or while Google does not respond. */
const pauseMs = 60_000
const maxKeys = 20

interface CachedKeys {
  requestedAt: number
  keys: readonly RootKey[] | null
}

const cachedKeys = new Map<string, CachedKeys>()

function parseKeys(body: unknown): RootKey[] | null {
  const keys = isRecord(body) ? body['keys'] : null
  if (!Array.isArray(keys)) return null
  return keys.slice(0, maxKeys).flatMap((key): RootKey[] => {
    if (!isRecord(key) || key['protocolVersion'] !== callbackProtocol || typeof key['keyValue'] !== 'string') return []
    const expires_at = key['keyExpiration'] === undefined ? Number.MAX_SAFE_INTEGER : Number(key['keyExpiration'])
    return Number.isFinite(expires_at) ? [{ key_value: key['keyValue'], expires_at }] : []
  })
}

/** Loads root keys, which are cached for an hour and longer while Google does not respond. */
async function loadKeys(url: string, isFresh: boolean, now: number): Promise<readonly RootKey[] | null> {
  const cached = cachedKeys.get(url)
  const age = cached ? now - cached.requestedAt : Number.POSITIVE_INFINITY
  const isUsable = cached?.keys && age < cachedMs && !isFresh
  if (cached && (isUsable || age < pauseMs)) return cached.keys
  // Other requests use the cached keys in the meantime.
  cachedKeys.set(url, { requestedAt: now, keys: cached?.keys ?? null })
  const answer = await getJson(url, { accept: 'application/json' }, timeoutMs)
  const keys = (answer.came && answer.status === 200 ? parseKeys(answer.body) : null) ?? cached?.keys ?? null
  cachedKeys.set(url, { requestedAt: now, keys })
  return keys
}

/** Loads the senders of Google's callbacks with their keys. Throws if Google has none to offer. */
export async function loadGoogleSenders(isFresh: boolean, now: number): Promise<CallbackSender[]> {
  const loaded = await Promise.all(
    googleSenders.map(async ({ name, keysUrl }) => ({ name, keys: await loadKeys(keysUrl, isFresh, now) })),
  )
  const senders = loaded.flatMap(({ name, keys }) => (keys ? [{ name, keys }] : []))
  if (senders.length === 0) throw new Error('No root keys of Google could be loaded.')
  return senders
}

/** Empties the cache, for tests. */
export const clearGoogleKeys = (): void => cachedKeys.clear()
