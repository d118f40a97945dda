import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { isCell, addCell, splitUlid } from '../ids.ts'
import { fromBase64, toBase64Url, utf8 } from '../text/encoding.ts'

/** Tokens of links: some bytes, and a MAC of them under a key that is derived for one purpose. */

export interface TokenSigner {
  purpose: string
  /** Bytes of HMAC-SHA256 in a token. */
  macBytes: number
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ulidLength = 26
const ulidBytes = 16
/** The first bit, which no ULID's time sets before the year 6429: the two characters of a mark follow. */
const marked = 0x80

/** The ULID of an id with this prefix, and its mark; null for what is no such id. */
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
  bytes[0] = (bytes[0] ?? 0) | marked
  return Uint8Array.from([...bytes, ...utf8(parts.cell)])
}

/** The mark of an id that begins there; null where there is no id. */
function cellAt(bytes: Uint8Array, from: number): string | null {
  if (bytes.length < from + ulidBytes) return null
  if (((bytes[from] ?? 0) & marked) === 0) return ''
  const cell = String.fromCharCode(...bytes.slice(from + ulidBytes, from + ulidBytes + 2))
  return isCell(cell) ? cell : null
}

/** The id that begins there, and what follows it. */
export function idFromBytes(prefix: string, bytes: Uint8Array, from: number): { id: string; next: number } | null {
  const cell = cellAt(bytes, from)
  if (cell === null) return null
  const ulid = bytes.slice(from, from + ulidBytes)
  if (cell !== '') ulid[0] = (ulid[0] ?? 0) & ~marked
  let value = ulid.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (let index = 0; index < ulidLength; index++) {
    text = (alphabet[Number(value & 31n)] ?? '') + text
    value >>= 5n
  }
  return { id: `${prefix}_${addCell(text, cell)}`, next: from + ulidBytes + cell.length }
}

export const maxNumberBytes = 8

/** 1 to 8 bytes, by the number's size. */
export function numberToBytes(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
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

const hmacWith = (key: string): Hmac => hmac.create(sha256, utf8(key))

/** HMACs that have taken their key and nothing else, by purpose and secret. Cached, because that takes as long as a MAC. */
const keyed = new Map<string, Map<string, Hmac>>()
function keyedHmac(secret: string, purpose: string): Hmac {
  const known = keyed.get(purpose)?.get(secret)
  if (known) return known
  const made = hmacWith(`${purpose}:${secret}`)
  keyed.set(purpose, new Map(keyed.get(purpose)).set(secret, made))
  return made
}

/** Each MAC is made in a copy of a keyed one, always the same, because a campaign makes millions. */
const working = hmacWith('')
const wholeMac = new Uint8Array(32)

/** Not with the platform's HMAC: its promise takes several times as long as so short a MAC. The next one replaces it. */
function makeMac(secret: string, { purpose, macBytes }: TokenSigner, bytes: Uint8Array): Uint8Array {
  // oxlint-disable-next-line no-underscore-dangle -- the library's name for a copy that makes no object
  keyedHmac(secret, purpose)._cloneInto(working)
  working.update(bytes).digestInto(wholeMac)
  return wholeMac.subarray(0, macBytes)
}

export const computeMac = (secret: string, signer: TokenSigner, bytes: Uint8Array): Uint8Array =>
  makeMac(secret, signer, bytes).slice()

/** Takes the same time at any position of the difference. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0)
  return difference === 0
}

export function signToken(secret: string, signer: TokenSigner, content: ArrayLike<number>): string {
  const bytes = new Uint8Array(content.length + signer.macBytes)
  bytes.set(content)
  return signStart(secret, signer, bytes, content.length)
}

/** The token of the first bytes; the others take the MAC. */
export function signStart(secret: string, signer: TokenSigner, bytes: Uint8Array, length: number): string {
  bytes.set(makeMac(secret, signer, bytes.subarray(0, length)), length)
  return toBase64Url(bytes.subarray(0, length + signer.macBytes))
}

const maxTokenLength = 120

/** The bytes of a token; null for another text. */
function bytesOf(token: string): Uint8Array<ArrayBuffer> | null {
  if (token.length > maxTokenLength || !/^[\w-]+$/.test(token)) return null
  try {
    const bytes = fromBase64(token.replaceAll('-', '+').replaceAll('_', '/'))
    // Unused bits may not differ, or one link would have many tokens.
    return toBase64Url(bytes) === token ? bytes : null
  } catch {
    return null
  }
}

/** The mark of the id with which a token begins, empty for none. The signature is not checked. Null for what is no token. */
export function readCellOfSignedToken(token: string): string | null {
  const bytes = bytesOf(token)
  return bytes && cellAt(bytes, 0)
}

/** The content of a token; null for one that was not signed with the key for this purpose. */
export function openToken(secret: string, signer: TokenSigner, token: string): Uint8Array | null {
  // With an empty key anyone could forge tokens.
  const bytes = secret === '' ? null : bytesOf(token)
  if (!bytes || bytes.length <= signer.macBytes) return null
  const content = bytes.slice(0, -signer.macBytes)
  const isOurs = areEqual(computeMac(secret, signer, content), bytes.slice(-signer.macBytes))
  return isOurs ? content : null
}
