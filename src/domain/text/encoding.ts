import { sha256 as hashOf } from '@noble/hashes/sha2.js'

export const toHex = (bytes: ArrayBuffer | Uint8Array): string =>
  (bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)).toHex()

export const toBase64 = (bytes: Uint8Array): string => bytes.toBase64()

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.fromBase64(text)

export const toBase64Url = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

const encoder = new TextEncoder()

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text) as Uint8Array<ArrayBuffer>

export const sha256 = async (data: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', typeof data === 'string' ? utf8(data) : data))

/** Of a short text, at once: waiting for the platform's digest takes longer than this one. */
export const sha256OfShort = (text: string): Uint8Array<ArrayBuffer> => hashOf(utf8(text))
