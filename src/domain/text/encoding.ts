import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'

export const toHex = (bytes: ArrayBuffer | Uint8Array): string =>
  (bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)).toHex()

export const toBase64 = (bytes: Uint8Array): string => bytes.toBase64()

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(text)

export const toBase64Url = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

const encoder = new TextEncoder()

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text) as Uint8Array<ArrayBuffer>

export const sha256 = async (data: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', typeof data === 'string' ? utf8(data) : data))

/** SHA-256 of a short text without a promise: awaiting the platform's digest takes longer. */
export const sha256OfShort = (text: string): Uint8Array<ArrayBuffer> => nobleSha256(utf8(text))

const polynomial = 0xedb88320

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ polynomial : remainder >>> 1
  return remainder
})

/** CRC-32 (IEEE 802.3) as an unsigned integer. `before` is the checksum of the bytes before these. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let remainder = ~before
  for (let at = 0; at < bytes.length; at++) remainder = (remainder >>> 8) ^ remainders[(remainder ^ bytes[at]!) & 0xff]!
  return ~remainder >>> 0
}
