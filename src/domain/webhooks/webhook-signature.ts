import { fromBase64, toBase64, utf8 } from '../text/encoding.ts'

const secretPrefix = 'whsec_'
const secretBytes = 32

export const mintSecret = (randomBytes: (length: number) => Uint8Array): string =>
  secretPrefix + toBase64(randomBytes(secretBytes))

/** Importing a key takes longer than signing. */
const cachedKeys = new Map<string, Promise<CryptoKey>>()
const maxCachedKeys = 500

function importKey(secret: string): Promise<CryptoKey> {
  const cachedKey = cachedKeys.get(secret)
  if (cachedKey) return cachedKey
  const bytes = fromBase64(secret.slice(secretPrefix.length))
  const key = crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
  if (cachedKeys.size >= maxCachedKeys) cachedKeys.clear()
  cachedKeys.set(secret, key)
  return key
}

/** A `v1` signature of Standard Webhooks. `timestamp` is in seconds. */
async function sign(secret: string, id: string, timestamp: number, body: string): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', await importKey(secret), utf8(`${id}.${timestamp}.${body}`))
  return `v1,${toBase64(new Uint8Array(mac))}`
}

interface Keys {
  secret: string
  previous_secret: string | null
  previous_secret_until: number | null
}

/**
 * The headers of one attempt. After a rotation the previous secret signs too, until `previous_secret_until`. `signedAt` is
 * the time on the receiver's clock.
 */
export async function signHeaders(
  keys: Keys,
  event: { id: string; payload: string },
  now: number,
  signedAt = now,
): Promise<{ headers: Record<string, string>; primary: string }> {
  const timestamp = Math.floor(signedAt / 1000)
  const primary = await sign(keys.secret, event.id, timestamp, event.payload)
  const { previous_secret, previous_secret_until } = keys
  const signatures = [primary]
  if (previous_secret !== null && (previous_secret_until ?? 0) > now)
    signatures.push(await sign(previous_secret, event.id, timestamp, event.payload))
  return {
    primary,
    headers: {
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures.join(' '),
    },
  }
}

const windowSeconds = 300

/** True if a received request has a signature by this secret that is at most five minutes old. */
export async function hasValidSignature(
  secret: string,
  headers: { id: string; timestamp: string; signature: string },
  body: string,
  now: number,
): Promise<boolean> {
  if (!secret.startsWith(secretPrefix) || !/^\d{1,12}$/.test(headers.timestamp)) return false
  if (Math.abs(now / 1000 - Number(headers.timestamp)) > windowSeconds) return false
  try {
    const key = await importKey(secret)
    for (const part of headers.signature.split(' ')) {
      const [version, mac = ''] = part.split(',')
      const content = utf8(`${headers.id}.${headers.timestamp}.${body}`)
      if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, fromBase64(mac), content))) return true
    }
  } catch {
    // The secret or the signature is not base64.
  }
  return false
}
