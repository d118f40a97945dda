import { joinBytes, utf8 } from '../../domain/text/encoding.ts'

const toleranceMs = 300_000
/** Stripe sends two signatures while a secret is rotated. */
const maxSignatures = 10

const hexPattern = /^[0-9a-f]{64}$/i

/** Reads the header `Stripe-Signature`: `t=…,v1=…`, with one `v1` for each secret. */
function readHeader(header: string): { timestamp: string; signatures: string[] } {
  const pairs = header.split(',').map((part) => part.trim().split('=', 2) as [string, string?])
  const timestamps = pairs.flatMap(([name, value]) => (name === 't' && value !== undefined ? [value] : []))
  const signatures = pairs.flatMap(([name, value]) => (name === 'v1' && value !== undefined ? [value] : []))
  return { timestamp: timestamps.length === 1 ? (timestamps[0] ?? '') : '', signatures }
}

/** True if the body was signed with the secret at most five minutes before or after `now`. */
export async function isSignedByStripe(
  secret: string,
  header: string | null,
  body: Uint8Array<ArrayBuffer>,
  now: number,
): Promise<boolean> {
  const { timestamp, signatures } = readHeader(header ?? '')
  if (secret === '' || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * 1000) > toleranceMs) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', utf8(secret), algorithm, false, ['verify'])
  const content = joinBytes([utf8(`${timestamp}.`), body])
  for (const signature of signatures.slice(0, maxSignatures))
    // `verify` compares in constant time.
    if (hexPattern.test(signature) && (await crypto.subtle.verify('HMAC', key, Uint8Array.fromHex(signature), content)))
      return true
  return false
}
