import { fromBase64, toBase64, utf8 } from '../text/encoding.ts'

const secretPrefix = 'whsec_'
const secretBytes = 32

export const mintSecret = (randomBytes: (length: number) => Uint8Array): string =>
  secretPrefix + toBase64(randomBytes(secretBytes))

/** The keys of the last endpoints, cached because importing a key takes longer than signing. */
const imported = new Map<string, Promise<CryptoKey>>()
const keysKept = 500

function keyOf(secret: string): Promise<CryptoKey> {
  const known = imported.get(secret)
  if (known) return known
  const bytes = fromBase64(secret.slice(secretPrefix.length))
  const key = crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
  if (imported.size >= keysKept) imported.clear()
  imported.set(secret, key)
  return key
}

/** One `v1,<base64>` signature of Standard Webhooks; the key is the decoded secret, the timestamp in seconds. */
async function sign(secret: string, id: string, timestamp: number, body: string): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', await keyOf(secret), utf8(`${id}.${timestamp}.${body}`))
  return `v1,${toBase64(new Uint8Array(mac))}`
}

interface Keys {
  secret: string
  previous_secret: string | null
  previous_secret_until: number | null
}

/** The headers of one attempt. After a rotation the old secret signs too, until its time is over. */
export async function signedHeaders(
  keys: Keys,
  event: { id: string; payload: string },
  now: number,
): Promise<{ headers: Record<string, string>; primary: string }> {
  const timestamp = Math.floor(now / 1000)
  const primary = await sign(keys.secret, event.id, timestamp, event.payload)
  const overlaps = keys.previous_secret !== null && (keys.previous_secret_until ?? 0) > now
  const old =
    overlaps && keys.previous_secret ? [await sign(keys.previous_secret, event.id, timestamp, event.payload)] : []
  return {
    primary,
    headers: {
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': [primary, ...old].join(' '),
    },
  }
}

const windowSeconds = 300

/** Whether one of the signatures of a received post fits the secret, and is within five minutes of now. */
export async function isSigned(
  secret: string,
  said: { id: string; timestamp: string; signature: string },
  body: string,
  now: number,
): Promise<boolean> {
  if (!secret.startsWith(secretPrefix) || !/^\d{1,12}$/.test(said.timestamp)) return false
  if (Math.abs(now / 1000 - Number(said.timestamp)) > windowSeconds) return false
  try {
    const key = await keyOf(secret)
    for (const part of said.signature.split(' ')) {
      const [version, mac = ''] = part.split(',')
      const content = utf8(`${said.id}.${said.timestamp}.${body}`)
      if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, fromBase64(mac), content))) return true
    }
  } catch {
    // No base64: neither secret nor signature.
  }
  return false
}
