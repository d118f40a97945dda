import { fromBase64, toBase64Url, utf8 } from '../text/encoding.ts'

/** Tokens of links: some bytes, and a MAC of them under a key that is derived for one purpose. */

export interface TokenSigner {
  purpose: string
  /** Bytes of HMAC-SHA256 that are kept. */
  macBytes: number
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Of a ULID. */
export const idBytes = 16
const ulidLength = 26

/** The ULID of an id with this prefix; null for what is no such id. */
export function idToBytes(prefix: string, id: string): Uint8Array | null {
  const start = `${prefix}_`
  const text = id.startsWith(start) ? id.slice(start.length) : ''
  if (text.length !== ulidLength) return null
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return null
    value = (value << 5n) | BigInt(digit)
  }
  if (value >= 1n << 128n) return null
  return Uint8Array.from({ length: idBytes }, (_, index) =>
    Number((value >> BigInt(8 * (idBytes - 1 - index))) & 0xffn),
  )
}

export function idFromBytes(prefix: string, bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (let index = 0; index < ulidLength; index++) {
    text = (alphabet[Number(value & 31n)] ?? '') + text
    value >>= 5n
  }
  return `${prefix}_${text}`
}

/** 1 to 8 bytes, by the number's size. */
export function numberToBytes(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  return [...bytes, rest]
}

export function numberFromBytes(bytes: Uint8Array, from: number): { value: number; next: number } | null {
  let value = 0
  let factor = 1
  for (let at = from; at < bytes.length && at - from < 8; at++) {
    const byte = bytes[at] ?? 0
    value += (byte % 128) * factor
    if (byte < 128) return Number.isSafeInteger(value) ? { value, next: at + 1 } : null
    factor *= 128
  }
  return null
}

/** Kept, because making a key takes longer than using it. */
const keys = new Map<string, Promise<CryptoKey>>()
function keyOf(secret: string, purpose: string): Promise<CryptoKey> {
  const material = `${purpose}:${secret}`
  const known = keys.get(material)
  if (known) return known
  const made = crypto.subtle.importKey('raw', utf8(material), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  keys.set(material, made)
  return made
}

export async function macOf(
  secret: string,
  { purpose, macBytes }: TokenSigner,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const whole = await crypto.subtle.sign('HMAC', await keyOf(secret, purpose), bytes)
  return new Uint8Array(whole).slice(0, macBytes)
}

/** Takes the same time wherever the texts differ. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0)
  return difference === 0
}

export async function signToken(secret: string, signer: TokenSigner, content: readonly number[]): Promise<string> {
  const bytes = Uint8Array.from(content)
  return toBase64Url(Uint8Array.from([...bytes, ...(await macOf(secret, signer, bytes))]))
}

const maxTokenLength = 120

/** What a token holds; null for one that was not signed with the key for this purpose. */
export async function openToken(secret: string, signer: TokenSigner, token: string): Promise<Uint8Array | null> {
  // Without a key anybody could make tokens.
  if (secret === '' || token.length > maxTokenLength || !/^[\w-]+$/.test(token)) return null
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = fromBase64(token.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return null
  }
  // Unused bits may not differ, or one link would have many tokens.
  if (toBase64Url(bytes) !== token || bytes.length <= signer.macBytes) return null
  const content = bytes.slice(0, -signer.macBytes)
  const isOurs = areEqual(await macOf(secret, signer, content), bytes.slice(-signer.macBytes))
  return isOurs ? content : null
}
