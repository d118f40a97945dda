import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { isCell, addCell, splitUlid } from '../ids.ts'
import { fromBase64, toBase64Url, utf8 } from '../text/encoding.ts'

/** Signs tokens of one kind. The key of the MAC is derived for the purpose, so one kind is never valid as another. */
export interface TokenSigner {
  purpose: string
  /** Bytes of HMAC-SHA256 in a token. */
  macBytes: number
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ulidLength = 26
const ulidBytes = 16
/** The first bit is free in a ULID until the year 6429. If it is set, the two characters of a cell follow the ULID. */
const cellFlag = 0x80

/** The bytes of an id: its ULID and its cell. Null: the text is not an id with this prefix. */
export function idToBytes(prefix: string, id: string): Uint8Array | null {
  const start = `${prefix}_`
  const parts = id.startsWith(start) ? splitUlid(id.slice(start.length)) : null
  if (!parts) return null
  let value = 0n
  for (const character of parts.ulid) value = (value << 5n) | BigInt(alphabet.indexOf(character))
  if (value >= 1n << 127n) return null
  const bytes = Uint8Array.from({ length: ulidBytes }, (_, index) =>
    Number((value >> BigInt(8 * (ulidBytes - 1 - index))) & 0xffn),
  )
  if (parts.cell === '') return bytes
  bytes[0] = (bytes[0] ?? 0) | cellFlag
  return Uint8Array.from([...bytes, ...utf8(parts.cell)])
}

/** The cell of the id that begins at `from`, empty if it has none. Null: there is no id. */
function readCellAt(bytes: Uint8Array, from: number): string | null {
  if (bytes.length < from + ulidBytes) return null
  if (((bytes[from] ?? 0) & cellFlag) === 0) return ''
  const cell = String.fromCharCode(...bytes.slice(from + ulidBytes, from + ulidBytes + 2))
  return isCell(cell) ? cell : null
}

/** The id that begins at `from`, and the position after it. */
export function idFromBytes(prefix: string, bytes: Uint8Array, from: number): { id: string; next: number } | null {
  const cell = readCellAt(bytes, from)
  if (cell === null) return null
  const ulid = bytes.slice(from, from + ulidBytes)
  if (cell !== '') ulid[0] = (ulid[0] ?? 0) & ~cellFlag
  let value = ulid.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (let index = 0; index < ulidLength; index++) {
    text = (alphabet[Number(value & 31n)] ?? '') + text
    value >>= 5n
  }
  return { id: `${prefix}_${addCell(text, cell)}`, next: from + ulidBytes + cell.length }
}

export const maxNumberBytes = 8

/** Encodes a number in 1 to 8 bytes. */
export function numberToBytes(value: number): number[] {
  const bytes: number[] = []
  let remainder = value
  while (remainder >= 128) {
    bytes.push((remainder % 128) + 128)
    remainder = Math.floor(remainder / 128)
  }
  bytes.push(remainder)
  return bytes
}

export function numberFromBytes(bytes: Uint8Array, from: number): { value: number; next: number } | null {
  let value = 0
  let factor = 1
  for (let at = from; at < bytes.length && at - from < maxNumberBytes; at++) {
    const byte = bytes[at] ?? 0
    value += (byte % 128) * factor
    if (byte < 128) return Number.isSafeInteger(value) ? { value, next: at + 1 } : null
    factor *= 128
  }
  return null
}

type Hmac = ReturnType<typeof hmac.create>

const createHmac = (key: string): Hmac => hmac.create(sha256, utf8(key))

/** HMACs that have only taken their key, by purpose and secret. Taking the key costs as much as a MAC. */
const keyedHmacs = new Map<string, Map<string, Hmac>>()
function getKeyedHmac(secret: string, purpose: string): Hmac {
  const cachedHmac = keyedHmacs.get(purpose)?.get(secret)
  if (cachedHmac) return cachedHmac
  const keyedHmac = createHmac(`${purpose}:${secret}`)
  keyedHmacs.set(purpose, new Map(keyedHmacs.get(purpose)).set(secret, keyedHmac))
  return keyedHmac
}

/** Every MAC reuses these two objects, because a campaign computes millions. */
const reusedHmac = createHmac('')
const macBuffer = new Uint8Array(32)

/**
 * Computes a MAC in a buffer that the next call overwrites. The platform's HMAC returns a promise, which takes several
 * times as long as such a short MAC.
 */
function computeReusedMac(secret: string, { purpose, macBytes }: TokenSigner, bytes: Uint8Array): Uint8Array {
  // oxlint-disable-next-line no-underscore-dangle -- the library's only copy that allocates nothing
  getKeyedHmac(secret, purpose)._cloneInto(reusedHmac)
  reusedHmac.update(bytes).digestInto(macBuffer)
  return macBuffer.subarray(0, macBytes)
}

export const computeMac = (secret: string, signer: TokenSigner, bytes: Uint8Array): Uint8Array =>
  computeReusedMac(secret, signer, bytes).slice()

/** Compares in constant time. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0)
  return difference === 0
}

export function signToken(secret: string, signer: TokenSigner, content: ArrayLike<number>): string {
  const bytes = Uint8Array.from(content)
  return toToken(bytes, computeReusedMac(secret, signer, bytes))
}

/** The token of a content and its MAC. */
export function toToken(content: Uint8Array, mac: Uint8Array): string {
  const bytes = new Uint8Array(content.length + mac.length)
  bytes.set(content)
  bytes.set(mac, content.length)
  return toBase64Url(bytes)
}

const maxTokenLength = 120

/** The bytes of a token. Null: the text is not a token. */
function decodeToken(token: string): Uint8Array<ArrayBuffer> | null {
  if (token.length > maxTokenLength || !/^[\w-]+$/.test(token)) return null
  try {
    const bytes = fromBase64(token.replaceAll('-', '+').replaceAll('_', '/'))
    // A token with other unused bits is refused, because each link has exactly one token.
    return toBase64Url(bytes) === token ? bytes : null
  } catch {
    return null
  }
}

/** The cell of the id with which a token begins, without checking the signature. Null: the text is not a token. */
export function readCellOfSignedToken(token: string): string | null {
  const bytes = decodeToken(token)
  return bytes && readCellAt(bytes, 0)
}

/** The content and the MAC of a token, unchecked. Null: the text is not a token. */
export function splitToken(token: string, macBytes: number): { content: Uint8Array; mac: Uint8Array } | null {
  const bytes = decodeToken(token)
  if (!bytes || bytes.length <= macBytes) return null
  return { content: bytes.slice(0, -macBytes), mac: bytes.slice(-macBytes) }
}

/** True if one of the secrets makes this MAC. With an empty secret anyone could forge tokens. */
export const isSigned = (
  secrets: readonly string[],
  mac: Uint8Array,
  compute: (secret: string) => Uint8Array,
): boolean => secrets.some((secret) => secret !== '' && areEqual(compute(secret), mac))

/** The content of a token. Null: it was not signed with one of these secrets for this purpose. */
export function openToken(secrets: readonly string[], signer: TokenSigner, token: string): Uint8Array | null {
  const parts = splitToken(token, signer.macBytes)
  if (!parts) return null
  const { content, mac } = parts
  return isSigned(secrets, mac, (secret) => computeMac(secret, signer, content)) ? content : null
}
