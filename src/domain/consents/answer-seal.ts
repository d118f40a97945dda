import { fromBase64, toBase64, utf8 } from '../text/encoding.ts'

const ivLength = 12

/**
 * The key that encrypts one stored answer. It is derived from the Worker's secret, the caller and the Idempotency-Key:
 * the table alone decrypts nothing, and with the secret the Idempotency-Key is still needed.
 */
export async function answerSeal(secret: string, callerId: string, rawKey: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, ['deriveKey'])
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: utf8(`${callerId}\0${rawKey}`),
    info: utf8('idempotent answer'),
  }
  return crypto.subtle.deriveKey(derivation, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

/** Initialisation vector and AES-GCM ciphertext, both base64, with a dot between them. */
export async function sealText(
  seal: CryptoKey,
  randomBytes: (length: number) => Uint8Array,
  text: string,
): Promise<string> {
  const iv = new Uint8Array(randomBytes(ivLength))
  const secret = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, seal, utf8(text)))
  return `${toBase64(iv)}.${toBase64(secret)}`
}

/** The text, or null when it was sealed with another key. */
export async function openText(seal: CryptoKey, text: string): Promise<string | null> {
  const [iv = '', secret = ''] = text.split('.')
  try {
    const bytes = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromBase64(iv) }, seal, fromBase64(secret))
    return new TextDecoder().decode(bytes)
  } catch {
    return null
  }
}
