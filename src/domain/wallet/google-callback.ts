import { fromBase64, utf8 } from '../text/encoding.ts'

/** A public key of Google. `key_value` is its SPKI in base64. */
export interface RootKey {
  key_value: string
  /** Milliseconds UTC. */
  expires_at: number
}

/** A sender of callbacks and its root keys. */
export interface CallbackSender {
  name: string
  keys: readonly RootKey[]
}

export interface SignedCallback {
  signature: string
  signedKey: string
  keySignatures: readonly string[]
  signedMessage: string
}

export interface GoogleCallback {
  class_id: string
  object_id: string
  event: 'save' | 'del'
  expires_at: number
  nonce: string
}

export const callbackProtocol = 'ECv2SigningOnly'
const maxKeySignatures = 5

type CallbackFields = Readonly<Record<string, unknown>>

function parseFields(text: string): CallbackFields | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as CallbackFields) : null
  } catch {
    return null
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Parses the body of a callback. Returns null for any other body. */
export function parseCallback(body: string): SignedCallback | null {
  const { signature, intermediateSigningKey, protocolVersion, signedMessage } = parseFields(body) ?? {}
  if (protocolVersion !== callbackProtocol || !isText(signature) || !isText(signedMessage)) return null
  const { signedKey, signatures } = (intermediateSigningKey ?? {}) as CallbackFields
  if (!isText(signedKey) || !Array.isArray(signatures) || signatures.length > maxKeySignatures) return null
  return signatures.every(isText) ? { signature, signedKey, keySignatures: signatures, signedMessage } : null
}

/** Builds the signed bytes: each text follows its length, which is four bytes in little-endian order. */
export function buildSignedBytes(...texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const parts = texts.map(utf8)
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + 4 + length, 0))
  let at = 0
  for (const part of parts) {
    new DataView(bytes.buffer).setUint32(at, part.length, true)
    bytes.set(part, at + 4)
    at += 4 + part.length
  }
  return bytes
}

const numberBytes = 32

/** Converts a DER signature to the two 32-byte integers that WebCrypto needs. Returns null for anything else. */
export function toRawSignature(der: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const raw = new Uint8Array(2 * numberBytes)
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || der.length > 72) return null
  let at = 2
  for (const half of [1, 2]) {
    const length = der[at + 1] ?? 0
    const value = der.slice(at + 2, at + 2 + length)
    if (der[at] !== 0x02 || length === 0 || value.length !== length) return null
    const bare = value[0] === 0 ? value.slice(1) : value
    if (bare.length > numberBytes) return null
    raw.set(bare, half * numberBytes - bare.length)
    at += 2 + length
  }
  return at === der.length ? raw : null
}

const curve = { name: 'ECDSA', namedCurve: 'P-256' }

async function isSignedBy(keyValue: string, signature: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  try {
    const raw = toRawSignature(fromBase64(signature))
    if (!raw) return false
    const key = await crypto.subtle.importKey('spki', fromBase64(keyValue), curve, false, ['verify'])
    return await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, raw, bytes)
  } catch {
    // The texts are not base64, or the key belongs to another curve.
    return false
  }
}

async function hasSignedKey(sender: CallbackSender, callback: SignedCallback, now: number): Promise<boolean> {
  const bytes = buildSignedBytes(sender.name, callbackProtocol, callback.signedKey)
  for (const { key_value, expires_at } of sender.keys)
    for (const signature of callback.keySignatures)
      if (expires_at > now && (await isSignedBy(key_value, signature, bytes))) return true
  return false
}

function parseMessage(text: string): GoogleCallback | null {
  const { classId, objectId, eventType, expTimeMillis, nonce } = parseFields(text) ?? {}
  const expires_at = Number(expTimeMillis)
  if (!isText(classId) || !isText(objectId) || !isText(nonce) || !Number.isSafeInteger(expires_at)) return null
  if (eventType !== 'save' && eventType !== 'del') return null
  return { class_id: classId, object_id: objectId, event: eventType, expires_at, nonce }
}

/**
 * Verifies that one of the senders has signed a callback for this issuer, and that neither it nor its key has expired.
 * Returns null otherwise. In the protocol ECv2SigningOnly a root key signs an intermediate key, which signs the
 * message.
 */
export async function verifyCallback(
  callback: SignedCallback,
  senders: readonly CallbackSender[],
  issuerId: string,
  now: number,
): Promise<GoogleCallback | null> {
  const { keyValue, keyExpiration } = parseFields(callback.signedKey) ?? {}
  if (!isText(keyValue) || !(Number(keyExpiration) > now)) return null
  for (const sender of senders) {
    if (!(await hasSignedKey(sender, callback, now))) continue
    const bytes = buildSignedBytes(sender.name, issuerId, callbackProtocol, callback.signedMessage)
    if (!(await isSignedBy(keyValue, callback.signature, bytes))) return null
    const message = parseMessage(callback.signedMessage)
    return message && message.expires_at > now ? message : null
  }
  return null
}
