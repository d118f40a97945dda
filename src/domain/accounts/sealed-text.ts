import { fromBase64, toBase64, utf8 } from '../text/encoding.ts'

const ivLength = 12

/**
 * Derives the key that encrypts one stored response from the Worker's secret, the caller and the Idempotency-Key.
 * Whoever has the table, or the table and the secret, can decrypt nothing without the Idempotency-Key.
 */
export async function deriveResponseKey(secret: string, callerId: string, rawKey: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, ['deriveKey'])
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: utf8(`${callerId}\0${rawKey}`),
    info: utf8('idempotent answer'),
  }
  return crypto.subtle.deriveKey(derivation, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

/** Returns the initialisation vector and the AES-GCM ciphertext in base64, separated by a dot. */
export async function sealText(
  key: CryptoKey,
  randomBytes: (length: number) => Uint8Array,
  text: string,
): Promise<string> {
  const iv = new Uint8Array(randomBytes(ivLength))
  const secret = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, utf8(text)))
  return `${toBase64(iv)}.${toBase64(secret)}`
}

/** Returns null for a text that was sealed with another key. */
export async function openText(key: CryptoKey, text: string): Promise<string | null> {
  const [iv = '', secret = ''] = text.split('.')
  try {
    const bytes = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromBase64(iv) }, key, fromBase64(secret))
    return new TextDecoder().decode(bytes)
  } catch {
    return null
  }
}
